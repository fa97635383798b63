"""Runs are started, watched and read, and data sets too, as arrays; examples and doctests work."""

import ast
import doctest
import importlib
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import numpy as np
from python_kit import RunKit

import actorq
from actorq.runs import EVALUATION

ROOT = os.environ["AQ_SOURCE_ROOT"]


def example(name, folder="examples/python"):
    """A module of that folder."""
    path = os.path.join(ROOT, folder, name + ".py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestRuns(RunKit):
    def test_a_run_is_watched_and_read(self):
        training = actorq.train("gym:CartPole-v1", run=self.home + "/watched", seed=2, actors=1,
                                limits__env_steps=1_000_000_000, evaluator__episodes=2,
                                evaluator__threshold=1e9)
        events = []
        for line in training:
            events.append(line["event"])
            if events.count("evaluation") == 1 and events[-1] == "evaluation":  # long enough
                self.command("set", training.folder, "limits.env_steps=1000")
        self.assertEqual(events[-1], "end")
        self.assertIn("evaluation", events)
        self.assertEqual(training.wait()["state"], "budget")
        run = training.run
        self.assertEqual((run.task, run.seed), ("gym:CartPole-v1", 2))
        self.assertEqual(run.config["limits"]["env_steps"], 1000)
        seen = run.evaluations()
        self.assertTrue((seen["return_mean"] > 0).all() and (np.diff(seen["env_steps"]) >= 0).all())
        self.assertEqual(seen["format"][0], "int8")
        names = tuple(name for name, _ in EVALUATION)  # the last two where both forms were played
        self.assertIn(seen.dtype.names, (names, names[:-2]))
        self.assertEqual(len(run.metrics(None)), len(events))
        self.assertIn("time/learner/training_s", run.metrics("end").dtype.names)

    def test_tables_of_none_have_their_columns(self):
        run = self.train("gym:CartPole-v1", no_evaluator=True, limits__env_steps=1000)
        for rows, name in ((run.evaluations(), "return_mean"), (run.metrics("gap"), "loss"),
                           (run.metrics("gap"), "replay/stored")):
            self.assertEqual(rows[name].shape, (0,))
        spec, folder = self.home + "/none.yaml", self.home + "/none"
        with open(spec, "w", encoding="ascii") as file:
            file.write("task: gym:CartPole-v1\ntrials: 1\nspace: {learner.n_step: [1, 3]}\n")
        subprocess.run([actorq.find_program(), "sweep", spec, "--folder", folder, "--found"],
                       check=True, capture_output=True)
        sweep = actorq.Sweep(folder)
        for rows, name in ((sweep.trials(), "learner.n_step"), (sweep.trials(), "score"),
                           (sweep.evaluations("all"), "seed")):
            self.assertEqual(rows[name].shape, (0,))
        if importlib.util.find_spec("pandas"):
            self.assertIn("return_mean", run.frame("evaluation"))
            self.assertIn("learner.n_step", sweep.frame())

    def test_metrics_are_data_frames(self):
        if not importlib.util.find_spec("pandas"):
            self.skipTest("pandas is not installed: there are no data frames")
        frame = self.train("gym:CartPole-v1", limits__env_steps=30_000).frame("evaluation")
        self.assertEqual(set(frame["event"]), {"evaluation"})
        self.assertGreater(frame["return_mean"].min(), 0)

    def test_it_is_stopped_in_order(self):
        with actorq.train("gym:Pendulum-v1", run=self.home + "/stopped") as training:
            for _ in training:
                break
            self.assertTrue(training.is_running)
            self.assertEqual(training.stop()["state"], "interrupted")

    def test_it_outlives_the_thread_that_started_it(self):
        begun = []

        def start():
            begun.append(actorq.train("gym:Pendulum-v1", run=self.home + "/threaded",
                                      evaluator__threshold=0, limits__env_steps=6000))
            next(iter(begun[0]))

        thread = threading.Thread(target=start)
        thread.start()
        thread.join()
        self.assertEqual(begun[0].wait()["state"], "budget")

    def test_a_run_that_is_over_keeps_its_end(self):
        with actorq.train("gym:CartPole-v1", run=self.home + "/over",
                          limits__env_steps=3000) as training:
            for line in training:
                if line["event"] == "end":
                    break
            result = training.stop()
        self.assertIn(result["state"], ("solved", "budget"))

    def test_runs_that_begin_at_once_have_folders_of_their_own(self):
        with mock.patch.object(subprocess, "Popen"):
            folders = [actorq.train("gym:CartPole-v1").folder for _ in range(3)]
        self.assertEqual(len(set(folders)), 3)

    def test_a_task_that_a_file_names_runs_in_this_python(self):
        with mock.patch.dict(os.environ), mock.patch.object(subprocess, "Popen"):
            for task, python in (("gym:CartPole-v1", None), (None, sys.executable)):
                os.environ.pop("ACTORQ_PYTHON", None)
                actorq.train(task, run=self.home + "/never", resume=True)
                self.assertEqual(os.environ.get("ACTORQ_PYTHON"), python)

    def test_every_setting_may_be_in_the_dict(self):
        with mock.patch.object(subprocess, "Popen") as started:
            actorq.train(settings={"task": "gym:CartPole-v1", "seed": 3, "learner.double_q": True})
        command = started.call_args[0][0]
        for word in ("--set=task=gym:CartPole-v1", "--set=seed=3", "--set=learner.double_q=true"):
            self.assertIn(word, command)

    def test_a_torn_end_of_an_earlier_life_hides_no_line_of_the_next(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/metrics.jsonl"
            with open(path, "wb") as file:
                file.write(b'{"loss": 1}\n{"los')
            with mock.patch.object(subprocess, "Popen") as started:
                started.return_value.poll.return_value = 0
                training = actorq.train(run=folder, resume=True)
            with open(path, "r+b") as file:
                file.truncate(len(b'{"loss": 1}\n'))
                file.seek(0, os.SEEK_END)
                file.write(b'{"loss": 2}\n')
            self.assertEqual(next(iter(training))["loss"], 2)

    def test_a_line_that_was_torn_is_left_out(self):
        folder = self.home + "/torn"
        os.mkdir(folder)
        with open(folder + "/run.json", "w", encoding="ascii") as file:
            file.write('{"task": "gym:CartPole-v1", "seed": 1}')
        with open(folder + "/metrics.jsonl", "wb") as file:
            file.write(b'{"event": "progress", "loss": 1}\n{"event": "prog\xc3\n\0\0\n'
                       b'{"event": "progress", "loss": 2}\n{"event": "en')
        self.assertEqual([line["loss"] for line in actorq.Run(folder).lines()], [1, 2])
        with mock.patch.object(subprocess, "Popen") as started:
            started.return_value.poll.return_value = 0
            started.return_value.wait.return_value = 0
            training = actorq.train(run=self.home + "/torn-later", resume=True)
            os.rename(folder, self.home + "/torn-later")
            lines = iter(training)
            self.assertEqual([next(lines)["loss"] for _ in range(2)], [1, 2])

    def test_what_a_run_went_back_from_is_no_part_of_it(self):
        folder = pathlib.Path(self.home) / "went-back"
        folder.mkdir()
        (folder / "run.json").write_text('{"task": "gym:CartPole-v1", "seed": 1}')
        # Killed at 5 s and resumed from 2.5 s, where a shard had kept its steps; killed at 7 s and
        # resumed from 6.2 s, where none had. The second line of 3.7 s read the clock before.
        (folder / "metrics.jsonl").write_text("".join(
            json.dumps({"event": event, "wall_s": wall_s, "env_steps": env_steps,
                        "return_mean": value, "episodes": 1}) + "\n"
            for event, wall_s, env_steps, value in (
                ("evaluation", 1, 100, 1), ("evaluation", 2, 200, 2), ("progress", 4, 400, None),
                ("evaluation", 5, 500, -1), ("progress", 3, 510, None),
                ("evaluation", 3.8, 580, 3), ("evaluation", 3.7, 580, 4),
                ("evaluation", 7, 700, -1), ("progress", 6.8, 620, None),
                ("evaluation", 7.5, 690, 5))))
        self.assertEqual(list(actorq.Run(folder).evaluations()["return_mean"]), [1, 2, 3, 4, 5])
        curves = example("run_curves", "bench")
        self.assertEqual(curves.binned_returns(folder, 350, 700), [(350, 1.5, 2), (700, 4, 3)])

    def test_what_is_wrong_is_said_in_words(self):
        for task, options, words in (("gym:CartPoole", {}, "did you mean"),
                                     ("gym:CartPole-v1", {"learner__lr": 1}, "learner_rate|lr"),
                                     ("gym:CartPole-v1", {"wings": 2}, "unknown option")):
            with self.assertRaisesRegex(actorq.TrainingError, words):
                actorq.train(task, run=self.home + "/never", **options).wait()
        with self.assertRaisesRegex(ValueError, "learner.hidden is given twice"):
            actorq.train("gym:CartPole-v1", settings={"learner.hidden": "16"}, learner__hidden="32")
        for options in ({"help": True}, {"version": True}, {"preset": "list"}):
            with self.assertRaises(ValueError):
                actorq.train("gym:CartPole-v1", **options)
        with self.assertRaisesRegex(FileNotFoundError, "no run folder"):
            actorq.Run(self.home)


class TestSweeps(RunKit):
    SPEC = """task: gym:CartPole-v1
trials: 3
method: random
prune: yes
space:
  learner.learning_rate: {log: [1e-3, 4e-3]}
  learner.hidden: [[16], [32, 32]]
seeds: {tune: 2, report: 1}
rungs: [1000, 4000]
settings: {evaluator.episodes: 2, evaluator.threshold: 1e9}
"""

    def test_what_was_tried_is_read(self):
        with open(self.home + "/spec.yaml", "w", encoding="ascii") as file:
            file.write(self.SPEC)
        folder = self.home + "/sweep"
        self.command("sweep", self.home + "/spec.yaml", "--folder", folder, "--workers", "1", "-q")
        sweep = actorq.Sweep(folder)
        self.assertEqual((sweep.task, sweep.facts["ended"]), ("gym:CartPole-v1", True))
        trials = sweep.trials()
        self.assertEqual(list(trials["trial"]), [0, 1, 2])
        self.assertTrue(((trials["learner.learning_rate"] >= 1e-3) & (trials["score"] > 0)).all())
        self.assertLessEqual(set(trials["learner.hidden"]), {"16", "32,32"})
        first = trials[trials["rung"].argmax()]
        self.assertEqual(sweep.best["learner.learning_rate"], first["learner.learning_rate"])
        runs = sweep.runs(first["trial"])
        self.assertEqual([run.seed for run in runs], [1, 2])
        self.assertEqual(runs[0].config["learner"]["learning_rate"],
                         first["learner.learning_rate"])
        curves = sweep.evaluations(first["trial"])  # a run so short may have none
        self.assertEqual(len(curves), sum(len(run.evaluations()) for run in runs))
        self.assertEqual(len(sweep.evaluations("all")), sum(
            len(sweep.evaluations(trial)) for trial in range(3)))
        report, = sweep.runs()
        self.assertEqual(report.seed, 1001)
        # Only what is told, or was the best, can be gone on with.
        whole = [run.checkpoints != [] for trial in range(3) for run in sweep.runs(trial)]
        self.assertEqual((sum(whole), report.checkpoints != []), (2, True))
        self.assertGreater(runs[0].policy().evaluate(2)["return_mean"], 0)
        with self.assertRaisesRegex(FileNotFoundError, "holds no sweep"):
            actorq.Sweep(self.home)


class TestData(RunKit):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.export(cls.train("gym:CartPole-v1"))

    def test_every_step_is_there_once(self):
        steps = actorq.DataSet(self.path)
        arrays = steps.arrays()
        self.assertEqual({len(values) for values in arrays.values()}, {len(steps)})
        self.assertEqual(arrays["obs"].shape, (len(steps), 4))
        self.assertEqual((arrays["terminated"] | arrays["truncated"]).sum(),
                         steps.facts["episodes"])
        going = ~(arrays["terminated"] | arrays["truncated"])[:-1]
        same = (arrays["next_obs"][:-1] == arrays["obs"][1:]).all(1)
        self.assertGreater((same & going).mean(), 0.5)  # lanes are one after another by pieces

    def test_of_no_steps_the_columns_are_there(self):
        steps = actorq.DataSet(self.path)
        steps.pieces = lambda: iter(())
        self.assertEqual({name: len(values) for name, values in steps.arrays().items()},
                         dict.fromkeys(actorq.DataSet(self.path).arrays(), 0))
        self.assertEqual(steps.arrays()["next_obs"].shape, (0, 4))

    def test_it_is_what_the_reader_in_python_says(self):
        spec = importlib.util.spec_from_file_location("read_aqds", ROOT + "/examples/read_aqds.py")
        reader = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(reader)
        stacks = self.export(self.train("gym:CartPole-v1?frame_stack=4", no_evaluator=True))
        for path in (self.path, stacks):
            count = 0
            for ours, theirs in zip(actorq.DataSet(path).pieces(), reader.read_aqds(path),
                                    strict=True):
                for name in ("obs", "action", "reward", "version", "episode", "overlap",
                             "truncated"):
                    np.testing.assert_array_equal(ours[name], theirs[name])
                count += 1
            self.assertEqual(count, actorq.DataSet(path).facts["pieces"])

    def test_the_reader_in_python_says_that_numpy_is_missing(self):
        done = subprocess.run([sys.executable, "-S", "-I", ROOT + "/examples/read_aqds.py", "x"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "read_aqds.py needs NumPy: apt install python3-numpy\n")

    def test_batches_are_drawn(self):
        batches = list(actorq.DataSet(self.path).batches(100, seed=1, epochs=2))
        self.assertEqual(len(batches), 2 * (len(actorq.DataSet(self.path)) // 100))
        self.assertEqual(batches[0]["obs"].shape, (100, 4))

    def test_a_damaged_one_is_named(self):
        path = self.path + ".bad"
        with open(self.path, "rb") as file:
            text = bytearray(file.read())
        text[len(text) // 2] ^= 1
        with open(path, "wb") as file:
            file.write(text)
        with self.assertRaisesRegex(actorq.Error, "steps.aqds.bad"):
            actorq.DataSet(path).arrays()
        with self.assertRaisesRegex(actorq.Error, "nothing.aqds"):
            actorq.DataSet("nothing.aqds")

    def test_pytorch_learns_from_it(self):
        if not importlib.util.find_spec("torch"):
            self.skipTest("PyTorch is not installed: its example is not run")
        one_policy = self.train("gym:CartPole-v1", no_evaluator=True, limits__env_steps=40_000,
                                quantizer__publish_period=1_000_000, **self.calm)
        self.assertGreater(example("imitate_torch").main(self.export(one_policy)), 0.6)


class TestExamples(unittest.TestCase):
    def setUp(self):
        home = tempfile.mkdtemp(prefix="actorq-python-")
        self.addCleanup(shutil.rmtree, home)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(home)

    def test_the_tutorial_says_what_is_so(self):
        found = doctest.testfile(ROOT + "/docs/python.md", module_relative=False,
                                 optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
        self.assertGreater(found.attempted, 30)
        self.assertEqual(found.failed, 0)

    def test_the_notebook_runs(self):
        with open(ROOT + "/examples/python/tour.ipynb", encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        names = {}
        for cell in cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)  # pylint: disable=exec-used
        self.assertGreater(len(names["returns"]), 1000)

    def test_ppo_with_numpy_learns(self):
        self.assertGreater(example("ppo_numpy").main("gym:CartPole-v1", 40_000, 1), 150)

    def test_doctests_hold(self):
        for name in ("actorq", "actorq._arrays", "actorq.envs", "actorq.gym_spaces", "actorq.runs",
                     "actorq.sweeps", "actorq.training"):
            found = doctest.testmod(importlib.import_module(name))
            self.assertEqual(found.failed, 0, name)

    def test_importing_it_does_not_import_numpy(self):
        code = "import sys, actorq; sys.exit('numpy' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], check=False).returncode, 0)

    def test_the_stubs_say_what_there_is_once(self):
        folder = os.path.dirname(actorq.__file__)
        inner = importlib.import_module("actorq._actorq")
        public = {name for name in dir(inner) if not name.startswith("_")}
        for module, path, names in (
                (actorq, "__init__.pyi", set(actorq.__all__) - {"__version__"}),
                (inner, "_actorq.pyi", public - {"version"})):
            with open(os.path.join(folder, path), encoding="utf-8") as file:
                stubs = [stub for stub in ast.parse(file.read()).body if hasattr(stub, "name")]
            self.assertEqual({stub.name for stub in stubs}, names)
            for stub in stubs:
                if isinstance(stub, ast.ClassDef):
                    real = vars(getattr(module, stub.name))
                    methods = {part.name for part in stub.body if isinstance(part, ast.FunctionDef)}
                    fields = {part.target.id for part in stub.body
                              if isinstance(part, ast.AnnAssign)}
                    self.assertEqual(methods - set(real), set(), stub.name)
                    own = {name for name in real if not name.startswith("_")}
                    self.assertEqual(own - methods - fields, set(), stub.name)

    def test_what_is_not_there_is_no_attribute(self):
        with self.assertRaisesRegex(AttributeError, "'nothing'"):
            _ = actorq.nothing
        self.assertIn("load", dir(actorq))


if __name__ == "__main__":
    unittest.main(verbosity=2)
