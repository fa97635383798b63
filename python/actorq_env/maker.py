"""From a task's name to environments: `module:name`, Gymnasium's ids included."""

import importlib
import importlib.util
import math

from actorq_env.protocol import Refusal
from actorq_env.spaces import space_of

STEP_LIMIT_MAX = 1 << 30


def attribute(module, path):
    """`module.a.b` of the path "a.b", or None."""
    found = module
    for name in path.split("."):
        found = getattr(found, name, None)
        if found is None:
            return None
    return found


def maker_of(task):
    """A function without arguments that makes the environment of that name."""
    module_name, colon, name = task.partition(":")
    if not (module_name and colon and name):
        raise Refusal("py: is followed by a module and what it is to make:"
                      " py:gymnasium:CartPole-v1, py:my_module:MyEnv")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name not in (module_name, module_name.partition(".")[0]):
            raise  # it is there, and lacks something itself
        raise Refusal(f"there is no Python module {module_name}"
                      " (PYTHONPATH and the folder that this started in are searched)") from None
    made = attribute(module, name)
    if callable(made):
        return made
    if made is None and callable(getattr(module, "make", None)):
        return lambda: module.make(name)
    if made is None and has_gymnasium():
        # The module has registered it when it was imported.
        return lambda: importlib.import_module("gymnasium").make(name)
    raise Refusal(f"module {module_name} has no class or function {name}")


def has_gymnasium():
    """Whether that package is installed; none of this needs it."""
    try:
        return importlib.util.find_spec("gymnasium") is not None
    except ValueError:
        return False


def check(env):
    """Refuses what is no environment before anybody steps it."""
    for name in ("observation_space", "action_space"):
        if getattr(env, name, None) is None:
            raise Refusal(f"{type(env).__name__} has no {name}")
    for name in ("reset", "step"):
        if not callable(getattr(env, name, None)):
            raise Refusal(f"{type(env).__name__} has no function {name}")


def draws(env):
    """Whether it has a `render` of its own: Gymnasium's class of all environments has one, too."""
    render = getattr(type(getattr(env, "unwrapped", env)), "render", None)
    return callable(render) and getattr(render, "__module__", "") != "gymnasium.core"


class Task:
    """What there is to know of a task before its first episode."""

    def __init__(self, name):
        self.make = maker_of(name)
        self.first = self.make()  # the first lane's environment, too
        check(self.first)
        self.observation = space_of(self.first.observation_space, "observation")
        self.action = space_of(self.first.action_space, "action")
        self.draws = draws(self.first)
        spec = getattr(self.first, "spec", None)
        self.step_limit = int(getattr(spec, "max_episode_steps", None) or 0)
        if not 0 <= self.step_limit <= STEP_LIMIT_MAX:
            self.step_limit = 0
        threshold = getattr(spec, "reward_threshold", None)
        self.reward_threshold = math.nan if threshold is None else float(threshold)
