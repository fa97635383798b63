"""Reads a data set of ActorQ (docs/data-sets.md) with nothing but NumPy.

    header, steps = None, 0
    for block in read_aqds("steps.aqds"):
        fresh = block["overlap"]            # rows before this one were in the block before
        use(block["obs"][fresh:-1], block["action"][fresh:], block["reward"][fresh:])
"""
import json
import struct
import sys

try:
    import numpy as np
except ImportError as missing:
    raise SystemExit("read_aqds.py needs NumPy: apt install python3-numpy") from missing


def form_of(space):
    """The type and the shape of a row."""
    if space["kind"] == "discrete":
        return "<i4", (len(space["counts"]),) if "counts" in space else ()
    return {"f32": "<f4", "u8": "u1"}[space["dtype"]], tuple(space["shape"])


def stacks_of(values, count, shape):
    """Values of a shape that are `count` frames each, of which one is new: interleaved pixel by
    pixel, or end to end where there are no pixels."""
    frames = values.reshape(-1, *shape[:-1], shape[-1] // count)
    rows = len(frames) - count + 1
    return np.concatenate([frames[i:i + rows] for i in range(count)], -1)


def read_aqds(path):
    """Yields a dict a block: whose it is, where it belongs, and its columns."""
    with open(path, "rb") as file:
        magic, version, size, _ = struct.unpack("<4sIII", file.read(16))
        if magic != b"AQDS" or version not in (1, 2):
            raise ValueError(f"{path}: not a data set of version 1 or 2")
        header = json.loads(file.read(size))
        kinds = {name: form_of(space) for name, space in header["schema"].items()}
        frames = header["schema"]["obs"].get("frames", 1)
        recorded = [(column["name"], column["per"] == "boundary",
                     {"f32": "<f4", "u8": "u1", "i32": "<i4", "u32": "<u4"}[column["dtype"]],
                     column["bytes"]) for column in header.get("columns", [])]
        count = 0
        while (mark := file.read(64))[:4] == b"AQBK" and len(mark) == 64:
            flags, actor, incarnation, episode, lane, first, length, overlap = struct.unpack(
                "<I3Q4I", mark[4:48])
            block = dict(header=header, actor=actor, incarnation=incarnation, lane=lane,
                         episode=episode, first=first, overlap=overlap,
                         terminated=bool(flags & 1), truncated=bool(flags & 2))
            for name, rows, kind, shape in (("obs", length + 1, *kinds["obs"]),
                                            ("action", length, *kinds["action"]),
                                            ("reward", length, "<f4", ()),
                                            ("version", length, "<u4", ()),
                                            *((name, length + boundary, kind,
                                               (size // np.dtype(kind).itemsize,))
                                              for name, boundary, kind, size in recorded)):
                parts = frames if name == "obs" else 1
                numbers = (rows + parts - 1) * (int(np.prod(shape)) // parts)
                values = np.frombuffer(file.read(numbers * np.dtype(kind).itemsize), kind)
                block[name] = (stacks_of(values, parts, shape) if parts > 1 else
                               values.reshape(rows, *shape))
            count += 1
            yield block
        if mark[:4] != b"AQED" or struct.unpack("<Q", mark[8:16])[0] != count:
            raise ValueError(f"{path}: the file is cut short or damaged")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("read_aqds.py FILE.aqds")
    total = {"blocks": 0, "transitions": 0, "episodes": 0, "reward": 0.0}
    for part in read_aqds(sys.argv[1]):
        total["blocks"] += 1
        total["transitions"] += len(part["reward"]) - part["overlap"]
        total["episodes"] += part["terminated"] or part["truncated"]
        total["reward"] += float(part["reward"][part["overlap"]:].sum())
    print(json.dumps(total))
