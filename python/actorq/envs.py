"""Environments, one or many together, with the interface of gymnasium.

Where gymnasium (1.0 or later) is installed, Env and VecEnv are its classes' subclasses; nothing
else changes.
"""
import operator
import os

import numpy as np

from actorq import _actorq, gym_spaces
from actorq.programs import choose_python

try:
    import gymnasium
    _EnvBase, _VecBase = gymnasium.Env, gymnasium.vector.VectorEnv
    _SAME_STEP = getattr(gymnasium.vector, "AutoresetMode", None)
    _SAME_STEP = _SAME_STEP.SAME_STEP if _SAME_STEP else "SameStep"
except ImportError:
    gymnasium = None
    _EnvBase = _VecBase = object
    _SAME_STEP = "SameStep"

_PICTURE = (400, 600, 3)


def _system_seed():
    return int.from_bytes(os.urandom(8), "little")


def _seed_of(seed):
    """NumPy's whole numbers are seeds, too."""
    try:
        return operator.index(seed)
    except TypeError:
        raise TypeError(f"a seed is one whole number, not {seed!r}; of several environments each "
                        "draws from a stream of its own") from None


def _draw(vec, lane):
    pixels = np.zeros(_PICTURE, np.uint8)
    vec.draw(lane, pixels)
    return pixels


def _put(vec, lane, values):
    return vec.put(lane, {name: np.ascontiguousarray(value, np.float64).reshape(-1)
                          for name, value in values.items()})


class Env(_EnvBase):
    """One environment. `make` opens it.

    The same seed and actions give the same bits as in an actor's environment 0.
    """
    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}
    reward_range = (-float("inf"), float("inf"))
    spec = None

    def __init__(self, task, render_mode=None):
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode is {render_mode!r}; 'rgb_array' and None are possible")
        choose_python(task)
        self._vec = _actorq.Vec(task, 1, _system_seed(), False)
        self._step = self._vec.step_one
        self._ended = None  # None: not reset yet
        self.facts = self._vec.facts
        self.task = self.facts["task"]
        self.render_mode = render_mode
        self.observation_space = gym_spaces.space_of(self.facts["observation"])
        self.action_space = gym_spaces.space_of(self.facts["action"])

    @property
    def unwrapped(self):
        """Itself: it wraps nothing."""
        return self

    def reset(self, *, seed=None, options=None):
        """Begins an episode: (observation, info)."""
        del options
        seed = None if seed is None else _seed_of(seed)
        if _EnvBase is not object:
            super().reset(seed=seed)
        observations = self._vec.reset(seed)
        self._ended = False
        return observations[0].copy(), {}

    def step(self, action):
        """(observation, reward, terminated, truncated, info)."""
        if self._ended is not False:
            raise RuntimeError("no episode is on: reset() begins one")
        try:
            observation, reward, terminated, truncated = self._step(action)
        except _actorq.Error:
            self._ended = None  # what it was in is lost
            raise
        self._ended = terminated or truncated
        return observation, reward, terminated, truncated, {}

    def put(self, **values):
        """Puts the environment into a state, under the names that recordings have for its numbers
        (docs/environment-checks.md), and returns what is seen of it.

        >>> env = make("gym:CartPole-v1")
        >>> _ = env.reset(seed=1)
        >>> env.put(state=[0, 0, 0.1, 0])
        array([0. , 0. , 0.1, 0. ], dtype=float32)
        """
        return _put(self._vec, 0, values)

    def render(self):
        """A picture of (400, 600, 3) bytes; None without render_mode="rgb_array"."""
        return _draw(self._vec, 0) if self.render_mode == "rgb_array" else None

    def close(self):
        """Releases it; it cannot be used any more."""
        self._vec.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __repr__(self):
        return f"<actorq.Env {self.task}>"


class VecEnv(_VecBase):
    """Environments of one task that are stepped together. `make_vec` opens them.

    Autoreset is gymnasium's SAME_STEP: where an episode ended, `observations` has the first row of
    the next one, and `infos` tell of the one that ended: "final_obs" what it ended with, and
    "final_info" its return and length, as {"episode": {"r": …, "l": …}}. Rows count where the mask
    "_final_obs" says so.
    """
    metadata = {"render_modes": ["rgb_array"], "autoreset_mode": _SAME_STEP}
    spec = None
    closed = False

    def __init__(self, task, num_envs=1, *, seed=None, copy=True):
        choose_python(task)
        self._vec = _actorq.Vec(task, num_envs, _system_seed() if seed is None else _seed_of(seed),
                                copy)
        self._step = self._vec.step
        self.facts = self._vec.facts
        self.task = self.facts["task"]
        self.num_envs = num_envs
        self.render_mode = "rgb_array"
        self.single_observation_space = gym_spaces.space_of(self.facts["observation"])
        self.single_action_space = gym_spaces.space_of(self.facts["action"])
        self.observation_space = gym_spaces.batch_of(self.single_observation_space, num_envs)
        self.action_space = gym_spaces.batch_of(self.single_action_space, num_envs)

    @property
    def unwrapped(self):
        """Itself: it wraps nothing."""
        return self

    def reset(self, *, seed=None, options=None):
        """Begins an episode in each: (observations, infos). Environment i draws from stream i of
        `seed`."""
        del options
        return self._vec.reset(None if seed is None else _seed_of(seed)), {}

    def step(self, actions):
        """(observations, rewards, terminations, truncations, infos)."""
        observations, rewards, terminated, truncated, finals, ended = self._step(actions)
        infos = self._ends(finals, terminated | truncated) if ended else {}
        return observations, rewards, terminated, truncated, infos

    def _ends(self, finals, mask):
        episode = {"r": self._vec.returns.copy(), "l": self._vec.lengths.copy(),
                   "_r": mask, "_l": mask}
        return {"final_obs": finals, "_final_obs": mask, "_final_info": mask,
                "final_info": {"episode": episode, "_episode": mask}}

    def put(self, index, **values):
        """As Env.put, of one of them."""
        return _put(self._vec, index, values)

    def render(self):
        """A picture of each."""
        return tuple(_draw(self._vec, i) for i in range(self.num_envs))

    def close(self, **unused):
        """Releases them; they cannot be used any more."""
        self.closed = True
        self._vec.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __repr__(self):
        return f"<actorq.VecEnv {self.num_envs} x {self.task}>"


def make(task, render_mode=None):
    """Opens one environment, by its name in `actorq envs`, options behind it included.

    >>> make("gym:Pendulum-v1?time_limit=100").step_limit
    Traceback (most recent call last):
    AttributeError: 'Env' object has no attribute 'step_limit'
    >>> make("gym:Pendulum-v1?time_limit=100").facts["step_limit"]
    100
    """
    return Env(task, render_mode)


def make_vec(task, num_envs=1, *, seed=None, copy=True):
    """Opens `num_envs` environments, up to 4096, that are stepped together.

    A step writes into arrays that were made for it. With copy=False it writes into the same arrays
    each time, and what it gave before is gone.

    >>> envs = make_vec("gym:CartPole-v1", 3)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations.shape
    (3, 4)
    >>> envs.step(np.ones(3, np.int64))[1]
    array([1., 1., 1.], dtype=float32)
    """
    return VecEnv(task, num_envs, seed=seed, copy=copy)
