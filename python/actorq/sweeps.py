"""Sweeps: what was tried, and what came of it."""
import json
import os
import subprocess

from actorq.programs import find_program
from actorq.runs import EVALUATION, Run, flat, frame_of, table


def _number(text):
    """What a setting's value is to Python.

    >>> _number("32"), _number("1e-3"), _number("64,64")
    (32, 0.001, '64,64')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Sweep:
    """The folder of `actorq sweep` (docs/sweeps.md), ended or not; what it says is read when it is
    asked for."""

    def __init__(self, folder):
        self.folder = os.fspath(folder)
        self.facts = self.inspect()

    def inspect(self):
        """What `actorq sweep status --json` tells about it now, as a dict: "ended", "winner",
        "reported", "trials" and so on."""
        done = subprocess.run([find_program(), "sweep", "status", self.folder, "--json"],
                              check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise FileNotFoundError(done.stderr.strip())
        self.facts = json.loads(done.stdout)
        return self.facts

    @property
    def task(self):
        """What is trained."""
        return self.facts["task"]

    @property
    def best(self):
        """The settings of the winner, or of the best so far, as `actorq.train` takes them; None
        before a trial has ended."""
        winner = self.inspect()["winner"]
        return winner and {name: _number(text) for name, text in winner["settings"].items()}

    def _rows(self):
        """The rows, and the columns of a table of none."""
        facts = self.inspect()
        rows = [flat({name: value for name, value in trial.items() if name != "settings"})
                | {name: _number(text) for name, text in trial["settings"].items()}
                for trial in facts["trials"]]
        return rows, [("trial", int), ("state", "U8"), ("rung", int), ("env_steps", int),
                      ("score", float), ("score_ci95", float), ("cost_s", float),
                      ("parent", float), *((name, float) for name in facts["space"])]

    def trials(self):
        """A row for each trial, as a structured array: "trial", "state", "rung", "env_steps",
        "score", "score_ci95", "cost_s", and its settings under their names."""
        return table(*self._rows())

    def frame(self):
        """The same as a DataFrame of pandas."""
        return frame_of(*self._rows())

    def runs(self, trial=None):
        """The runs of a trial as far as it came, one from each seed; without a number those of the
        report: the winner's settings, from seeds that no trial had."""
        facts = self.inspect()
        if trial is None and facts["reported"] is None:
            raise LookupError(f"{self.folder}: there is no report, or not yet")
        names = facts["reported" if trial is None else "trials"]
        names = names["runs"] if trial is None else names[trial]["runs"]
        return [Run(os.path.join(self.folder, name)) for name in names
                if os.path.exists(os.path.join(self.folder, name, "run.json"))]

    def evaluations(self, trial=None):
        """The curves of these runs, one after the other: as Run.evaluations, with "trial" and
        "seed" before. A trial's number, or "all" for every trial."""
        numbers = range(len(self.inspect()["trials"])) if trial == "all" else [trial]
        return table([{"trial": number, "seed": run.seed} | flat(line) for number in numbers
                      for run in self.runs(number) for line in run.lines("evaluation")],
                     [("trial", int), ("seed", int), *EVALUATION])

    def __repr__(self):
        return f"<actorq.Sweep {self.folder}: {self.task}, {self.facts['done']} trials done>"
