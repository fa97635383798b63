"""Run folders: what was trained, and how it went."""
import json
import os
import subprocess

import numpy as np

from actorq.programs import find_program


def flat(line, before=""):
    """The numbers, words and truths of a line of metrics.jsonl, with names as in metrics.csv.

    >>> flat({"loss": 0.5, "replay": {"stored": 7}, "findings": []})
    {'loss': 0.5, 'replay/stored': 7}
    """
    values = {}
    for name, value in line.items():
        if isinstance(value, dict):
            values.update(flat(value, f"{before}{name}/"))
        elif not isinstance(value, list):
            values[before + name] = value
    return values


def _column(values):
    """An array of them all; nan where there is none."""
    known = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in known):
        return np.array(["" if value is None else str(value) for value in values])
    if len(known) < len(values) or not known:
        return np.array([np.nan if value is None else value for value in values], np.float64)
    return np.array(values)


# An evaluation's columns, for a table of none: a short run on a busy machine may have none.
EVALUATION = [("event", "U10"), ("wall_s", float), ("env_steps", int), ("policy_version", int),
              ("format", "U16"), ("fell_back", bool), ("episodes", int), ("return_mean", float),
              ("return_std", float), ("return_min", float), ("return_max", float),
              ("cut_off", int), ("confirmed", bool), ("ranks_only", bool),
              ("return_fp32", float), ("return_fp32_std", float)]


def table(rows, columns):
    """Dicts as a structured array, a field for each name; of none, with these columns.

    >>> table([{"a": 1, "b": "x"}, {"a": 2.5}], [])["a"]
    array([1. , 2.5])
    >>> table([], [("a", float)])["a"]
    array([], dtype=float64)
    """
    if not rows:
        return np.zeros(0, columns)
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_column([row.get(name) for row in rows]) for name in names]
    array = np.zeros(len(rows), [(name, column.dtype) for name, column in zip(names, columns)])
    for name, column in zip(names, columns):
        array[name] = column
    return array


def frame_of(rows, columns):
    """The same as a DataFrame of pandas."""
    import pandas  # pylint: disable=import-outside-toplevel
    return pandas.DataFrame(rows or table(rows, columns))


def line_of(text):
    """A line of metrics.jsonl as a dict; None where it is none, as one that is not written to its
    end.

    >>> line_of(b'{"event": "progress"}\\n')
    {'event': 'progress'}
    >>> line_of(b'{"event": "prog\\n'), line_of(b'{"event": "progress"}')
    (None, None)
    """
    try:
        line = json.loads(text) if text.endswith(b"\n") else None
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


# Lines of one moment may have read the clock in turn; who went back to a checkpoint lost more.
ONE_MOMENT_S = 0.5


def standing(lines):
    """Without those that a run went back from: resumed from a checkpoint it says again what it did
    since. Its time has gone back then, its environment steps not where shards kept them. As
    cli/run/run_series.c and bench/run_curves.py.

    >>> standing([{"wall_s": 1, "env_steps": 10}, {"wall_s": 3, "env_steps": 30},
    ...           {"wall_s": 2, "env_steps": 40}])
    [{'wall_s': 1, 'env_steps': 10}, {'wall_s': 2, 'env_steps': 40}]
    """
    kept, wall_s, env_steps = [], 0, 0
    for line in lines:
        before_s = wall_s
        wall_s, env_steps = line.get("wall_s", wall_s), line.get("env_steps", env_steps)
        went_back = before_s - wall_s > ONE_MOMENT_S
        while kept and (kept[-1][1] > env_steps or (went_back and kept[-1][0] > wall_s)):
            kept.pop()
        kept.append((wall_s, env_steps, line))
    return [line for _, _, line in kept]


class Run:
    """A run folder, ended or not; what it says is read when it is asked for."""

    def __init__(self, folder):
        self.folder = os.fspath(folder)
        try:
            with open(os.path.join(self.folder, "run.json"), encoding="utf-8") as file:
                self.facts = json.load(file)
        except FileNotFoundError:
            raise FileNotFoundError(f"{self.folder} has no run.json: it is no run folder") from None
        self.task = self.facts["task"]
        self.seed = self.facts["seed"]
        self._config = None

    @property
    def config(self):
        """Every setting, as resolved: config["learner"]["learning_rate"]."""
        if self._config is None:
            self._config = self.inspect()["config"]
        return self._config

    def inspect(self):
        """What `actorq inspect` tells about it, as a dict."""
        done = subprocess.run([find_program(), "inspect", self.folder, "--json"], check=False,
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout)

    def lines(self, event=None):
        """The lines of metrics.jsonl as dicts, but those that a resumed run went back from; of one
        event, such as "progress", or of all."""
        path = os.path.join(self.folder, "metrics.jsonl")
        if not os.path.exists(path):
            return
        with open(path, "rb") as file:
            for line in standing(filter(None, map(line_of, file))):
                if event in (None, line.get("event")):
                    yield line

    def _columns(self, event):
        """What a table without rows has: for most events all that metrics.csv has."""
        if event == "evaluation":
            return EVALUATION
        path = os.path.join(self.folder, "metrics.csv")
        names = ["event", "wall_s", "env_steps"]
        if os.path.exists(path):  # unless it was not wanted: log.csv
            with open(path, encoding="utf-8") as file:
                names = file.readline().strip().split(",")
        return [(name, "U16" if name in ("event", "format", "state") else float) for name in names]

    def metrics(self, event="progress"):
        """The lines of an event (None: of all) as a structured array; docs/metrics.md explains
        the names: metrics()["loss"], metrics()["replay/stored"]."""
        return table([flat(line) for line in self.lines(event)], self._columns(event))

    def evaluations(self):
        """What versions were worth, in their order: evaluations()["return_mean"] over
        evaluations()["env_steps"]."""
        return self.metrics("evaluation")

    def frame(self, event="progress"):
        """As `metrics`, as a DataFrame of pandas."""
        return frame_of([flat(line) for line in self.lines(event)], self._columns(event))

    @property
    def checkpoints(self):
        """The paths of its checkpoints, the oldest first; `actorq.load` takes them."""
        folder = os.path.join(self.folder, "checkpoints")
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return [os.path.join(folder, name) for name in sorted(names) if name.endswith(".aqc")]

    def policy(self, precision=None):
        """Its best policy."""
        from actorq.policy import load  # pylint: disable=import-outside-toplevel
        return load(self.folder, precision)

    def __repr__(self):
        return f"<actorq.Run {self.folder}: {self.task}, seed {self.seed}>"
