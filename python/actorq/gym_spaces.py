"""What is seen and done: gymnasium's spaces where it is installed, else ones of the same shape."""
import numpy as np

try:
    from gymnasium.spaces import Box, Discrete, MultiDiscrete
except ImportError:
    class _Space:
        """What the three have in common. Equal ones have the same values."""

        def __init__(self, shape, dtype, seed=None):
            self.shape = tuple(shape)
            self.dtype = np.dtype(dtype)
            self._rng = None
            if seed is not None:
                self.seed(seed)

        def seed(self, seed=None):
            """From here on, samples follow from this number."""
            self._rng = np.random.default_rng(seed)
            return seed

        @property
        def np_random(self):
            """Where samples come from."""
            if self._rng is None:
                self.seed()
            return self._rng

        def _takes(self, value):
            value = np.asarray(value)
            return value.shape == self.shape and np.can_cast(value.dtype, self.dtype, "same_kind")

        def __contains__(self, value):
            return self.contains(value)

        def __eq__(self, other):
            return type(self) is type(other) and repr(self) == repr(other)

    class Box(_Space):
        """Numbers between bounds.

        >>> Box(-1, 1, (2,)).contains(np.zeros(2, np.float32))
        True
        """

        def __init__(self, low, high, shape=None, dtype=np.float32, seed=None):
            shape = np.shape(low) if shape is None else shape
            super().__init__(shape, dtype, seed)
            self.low = np.broadcast_to(np.asarray(low, dtype), shape).copy()
            self.high = np.broadcast_to(np.asarray(high, dtype), shape).copy()

        def contains(self, value):
            """Whether the value lies in it."""
            return self._takes(value) and bool(np.all(value >= self.low) and
                                               np.all(value <= self.high))

        def sample(self):
            """A value: uniform between bounds, exponential beside one, normal without."""
            low, high = self.low.astype(np.float64), self.high.astype(np.float64)
            below, above = np.isfinite(low), np.isfinite(high)
            rng = self.np_random
            value = rng.normal(size=self.shape)
            far = rng.exponential(size=self.shape)
            value = np.where(below & ~above, np.where(below, low, 0) + far, value)
            value = np.where(~below & above, np.where(above, high, 0) - far, value)
            both = below & above
            share = rng.random(self.shape)
            inner = np.where(both, low, 0) + share * (np.where(both, high, 1) -
                                                      np.where(both, low, 0))
            if self.dtype.kind in "iu":
                inner = np.floor(np.where(both, low, 0) + share *
                                 (np.where(both, high - low, 0) + 1))
            return np.where(both, inner, value).astype(self.dtype)

        def __repr__(self):
            return f"Box({self.low.min()}, {self.high.max()}, {self.shape}, {self.dtype})"

        def __eq__(self, other):
            return (super().__eq__(other) and np.array_equal(self.low, other.low) and
                    np.array_equal(self.high, other.high))

    class Discrete(_Space):
        """One of n choices, from 0 on.

        >>> 3 in Discrete(3)
        False
        """

        def __init__(self, n, seed=None, start=0):
            super().__init__((), np.int64, seed)
            self.n = int(n)
            self.start = int(start)

        def contains(self, value):
            """Whether the value is one of them."""
            value = np.asarray(value)
            return value.dtype.kind in "iu" and value.shape == () and \
                self.start <= int(value) < self.start + self.n

        def sample(self):
            """One of them."""
            return np.int64(self.start + self.np_random.integers(self.n))

        def __repr__(self):
            return f"Discrete({self.n})"

    class MultiDiscrete(_Space):
        """A row of choices."""

        def __init__(self, nvec, dtype=np.int64, seed=None):
            self.nvec = np.asarray(nvec, np.int64)
            super().__init__(self.nvec.shape, dtype, seed)

        def contains(self, value):
            """Whether the value is such a row."""
            return self._takes(value) and bool(np.all(np.asarray(value) >= 0) and
                                               np.all(np.asarray(value) < self.nvec))

        def sample(self):
            """Such a row."""
            return self.np_random.integers(self.nvec, dtype=self.dtype)

        def __repr__(self):
            return f"MultiDiscrete({self.nvec})"


def _bounds(values, shape):
    values = np.asarray(values, np.float32)
    return np.full(shape, values[0]) if values.size == 1 else values.reshape(shape)


def space_of(facts):
    """From what the library says.

    >>> space_of({"kind": "discrete", "n": 2}).n
    2
    """
    if facts["kind"] == "discrete":
        return MultiDiscrete(facts["nvec"]) if "nvec" in facts else Discrete(facts["n"])
    shape, dtype = facts["shape"], np.dtype(facts["dtype"])
    return Box(_bounds(facts["low"], shape).astype(dtype),
               _bounds(facts["high"], shape).astype(dtype), shape, dtype.type)


def batch_of(space, count):
    """The space of `count` values side by side, as gymnasium.vector makes it."""
    if isinstance(space, Discrete):
        return MultiDiscrete(np.full(count, space.n, np.int64))
    if isinstance(space, MultiDiscrete):
        return MultiDiscrete(np.tile(space.nvec, (count, 1)))
    repeats = (count,) + (1,) * space.low.ndim
    return Box(np.tile(space.low, repeats), np.tile(space.high, repeats),
               (count, *space.shape), space.dtype.type)
