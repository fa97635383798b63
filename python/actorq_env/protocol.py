"""What both sides agree on: the same numbers as envs/python/python_protocol.h.

Messages go over a socket that keeps their bounds, in the machine's own byte order. Everything that
a step needs lies in memory that both see: columns with one row a slot.
"""

import struct

MAGIC = 0x50515141
VERSION = 2

# File descriptors that the worker is started with.
CHANNEL, LIFELINE, MEMORY = 3, 4, 5

OK, REFUSED, NO_NUMPY = 0, 1, 2

BOX, DISCRETE = 1, 2
F32, U8 = 1, 2
RANK_MAX, BOUNDS_MAX = 4, 128

SPACE = struct.Struct(f"=III{RANK_MAX}III{BOUNDS_MAX}f{BOUNDS_MAX}f")
HELLO_HEAD = struct.Struct("=IIHHId")  # magic, version, status, draws, step limit, threshold
TEXT_MAX = 2048  # of a failure, the final zero included

# Slots in all, then the offset of each column.
COLUMNS = ("lanes", "works", "seeds", "actions", "ends", "readies", "rewards", "observations",
           "first_observations", "failures", "picture")
LAYOUT = struct.Struct(f"=IIQ{len(COLUMNS)}Q")

WORK = struct.Struct("=II")  # the first slot and how many; none: the end
DONE = struct.Struct("=I")

# Rows and columns of the picture; no rows: it is text, terminated. Then its bytes.
PICTURE = struct.Struct("=II")
PICTURE_MAX = 8 << 20

NOTHING, RESET, CLOSE, DRAW, STEP, STEP_ON = 0, 1, 2, 3, 4, 5
GOES_ON, TERMINATED, TRUNCATED, FAILED = 0, 1, 2, 3


class Refusal(Exception):
    """Something that can't be, in words for a person: no traceback is needed."""
