"""Runs started and watched from Python: `actorq train` does the work, in processes of its own."""
import concurrent.futures
import contextlib
import itertools
import json
import os
import signal
import subprocess
import tempfile
import threading
import time

from actorq.programs import choose_python, find_program
from actorq.runs import Run, line_of

_LOOK_S = 0.1  # between two looks at the metrics
_LAST_LINES_BYTES = 1 << 16
_STARTED = itertools.count(1)  # runs in new folders: several may begin within a second


class TrainingError(RuntimeError):
    """Why a run could not be started, or failed, in the words of `actorq train`."""


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return str(value)


def arguments_of(options, settings=()):
    """The options of `actorq train` for those of `train`.

    >>> arguments_of({"seed": 3, "no_evaluator": True, "learner__learning_rate": 1e-3})
    ['--seed=3', '--no-evaluator', '--set=learner.learning_rate=0.001']
    >>> arguments_of({"no_evaluator": False, "learner.double_q": False, "seed": 3}, ["seed"])
    ['--set=learner.double_q=false', '--set=seed=3']
    """
    arguments = []
    for name, value in options.items():
        if value is None:
            continue
        if "__" in name or "." in name or name in settings:
            arguments.append(f"--set={name.replace('__', '.')}={_text(value)}")
        elif value is True:
            arguments.append(f"--{name.replace('_', '-')}")
        elif value is not False:
            arguments.append(f"--{name.replace('_', '-')}={_text(value)}")
    return arguments


def _joined(options, settings):
    """Both; what is given twice has no value that could be meant.

    >>> _joined({"learner__hidden": "32"}, {"learner.hidden": "16"})
    Traceback (most recent call last):
    ValueError: learner.hidden is given twice
    """
    names = [name.replace("__", ".") for name in (*options, *settings)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is given twice")
    return {**options, **settings}


def _start(command, **options):
    """A process that ends with this one, whatever becomes of the thread that asks for it: to the
    system its parent is the thread that started it, so it has one of its own."""
    started = concurrent.futures.Future()

    def attend():
        try:
            process = subprocess.Popen(command, **options)
        except OSError as error:
            started.set_exception(error)
        else:
            started.set_result(process)
            process.wait()

    threading.Thread(target=attend, daemon=True).start()
    return started.result()


def _whole_lines(path):
    """How far they go; a line that a killed learner tore is cut off by the next."""
    if not os.path.exists(path):
        return 0
    with open(path, "rb") as file:
        return sum(len(line) for line in file if line.endswith(b"\n"))


class Training:
    """A run that was started. Iterating over it gives the lines of its metrics as they come, as
    dicts, until it ends; `wait` gives the result. Leaving a `with` stops it."""

    def __init__(self, folder, arguments):
        self.folder = folder
        self._metrics = os.path.join(folder, "metrics.jsonl")
        # a run that is gone on with has lines of its earlier lives
        self._begins = _whole_lines(self._metrics)
        self._said = None  # once it has ended: what it printed, and what was wrong
        self._files = [tempfile.TemporaryFile() for _ in range(2)]
        command = [find_program(), "train", *arguments, "--run", folder, "--quiet", "--json",
                   "--parent", str(os.getpid())]
        # In a group of its own a terminal's Ctrl-C ends it once, by `stop`, and in order.
        self._process = _start(command, stdin=subprocess.DEVNULL, stdout=self._files[0],
                               stderr=self._files[1], process_group=0)

    @property
    def run(self):
        """Its run folder; once the run has begun."""
        return Run(self.folder)

    @property
    def is_running(self):
        """Whether it goes on."""
        return self._process.poll() is None

    def __iter__(self):
        place, goes_on = self._begins, True
        while goes_on:
            goes_on = self.is_running  # what was written before it ended is read after that
            if os.path.exists(self._metrics):
                with open(self._metrics, "rb") as file:
                    file.seek(place)
                    for text in file:
                        if not text.endswith(b"\n"):
                            break
                        place += len(text)
                        line = line_of(text)
                        if line is not None:
                            yield line
            if goes_on:
                time.sleep(_LOOK_S)
        self.wait()

    def wait(self, timeout=None):
        """What `actorq train --json` says in the end, as a dict. TrainingError: it failed."""
        status = self._process.wait(timeout)
        if self._said is None:
            self._said = []
            for file in self._files:
                with file:
                    file.seek(0)
                    self._said.append(file.read().decode().strip())
        result, problem = self._said
        if status != 0 or not result:
            raise TrainingError(problem or f"actorq train ended with {status}")
        return json.loads(result)

    def _has_ended(self):
        """Whether the learner has said its last word; its result may still be played."""
        if not os.path.exists(self._metrics):
            return False
        with open(self._metrics, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(self._begins, size - _LAST_LINES_BYTES))
            whole, newline, _ = file.read().rpartition(b"\n")
        last = line_of(whole.rpartition(b"\n")[2] + newline)
        return last is not None and last.get("event") == "end"

    def stop(self):
        """Ends the run in order, if it goes on, and gives its result."""
        if self.is_running and not self._has_ended():
            self._process.send_signal(signal.SIGINT)
        return self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        with contextlib.suppress(TrainingError):
            self.stop()

    def __repr__(self):
        return f"<actorq.Training {self.folder}: {'running' if self.is_running else 'ended'}>"


def train(task=None, *, run=None, settings=None, **options):
    """Starts `actorq train` and comes back at once, with a Training.

    Options are those of `actorq train --help` for one run, with underscores: `seed=3`, `actors=4`,
    `no_evaluator=True`. Settings are those of `--print-config`, as `learner__learning_rate=1e-3`,
    or in a dict: `settings={"learner.learning_rate": 1e-3}`. `run` is the run folder; by default a
    new one below ./runs.
    """
    for name in ("seeds", "grid", "jobs", "print_config", "help", "version"):
        if options.get(name):
            raise ValueError(f"train starts one run, and {name} is for several or for none: "
                             "call it once for each run")
    if options.get("preset") == "list":
        raise ValueError("preset='list' starts no run: `actorq train --preset list` shows them")
    if run is None:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        name = "".join(c if c.isalnum() or c in "-." else "-" for c in (task or "run").lower())
        run = os.path.join("runs", f"{name}-{stamp}-{os.getpid()}-{next(_STARTED)}")
    choose_python(task)
    settings = settings or {}
    arguments = ([task] if task else []) + arguments_of(_joined(options, settings), settings)
    return Training(os.fspath(run), arguments)
