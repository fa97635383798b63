"""Data sets: recorded experience (docs/data-sets.md) as arrays."""
import numpy as np

from actorq import _actorq, gym_spaces

_NUMBERS = {1: np.float32, 2: np.uint8, 3: np.int32, 4: np.uint32}


class DataSet:
    """A data set, as `actorq replay export` writes it and `actorq train --offline` takes it.

    Every check sum is looked at while it is read.
    """

    def __init__(self, path):
        self.path = path
        self.facts = _actorq.Data(path).facts
        self.task = self.facts["task"]
        self.observation_space = gym_spaces.space_of(self.facts["observation"])
        self.action_space = gym_spaces.space_of(self.facts["action"])

    def __len__(self):
        return self.facts["steps"]

    def __repr__(self):
        return f"<actorq.DataSet {self.task}: {len(self)} steps>"

    def _columns(self):
        """The name, the rows beyond the length of a piece, the type and a row's shape of each."""
        spaces = {"obs": self.observation_space, "action": self.action_space}
        for row in self.facts["columns"]:
            dtype = np.dtype(_NUMBERS[row["number"]])
            count = row["row_bytes"] // dtype.itemsize
            yield row["name"], row["boundary"], dtype, (
                spaces[row["name"]].shape if row["name"] in spaces else (count,) * (count > 1))

    def pieces(self):
        """Parts of episodes, each a dict: "episode", "lane", "first" and so on, and the columns as
        arrays. "obs" has a row more than the others, what the last step led to. The first
        "overlap" steps are in the piece before, too."""
        data = _actorq.Data(self.path)
        columns = list(self._columns())
        while (piece := data.next()) is not None:
            for name, boundary, dtype, shape in columns:
                rows = piece["length"] + boundary
                piece[name] = np.frombuffer(piece[name], dtype).reshape(rows, *shape)
            yield piece

    def arrays(self):
        """All steps, each once: a dict of arrays "obs", "action", "reward", "next_obs",
        "terminated", "truncated", "version", and what was recorded besides."""
        columns = list(self._columns())
        parts = {name: [np.zeros((0, *shape), dtype)] for name, _, dtype, shape in columns}
        parts |= {"next_obs": parts["obs"][:]}
        parts |= {end: [np.zeros(0, bool)] for end in ("terminated", "truncated")}
        for piece in self.pieces():
            length, skipped = piece["length"], piece["overlap"]
            rows = {"next_obs": piece["obs"][1:]}
            for end in ("terminated", "truncated"):
                rows[end] = np.zeros(length, bool)
                rows[end][-1] = piece[end]
            rows |= {name: piece[name][:length] for name, *_ in columns}
            for name, values in rows.items():
                parts[name].append(values[skipped:])
        return {name: np.concatenate(values) for name, values in parts.items()}

    def batches(self, size, *, seed=None, epochs=1):
        """Batches of `size` steps in an order by chance, as dicts of arrays."""
        steps = self.arrays()
        rng = np.random.default_rng(seed)
        for _ in range(epochs):
            order = rng.permutation(len(self))
            for start in range(0, len(order) - size + 1, size):
                chosen = order[start:start + size]
                yield {name: values[chosen] for name, values in steps.items()}
