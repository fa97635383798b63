"""Environments in Python for ActorQ: the process that steps them, started by ActorQ itself.

Nothing here is meant to be imported by an environment. A task `py:my_module:MyEnv` needs only a
class (or function) that gives an object as Gymnasium describes it:

    observation_space, action_space     Box or Discrete, or anything with their attributes
    reset(seed=..., options=...)        -> observation, info
    step(action)                        -> observation, reward, terminated, truncated, info
"""
