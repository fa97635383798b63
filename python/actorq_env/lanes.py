"""The environments of all lanes, and their rows in the memory that ActorQ sees.

A round of work is a range of slots: each names a lane and what to do there. Everything is read and
written by column, so that the cost of a step is the environment's own and little else.
"""

import mmap
import os
import traceback

import numpy as np

from actorq_env import pictures
from actorq_env.maker import check
from actorq_env.protocol import (BOX, CLOSE, COLUMNS, DISCRETE, DRAW, FAILED, GOES_ON, LAYOUT,
                                 MAGIC, NOTHING, RESET, STEP, STEP_ON, TERMINATED, TEXT_MAX,
                                 TRUNCATED, Refusal)
from actorq_env.spaces import space_of

OWN_FOLDER = os.path.dirname(os.path.abspath(__file__))


def failure_text(error):
    """An exception with its traceback, without the rows of this package."""
    if isinstance(error, Refusal):
        return str(error)
    told = traceback.TracebackException.from_exception(error)
    told.stack = traceback.StackSummary.from_list(
        [row for row in told.stack
         if os.path.dirname(os.path.abspath(row.filename)) != OWN_FOLDER])
    return "".join(told.format()).rstrip()


def clipped(text, size=TEXT_MAX - 1):
    """The bytes of a text; of a long one the beginning and, longer, the end."""
    data = text.encode("utf-8", "replace").replace(b"\0", b"?")
    if len(data) <= size:
        return data
    head = size // 4
    mark = b"\n...\n"
    tail = data[len(data) - (size - head - len(mark)):]
    return (data[:head] + mark + tail).decode("utf-8", "ignore").encode()


def let_go(env):
    """Gives an environment the chance to end well; it may be in no state to do so."""
    try:
        close = getattr(env, "close", None)
        if close is not None:
            close()
    except Exception:  # pylint: disable=broad-except
        pass  # nobody waits for it, and what failed before is told


class Lanes:
    """All that a round of work touches."""

    def __init__(self, task, layout, memory):
        magic, slots, size, *offsets = LAYOUT.unpack(layout)
        if magic != MAGIC:
            raise Refusal("the layout of the shared memory is not one")
        self.task = task
        self.map = mmap.mmap(memory, size)
        self.envs = [None] * slots
        self.spare = task.first
        at = dict(zip(COLUMNS, offsets))

        def column(name, dtype, shape=()):
            count = slots * int(np.prod(shape, dtype=np.int64))
            return np.frombuffer(self.map, dtype, count, at[name]).reshape((slots,) + shape)

        self.picture_at = at["picture"]
        self.lanes = column("lanes", np.uint32)
        self.works = column("works", np.uint8)
        self.seeds = column("seeds", np.uint64)
        self.ends = column("ends", np.uint8)
        self.readies = column("readies", np.uint8)
        self.rewards = column("rewards", np.float32)
        self.failures = column("failures", np.uint8, (TEXT_MAX,))
        own = task.action
        self.actions = column("actions", own.dtype, own.shape)
        # Of observations that can be written as they are, without a look at what they are.
        seen = task.observation
        self.plain_shape = \
            seen.native_shape if seen.kind == BOX and seen.flatten is None else None
        self.observations = column("observations", seen.dtype, seen.shape)
        self.first_observations = column("first_observations", seen.dtype, seen.shape)

    def actions_of(self, first, last):
        """The actions of these slots as the environments expect them."""
        space = self.task.action
        rows = self.actions[first:last]
        if space.kind == DISCRETE and not space.shape:
            return rows.tolist() if space.start == 0 else (rows + space.start).tolist()
        rows = rows.reshape((last - first,) + space.native_shape)
        # A copy: an environment may keep or change what it was handed.
        if space.kind == BOX:
            return np.clip(rows.astype(space.native), *space.held)
        return (rows + space.start).astype(space.native)

    def write_observation(self, rows, slot, value):
        """An observation into its row; Refusal when it is not one of the space."""
        space = self.task.observation
        if space.kind == DISCRETE:
            number = int(value) - space.start
            if not 0 <= number < space.choices:
                raise Refusal(f"observation {value} is outside of its space")
            rows[slot] = number
            return
        if space.flatten is not None:
            rows[slot] = space.flatten(value)
            return
        if getattr(value, "shape", None) != space.native_shape:
            value = np.asarray(value)
            if value.shape != space.native_shape:
                raise Refusal(f"an observation of shape {value.shape}; the space says"
                              f" {space.native_shape}")
        if space.native == np.uint8 and value.dtype != np.uint8:
            raise Refusal(f"an observation of {value.dtype}; the space says uint8")
        rows[slot] = value

    def made(self):
        """Another environment; its spaces are those of the first."""
        if self.spare is not None:
            env, self.spare = self.spare, None
            return env
        env = self.task.make()
        try:
            check(env)
            for name in ("observation", "action"):
                space = space_of(getattr(env, name + "_space"), name)
                if space.packed() != getattr(self.task, name).packed():
                    raise Refusal(f"another {name} space than that of the first environment")
        except Exception:
            let_go(env)
            raise
        return env

    def reset(self, lane, seed, rows, slot):
        """Begins an episode; the first observation goes into that row."""
        env = self.envs[lane]
        if env is None:
            env = self.envs[lane] = self.made()
        result = env.reset(seed=seed)
        if not isinstance(result, tuple) or len(result) != 2:
            raise Refusal("reset gives no pair of an observation and an info, as Gymnasium's does")
        self.write_observation(rows, slot, result[0])

    def discard(self, lane):
        """An environment that failed is in no known state: the next episode has a new one."""
        env, self.envs[lane] = self.envs[lane], None
        let_go(env)

    def fail(self, lane, slot, error):
        """Says why, and gives the environment up."""
        data = clipped(failure_text(error))
        row = self.failures[slot]
        row[:len(data)] = np.frombuffer(data, np.uint8)
        row[len(data)] = 0
        self.discard(lane)

    def other(self, work, lane, slot):
        """What is not a step: the end that it counts as."""
        if work == NOTHING:
            return GOES_ON
        if work == CLOSE:
            self.discard(lane)
            return GOES_ON
        if work == DRAW:
            data = pictures.packed(self.envs[lane])
            self.map[self.picture_at:self.picture_at + len(data)] = data
            return GOES_ON
        if work != RESET:
            raise Refusal(f"unknown work {work}")
        self.reset(lane, int(self.seeds[slot]), self.observations, slot)
        return GOES_ON

    def begin_next(self, lane, slot):
        """The next episode of a lane whose last has ended, unless it fails: then it is tried again
        when it is asked for, and that is told."""
        try:
            self.reset(lane, int(self.seeds[slot]), self.first_observations, slot)
            self.readies[slot] = 1
        except Exception:  # pylint: disable=broad-except
            self.discard(lane)

    def work(self, first, count):
        """One round."""
        last = first + count
        ends, rewards = [], []
        envs, observations = self.envs, self.observations
        plain, native, array = self.plain_shape, self.task.observation.native, np.ndarray
        self.readies[first:last] = 0
        todo = zip(range(first, last), self.lanes[first:last].tolist(),
                   self.works[first:last].tolist(), self.actions_of(first, last))
        for slot, lane, work, action in todo:
            end, reward = FAILED, 0.0
            try:
                if work < STEP:
                    end = self.other(work, lane, slot)
                else:
                    result = envs[lane].step(action)
                    if len(result) != 5:
                        raise Refusal(f"step gives {len(result)} values; Gymnasium's five are"
                                      " observation, reward, terminated, truncated, info")
                    value = result[0]
                    if type(value) is array and value.shape == plain and value.dtype == native:
                        observations[slot] = value
                    else:
                        self.write_observation(observations, slot, value)
                    reward = float(result[1])
                    end = TERMINATED if result[2] else TRUNCATED if result[3] else GOES_ON
                    if end != GOES_ON and work == STEP_ON:
                        self.begin_next(lane, slot)
            except Exception as error:  # pylint: disable=broad-except
                end = FAILED
                self.fail(lane, slot, error)
            ends.append(end)
            rewards.append(reward)
        self.ends[first:last] = ends
        self.rewards[first:last] = rewards

    def close(self):
        """Gives all environments the chance to end well."""
        for env in (self.spare, *self.envs):
            let_go(env)
