"""ActorQ's policies, environments, runs, sweeps and data sets in Python.

>>> import actorq
>>> env = actorq.make("gym:CartPole-v1")
>>> observation, info = env.reset(seed=1)
>>> observation.shape, env.action_space.n
((4,), 2)

A policy acts with the engine that actors run, to the last bit; environments are those that actors
step. NumPy is needed, and only imported when the first array is made; gymnasium is used where it is
installed. See docs/python.md.
"""
from actorq._actorq import Error, allow_code, tasks
from actorq._actorq import version as __version__

# Imported when they are asked for, since NumPy takes longer than the rest together.
_PLACES = {
    "policy": ("Policy", "load"),
    "envs": ("Env", "VecEnv", "make", "make_vec"),
    "programs": ("find_program",),
    "runs": ("Run",),
    "sweeps": ("Sweep",),
    "data": ("DataSet",),
    "training": ("Training", "TrainingError", "train"),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}

__all__ = ["Error", "allow_code", "tasks", "__version__", *_PLACE_OF]


def __getattr__(name):
    if name not in _PLACE_OF:
        raise AttributeError(f"module 'actorq' has no attribute '{name}'")
    import importlib  # pylint: disable=import-outside-toplevel
    value = getattr(importlib.import_module(f"actorq.{_PLACE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *_PLACE_OF])
