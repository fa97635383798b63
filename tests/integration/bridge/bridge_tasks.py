"""Environments after Gymnasium's interface, good ones and bad ones, for the tests of the bridge.

CartPole is the one whose speed is measured: Gymnasium's rules, arithmetic and kinds of values.
"""

import math
import os
import signal
import sys
import time

import numpy as np


class Box:
    """What the bridge reads of gymnasium.spaces.Box."""

    def __init__(self, low, high, shape, dtype=np.float32):
        self.low = np.full(shape, low, dtype) if np.isscalar(low) else np.asarray(low, dtype)
        self.high = np.full(shape, high, dtype) if np.isscalar(high) else np.asarray(high, dtype)
        self.shape = shape
        self.dtype = np.dtype(dtype)


class Discrete:
    """What the bridge reads of gymnasium.spaces.Discrete."""

    def __init__(self, n, start=0):
        self.n = np.int64(n)
        self.start = np.int64(start)
        self.shape = ()
        self.dtype = np.dtype(np.int64)


class MultiDiscrete:
    """What the bridge reads of gymnasium.spaces.MultiDiscrete."""

    def __init__(self, nvec, start=0):
        self.nvec = np.asarray(nvec, np.int64)
        self.start = np.broadcast_to(np.int64(start), self.nvec.shape)
        self.shape = self.nvec.shape
        self.dtype = np.dtype(np.int64)


class Several:
    """What the bridge reads of gymnasium.spaces.Dict and Tuple."""

    def __init__(self, spaces):
        self.spaces = spaces


class OneOf(Several):
    """What the bridge reads of gymnasium.spaces.OneOf: a value is one of the parts."""


class MultiBinary:
    """What the bridge reads of gymnasium.spaces.MultiBinary."""

    def __init__(self, n):
        self.n = n
        self.shape = (n,) if isinstance(n, int) else tuple(n)
        self.dtype = np.dtype(np.int8)


class Spec:
    """What gymnasium.make leaves on what it made."""

    max_episode_steps = 500
    reward_threshold = 475.0


class CartPole:
    """Gymnasium's CartPole-v1: a pole on a cart, pushed left or right."""

    def __init__(self):
        self.gravity, self.masscart, self.masspole = 9.8, 1.0, 0.1
        self.total_mass = self.masspole + self.masscart
        self.length = 0.5
        self.polemass_length = self.masspole * self.length
        self.force_mag, self.tau = 10.0, 0.02
        self.theta_threshold = 12 * 2 * math.pi / 360
        self.x_threshold = 2.4
        high = np.array([self.x_threshold * 2, np.inf, self.theta_threshold * 2, np.inf])
        self.observation_space = Box(-high, high, (4,))
        self.action_space = Discrete(2)
        self.spec = Spec()
        self.random = None
        self.state = None
        self.steps = 0

    def reset(self, *, seed=None, options=None):
        """Near the middle, at rest or nearly so."""
        if seed is not None or self.random is None:
            self.random = np.random.Generator(np.random.PCG64(seed))
        self.state = self.random.uniform(low=-0.05, high=0.05, size=(4,))
        self.steps = 0
        return np.array(self.state, dtype=np.float32), {}

    def step(self, action):
        """One Euler step."""
        assert action in (0, 1), f"{action!r} invalid"
        x, x_dot, theta, theta_dot = self.state
        force = self.force_mag if action == 1 else -self.force_mag
        cosine, sine = np.cos(theta), np.sin(theta)
        temp = (force + self.polemass_length * np.square(theta_dot) * sine) / self.total_mass
        theta_acc = (self.gravity * sine - cosine * temp) / (
            self.length * (4.0 / 3.0 - self.masspole * np.square(cosine) / self.total_mass))
        x_acc = temp - self.polemass_length * theta_acc * cosine / self.total_mass
        x += self.tau * x_dot
        x_dot += self.tau * x_acc
        theta += self.tau * theta_dot
        theta_dot += self.tau * theta_acc
        self.state = np.array((x, x_dot, theta, theta_dot), dtype=np.float64)
        terminated = bool(x < -self.x_threshold or x > self.x_threshold or
                          theta < -self.theta_threshold or theta > self.theta_threshold)
        self.steps += 1
        return (np.array(self.state, dtype=np.float32), 1.0, terminated,
                self.steps >= self.spec.max_episode_steps, {})


def rate_of_cart_pole(seconds=1.0):
    """Steps a second of processor time of CartPole alone, as a user's own loop would take them."""
    env = CartPole()
    random = np.random.Generator(np.random.PCG64(1))
    env.reset(seed=1)
    steps, start = 0, time.process_time()
    while True:
        for action in random.integers(0, 2, 1000).tolist():
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        steps += 1000
        elapsed = time.process_time() - start
        if elapsed >= seconds:
            return steps / elapsed


class Counter:
    """Counts: the observation is (steps of the episode, the seed's last digits, the action). It
    ends itself by its rules after `length` steps. Subclasses do one thing wrong."""

    length = 5

    def __init__(self):
        self.observation_space = Box(-np.inf, np.inf, (3,), np.float64)
        self.action_space = Discrete(3, start=1)
        self.steps = self.digits = 0

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        self.digits = seed % 1000
        return np.array([0, self.digits, 0], np.float64), {}

    def step(self, action):
        self.steps += 1
        return (np.array([self.steps, self.digits, action], np.float64), 0.5 * self.steps,
                self.steps >= self.length, False, {})


class Truncating(Counter):
    """Cut by a limit of its own."""

    def step(self, action):
        observation, reward, ended, _, info = super().step(action)
        return observation, reward, False, ended, info


class Raising(Counter):
    """Raises in its third step."""

    def step(self, action):
        if self.steps == 2:
            raise ValueError("the gears are jammed")
        return super().step(action)


class RaisingDeep(Counter):
    """Raises far below its step, in calls that a traceback shows one by one."""

    def step(self, action):
        return self.left(10)

    def left(self, more):
        return self.right(more - 1)

    def right(self, more):
        if more <= 0:
            raise ValueError("the gears are jammed")
        return self.left(more - 1)


class RaisingInReset(Counter):
    """Begins one episode and no other."""

    begun = False

    def reset(self, *, seed=None, options=None):
        if RaisingInReset.begun:
            raise RuntimeError("no second chance")
        RaisingInReset.begun = True
        return super().reset(seed=seed)


class RaisingInInit:
    """Cannot even be made."""

    def __init__(self):
        raise LookupError("the model file is missing")


class Telling:
    """Tells what its process was given of the run's secret."""

    def __init__(self):
        raise LookupError(f"the token is {os.environ.get('ACTORQ_TOKEN')}")


class Dying(Counter):
    """Ends its process in its third step."""

    def step(self, action):
        if self.steps == 2:
            os._exit(3)
        return super().step(action)


class DyingWithHeirs(Counter):
    """Likewise, with processes of its own that live longer, for no longer than they must. Nobody
    waits for what they print."""

    def step(self, action):
        if self.steps == 2:
            os.system("sleep 20 >/dev/null 2>&1 &")
            if os.fork() == 0:
                os.close(1)
                os.close(2)
                time.sleep(20)
            os._exit(3)
        return super().step(action)


class DyingEarly:
    """Ends its process when it is made."""

    def __init__(self):
        os._exit(4)


class Hanging(Counter):
    """Never comes back from its third step, and listens to nothing but SIGKILL."""

    def step(self, action):
        if self.steps == 2:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(1)
        return super().step(action)


class WrongShape(Counter):
    """One number too many, in its second step."""

    def step(self, action):
        result = super().step(action)
        return result if self.steps < 2 else (np.zeros(4), *result[1:])


class Scalar(Counter):
    """A number where there should be three: NumPy would spread it over the row."""

    def step(self, action):
        return (1.0, *super().step(action)[1:])


class NaNs(Counter):
    """An observation that is not a number, in its second step and in all that follow, whatever is
    reset."""

    is_broken = False

    def step(self, action):
        observation, *rest = super().step(action)
        self.is_broken = self.is_broken or self.steps == 2
        if self.is_broken:
            observation[1] = np.nan
        return (observation, *rest)


class NaNReward(Counter):
    """Likewise, the reward."""

    is_broken = False

    def step(self, action):
        observation, reward, *rest = super().step(action)
        self.is_broken = self.is_broken or self.steps == 2
        return (observation, np.nan if self.is_broken else reward, *rest)


class FourTuple(Counter):
    """As Gym was before Gymnasium."""

    def step(self, action):
        observation, reward, terminated, _, info = super().step(action)
        return observation, reward, terminated, info


class OldReset(Counter):
    """Likewise: no info."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0]


class Flags(Counter):
    """More choices at once than there is room for."""

    def __init__(self):
        super().__init__()
        self.observation_space = MultiBinary(129)


class NoSpaces:
    """Not an environment at all."""


class Chatty(Counter):
    """Prints, which must not reach the output of the program."""

    def step(self, action):
        print("a step was taken")
        sys.stdout.flush()
        return super().step(action)


class Painted(Counter):
    """Draws itself: black at first, and a quarter more of it white with each step."""

    def render(self):
        picture = np.zeros((4, 3), np.uint8)
        picture[:self.steps] = 255
        return picture.reshape(2, 2, 3)


class Written(Counter):
    """Draws itself as Gymnasium's tasks of text do, if it is asked for that."""

    metadata = {"render_modes": ["human", "ansi"]}
    render_mode = None

    def render(self):
        return f"step\n  {self.steps}\n" if self.render_mode == "ansi" else None


class Smudged(Counter):
    """Its second picture is none."""

    def render(self):
        return "fine" if self.steps == 0 else 1 / 0


class Picture:
    """Bytes, a discrete number of the step in the corner, and actions of two floats."""

    def __init__(self):
        self.observation_space = Box(0, 255, (6, 5, 2), np.uint8)
        self.action_space = Box([-1.0, -2.0], [1.0, 2.0], (2,), np.float64)
        self.steps = 0

    def reset(self, *, seed=None, options=None):
        self.steps = 0
        return np.zeros((6, 5, 2), np.uint8), {}

    def step(self, action):
        assert action.dtype == np.float64 and action.shape == (2,)
        self.steps += 1
        picture = np.zeros((6, 5, 2), np.uint8)
        picture[0, 0, 0] = self.steps
        picture[5, 4, 1] = 255
        return picture, np.float32(action[1]), np.bool_(self.steps == 3), np.bool_(False), {}


class Narrow(Counter):
    """Bounds that float32 has no number for, and more different ones than are told apart; an action
    is worth 1 if all of it lies within."""

    def __init__(self):
        super().__init__()
        high = np.linspace(0.3, 0.9, 200)
        self.action_space = Box(-high, high, (200,), np.float64)

    def step(self, action):
        observation, _, *rest = super().step(action[0])
        return (observation, float((np.abs(action) <= self.action_space.high).all()), *rest)


class Wide(Counter):
    """As many choices as no message has room for."""

    def __init__(self):
        super().__init__()
        self.action_space = Discrete(2**40)


class Parts(Counter):
    """Counter's numbers as parts: a dict with a pair in it."""

    def __init__(self):
        super().__init__()
        self.observation_space = Several({
            "count": Box(0, np.inf, (2,)), "did": Several((Discrete(4), Box(0, 1, ())))})

    def reset(self, *, seed=None, options=None):
        return self.apart(super().reset(seed=seed)[0]), {}

    def step(self, action):
        observation, *rest = super().step(action)
        return (self.apart(observation), *rest)

    def apart(self, observation):
        return {"did": (int(observation[2]), 0.5), "count": observation[:2]}


class Locks:
    """Two dials to be set as shown: 1 for each that is, and 1 for both; sixteen times."""

    def __init__(self):
        self.observation_space = Several({
            "dials": Several((Discrete(3), Discrete(2))), "left": Box(0, 1, ())})
        self.action_space = MultiDiscrete([3, 2], start=[1, 0])
        self.random = np.random.default_rng(0)
        self.steps, self.shown = 0, (0, 0)

    def look(self):
        self.shown = tuple(int(number) for number in self.random.integers([3, 2]))
        return {"dials": self.shown, "left": np.float32(1 - self.steps / 16)}

    def reset(self, *, seed=None, options=None):
        self.random = np.random.default_rng(seed)
        self.steps = 0
        return self.look(), {}

    def step(self, action):
        assert action.dtype == np.int64 and action.shape == (2,)
        right = [int(action[0]) - 1 == self.shown[0], int(action[1]) == self.shown[1]]
        self.steps += 1
        return self.look(), sum(right) + all(right), self.steps == 16, False, {}


class Switches(Locks):
    """Four switches in a square to be set as shown, 1 for each that is."""

    def __init__(self):
        super().__init__()
        self.observation_space = Box(0, 1, (2, 2))
        self.action_space = MultiBinary((2, 2))

    def look(self):
        self.shown = self.random.integers(2, size=(2, 2))
        return self.shown.astype(np.float32)

    def step(self, action):
        assert action.dtype == np.int8 and action.shape == (2, 2)
        right = int((action == self.shown).sum())
        self.steps += 1
        return self.look(), right, self.steps == 16, False, {}


class Atari:
    """What Gymnasium's Atari shows and takes, without the games: a picture of 210 x 160 in colour,
    each byte of which tells its place, the step and the action, and 18 actions, of which the first
    is right."""

    shape, actions = (210, 160, 3), 18

    def __init__(self):
        self.observation_space = Box(0, 255, self.shape, np.uint8)
        self.action_space = Discrete(self.actions)
        self.places = np.arange(math.prod(self.shape)).astype(np.uint8).reshape(self.shape)
        self.picture = self.places
        self.steps = 0

    def reset(self, *, seed=None, options=None):
        self.picture = self.places
        self.steps = 0
        return self.picture, {}

    def step(self, action):
        self.steps += 1
        self.picture = self.places + np.uint8(20 * self.steps + action)
        return self.picture, float(action == 0), False, self.steps == 100, {}

    def render(self):
        return self.picture


class GreyAtari(Atari):
    """The same as wrappers leave it: 84 x 84 in grey, and the actions of one game."""

    shape, actions = (84, 84, 1), 6

    def render(self):
        return np.repeat(self.picture, 3, axis=2)


class Cell:
    """A discrete observation that does not begin with 0."""

    def __init__(self):
        self.observation_space = Discrete(10, start=5)
        self.action_space = Discrete(2)
        self.cell = 5

    def reset(self, *, seed=None, options=None):
        self.cell = 5
        return self.cell, {}

    def step(self, action):
        self.cell += action
        return np.int64(self.cell), 1, self.cell >= 14, False, {}


def make(name):
    """As gymnasium.make."""
    if name != "CartPole-v1":
        raise LookupError(f"no environment {name}")
    return CartPole()


if __name__ == "__main__":
    print(rate_of_cart_pole())
