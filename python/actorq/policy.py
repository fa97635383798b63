"""Policies that act."""
import operator
import os

import numpy as np

from actorq import _actorq, gym_spaces
from actorq.programs import choose_python

_EVAL_SEED_MAX = 2**53 - 1  # of `actorq eval`, which JSON keeps whole


class Policy(_actorq.Policy):
    """A policy, from a policy file, a run folder or a checkpoint.

    `act` gives the greedy actions for an observation or for rows of them; `predict` is that in the
    manner of Stable-Baselines3. A policy that keeps a state from step to step (a gru) is handed it:
    by `predict`, or by `act_from`. One thread at a time; `copy()` makes another for another thread.
    """
    _key = None     # of what predict draws, and how often it has drawn
    _number = 0

    @property
    def observation_space(self):
        """A Box or Discrete: gymnasium's own where it is installed."""
        return gym_spaces.space_of(self.facts["observation"])

    @property
    def action_space(self):
        """Likewise, or a MultiDiscrete."""
        return gym_spaces.space_of(self.facts["action"])

    @property
    def task(self):
        """The task that it was trained for."""
        return self.facts["task"]

    def seed(self, seed):
        """From here on, what `predict` draws follows from this number, 0 to 2^64 - 1."""
        key = int(seed)
        if not 0 <= key < 2**64:
            raise OverflowError(f"{key} is not from 0 to {2**64 - 1}")
        self._key = key
        self._number = 0

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        """(actions, state), as Stable-Baselines3's models do.

        A policy that is a distribution (`facts["draws"]`) is drawn from unless `deterministic`.
        Others are greedy in any case: their exploring is the actors' own.

        A policy that keeps a state (`facts["state_count"]`) goes on from `state`, a row for each
        observation, and gives back what to hand to the next call. None is the state of episodes
        that begin, and so is that of the rows where `episode_start` is true.
        """
        facts = self.facts
        if facts["state_count"]:
            state = self._begin(facts, observation, state, episode_start)
        if deterministic or not facts["draws"]:
            if facts["state_count"]:
                return self.act_from(observation, state)
            return self.act(observation), state
        if self._key is None:
            self.seed(int.from_bytes(os.urandom(8), "little"))
        draw = (self._key, self._number)
        self._number += 1
        if facts["state_count"]:
            (actions, _), state = self.draw_from(observation, *draw, state)
        else:
            actions, _ = self.draw(observation, *draw)
        return actions, state

    @staticmethod
    def _begin(facts, observation, state, episode_start):
        """What the rows go on from."""
        rows = np.shape(observation)[:np.ndim(observation) - len(facts["observation"]["shape"])]
        if state is None:
            return np.zeros((*rows, facts["state_count"]), np.float32)
        if episode_start is None:
            return state
        return np.where(np.reshape(episode_start, (*rows, 1)), np.float32(0), state)

    def evaluate(self, episodes=100, seed=0):
        """Plays greedy episodes of its task, as `actorq eval` does: a dict with "return_mean",
        "return_std" and so on. The same seed, 0 to 2^53 - 1 as there, plays the same episodes for
        every policy. Of a task that is code (a plug-in, a Python class), `allow_code` has to be
        called before."""
        seed = operator.index(seed)
        if not 0 <= seed <= _EVAL_SEED_MAX:
            raise OverflowError(f"{seed} is not from 0 to {_EVAL_SEED_MAX}")
        choose_python(self.task)
        return super().evaluate(episodes, seed)

    def __repr__(self):
        facts = self.facts
        return (f"<actorq.Policy {facts['task']} version {facts['version']}, {facts['precision']}, "
                f"{facts['network']}>")


def load(path, precision=None):
    """The policy of a policy file (policy.aq), of a run folder (its best one), or of a checkpoint
    (.aqc; what was trained then, in fp32, or with learner.qat_bits in the run's format).

    `precision` is a weight format such as "int8" or "fp32"; None: as it is stored.
    """
    return Policy(path, precision)
