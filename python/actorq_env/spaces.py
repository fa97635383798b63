"""From Gymnasium's spaces to ActorQ's, by their attributes, so that no package is needed."""

import numpy as np

from actorq_env.protocol import (BOUNDS_MAX, BOX, DISCRETE, F32, RANK_MAX, SPACE, U8, Refusal)

CHOICES_MAX = 2**31 - 1  # whatever more of them is refused by who reads the message


class Space:
    """One space as ActorQ sees it, and what its values are on this side."""

    def __init__(self, kind, native, shape=(), choices=0, start=0, bounds=None, flatten=None,
                 held=None):
        self.kind = kind
        self.native = native          # the environment's own type of an element
        self.native_shape = shape
        # A box of no dimension is a row of one; several choices are a row, of whatever shape.
        self.shape = shape or (1,) if kind == BOX else (int(np.prod(shape)),) if shape else ()
        self.choices = choices
        self.start = start
        self.low, self.high = bounds if bounds else (np.zeros(0), np.zeros(0))
        self.flatten = flatten        # makes a row of a value that is several
        self.held = held              # own bounds of a box, in its type: others are rounded
        self.dtype = np.dtype(np.int32) if kind == DISCRETE else \
            np.dtype(np.uint8) if native == np.uint8 else np.dtype(np.float32)

    def counts(self):
        """Of a space of choices, of how many each is one."""
        return self.high.astype(np.int64) + 1 if self.shape else np.array([self.choices])

    def packed(self):
        """The message that describes it."""
        shape = list(self.shape)
        low = list(self.low) + [0.0] * (BOUNDS_MAX - len(self.low))
        high = list(self.high) + [0.0] * (BOUNDS_MAX - len(self.high))
        return SPACE.pack(self.kind, U8 if self.dtype == np.uint8 else F32, len(shape),
                          *(shape + [0] * (RANK_MAX - len(shape))), self.choices, len(self.low),
                          *low, *high)


def few(low, high):
    """One bound for all, or one each: as few as say the same."""
    if (low == low[0]).all() and (high == high[0]).all():
        return low[:1], high[:1]
    if low.size > BOUNDS_MAX:
        return low.min(keepdims=True), high.max(keepdims=True)
    return low, high


def bounds_of(space, shape, what):
    """Of each element."""
    with np.errstate(all="ignore"):
        low, high = (np.broadcast_to(np.asarray(bound), shape).astype(np.float32).ravel()
                     for bound in (space.low, space.high))
    if np.isnan(low).any() or np.isnan(high).any():
        raise Refusal(f"{what} space: a bound is not a number")
    return low, high


def box_of(space, what):
    """A box of floats or of bytes."""
    native = np.dtype(space.dtype)
    shape = tuple(int(size) for size in space.shape)
    if len(shape) > RANK_MAX:
        raise Refusal(f"{what} space has {len(shape)} dimensions; up to {RANK_MAX} are possible")
    if native.kind != "f" and not (native == np.uint8 and what == "observation"):
        raise Refusal(f"{what} space is a box of {native}; float32 and float64"
                      + (", and uint8 of pictures," if what == "observation" else "")
                      + " are possible")
    if 0 in shape:
        raise Refusal(f"{what} space is empty: its shape is {shape}")
    held = [np.broadcast_to(np.asarray(bound, native), shape) for bound in (space.low, space.high)]
    return Space(BOX, native, shape, bounds=few(*bounds_of(space, shape, what)), held=held)


def row_of(space, counts, what):
    """Several choices at once: a MultiDiscrete, or a MultiBinary."""
    counts = np.asarray(counts, np.int64)
    if not 1 <= counts.size <= BOUNDS_MAX or (counts < 1).any():
        raise Refusal(f"{what} space is a {type(space).__name__} of {counts.size}; several choices"
                      f" at once are 1 to {BOUNDS_MAX}, each of one or more")
    start = np.broadcast_to(np.asarray(getattr(space, "start", 0), np.int64), counts.shape)
    return Space(DISCRETE, np.dtype(space.dtype), counts.shape, start=start,
                 bounds=(np.zeros(counts.size), counts.ravel() - 1.0))


def is_several(space):
    """Whether it is a Dict or a Tuple. A OneOf has parts as well, of which a value is one."""
    return hasattr(space, "spaces") and \
        all(kind.__name__ != "OneOf" for kind in type(space).__mro__)


def leaves_of(space, path):
    """Where it is in a value, and the part, for each part of a Dict or Tuple, in its order."""
    if not is_several(space):
        yield path, space
        return
    parts = space.spaces
    for key, part in parts.items() if hasattr(parts, "items") else enumerate(parts):
        yield from leaves_of(part, path + (key,))


def one_of_many(part, found, name):
    """Zeros, and for each choice a 1."""
    counts = found.counts()
    numbers = (part.astype(np.int64) - found.start).ravel()
    if (numbers < 0).any() or (numbers >= counts).any():
        raise Refusal(f"{name} is {part}, outside of its space")
    row = np.zeros(counts.sum(), np.float32)
    row[counts.cumsum() - counts + numbers] = 1
    return row


def flat_of(space, what):
    """One row of floats of what has parts: numbers as they are, a choice as one of so many."""
    lows, highs, readers = [], [], []
    for path, part in leaves_of(space, ()):
        name = f"{what} '{'/'.join(map(str, path))}'" if path else what
        found = leaf_of(part, name)
        low, high = bounds_of(part, found.native_shape, what) if found.kind == BOX else \
            (np.full(found.counts().sum(), bound, np.float32) for bound in (0, 1))
        lows.append(low)
        highs.append(high)
        readers.append((path, name, found))
    if not lows:
        raise Refusal(f"{what} space has no parts")
    low, high = np.concatenate(lows), np.concatenate(highs)

    def flatten(value):
        row = []
        for path, name, found in readers:
            part = value
            for key in path:
                part = part[key]
            part = np.asarray(part)
            if part.shape != found.native_shape:
                raise Refusal(f"{name} of shape {part.shape}; the space says {found.native_shape}")
            row.append(part.ravel() if found.kind == BOX else one_of_many(part, found, name))
        return np.concatenate(row)

    return Space(BOX, np.dtype(np.float32), (low.size,), bounds=few(low, high), flatten=flatten)


def leaf_of(space, what):
    """The Space of one of Gymnasium's without parts, or of what looks like one."""
    if hasattr(space, "low") and hasattr(space, "high") and hasattr(space, "dtype"):
        return box_of(space, what)
    count = getattr(space, "n", None)
    if hasattr(space, "nvec"):
        return row_of(space, space.nvec, what)
    if count is not None and getattr(space, "shape", None):
        return row_of(space, np.full(space.shape, 2), what)
    if isinstance(count, (int, np.integer)):
        if not 1 <= count <= CHOICES_MAX:
            raise Refusal(f"{what} space has {count} choices; 1 to {CHOICES_MAX} are possible")
        return Space(DISCRETE, np.dtype(np.int64), choices=int(count),
                     start=int(getattr(space, "start", 0)))
    raise Refusal(f"{what} space is a {type(space).__name__}; Box, Discrete, MultiDiscrete and"
                  " MultiBinary are possible, and as an observation Dict and Tuple of them")


def space_of(space, what):
    """The Space of the actions or the observations; observations are numbers or one choice."""
    if what == "action":
        return leaf_of(space, what)
    found = None if is_several(space) else leaf_of(space, what)
    return flat_of(space, what) if found is None or found.kind == DISCRETE and found.shape else \
        found
