#!/usr/bin/env python3
"""A sweep of a real task: it ends, says what it found, goes on, and refuses what is wrong.

    test_sweeps.py ACTORQ SOURCE_ROOT
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import time

from newcomer import ACTORQ, Newcomer, main, wait

SPEC = """\
task: gym:CartPole-v1
trials: 3
method: random
space:
  learner.learning_rate: {log: [1e-3, 4e-3]}
  learner.n_step: [1, 3]
seeds: {tune: 2, report: 2}
rungs: [2000, 4000]
round: 3
"""
DIVERGING = """\
task: gym:Pendulum-v1?obs_scale=1e6
trials: 1
settings: {learner.algorithm: td3, learner.learning_rate: 1, learner.gradient_clip: 0,
           learner.hidden: "64,64,64,64", replay.min_size: 200}
space: {learner.n_step: [1, 2]}
method: random
rungs: [50000]
"""


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class TestSweeps(Newcomer):
    def write(self, text):
        with open("spec.yaml", "w", encoding="ascii") as file:
            file.write(text)

    def test_a_sweep_ends_and_says_what_it_found(self):
        self.write(SPEC)
        said = self.works("actorq sweep spec.yaml --folder all --workers 1 -q")
        self.assertIn("3 of 3 trials done", said)
        self.assertIn("\n  reported   return ", said)
        status = json.loads(self.works("actorq sweep status all --json"))
        self.assertEqual((status["done"], status["running"], status["ended"]), (3, 0, True))
        for trial in status["trials"]:
            self.assertEqual(trial["state"], "done")
            self.assertEqual(trial["seeds"], [1, 2])
            self.assertGreater(trial["cost_s"], 0)
            self.assertTrue(1e-3 <= float(trial["settings"]["learner.learning_rate"]) <= 4e-3)
        self.assertEqual(status["reported"]["seeds"], 2)
        with open("all/trials.csv", encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["kind"] for row in rows],
                         ["tune"] * 3 + ["tune", "winner", "given"])
        with open("all/report.html", encoding="utf-8") as file:
            page = file.read()
        for figure in ("best", "curves", "front", "importance", "coordinates"):
            self.assertIn(f'<figure id="{figure}">', page)
            self.assertTrue(os.path.exists(f"all/{figure}.svg"))
        # What has ended goes on to the same end.
        again = json.loads(self.works("actorq sweep --folder all --resume -q --json"))
        self.assertEqual(again["trials"], status["trials"])
        self.works("actorq sweep work all")

    def test_workers_elsewhere_do_the_runs(self):
        self.write(SPEC.replace("trials: 3", "trials: 1").replace("[2000, 4000]", "[1000]"))
        self.assertEqual(self.works("actorq sweep spec.yaml --folder all --found"), "all\n")
        said = self.works("actorq sweep status all")
        self.assertIn("0 of 1 trials done", said)
        self.works("actorq sweep work all -q")
        self.assertIn("1 of 1 trials done", self.works("actorq sweep status all --watch"))

    def test_a_training_that_is_killed_is_given_back(self):
        self.write(SPEC.replace("[2000, 4000]", "[100000000]"))
        self.works("actorq sweep spec.yaml --folder all --found")
        with subprocess.Popen([ACTORQ, "sweep", "work", "all", "-q"]) as worker:
            children = f"/proc/{worker.pid}/task/{worker.pid}/children"
            wait("a training", lambda: text_of(children))
            os.kill(int(text_of(children)), signal.SIGKILL)
            wait("its release", lambda: '"event": "release"' in text_of("all/journal.jsonl"))
            worker.terminate()

    def test_a_worker_that_is_killed_is_started_again_once_that_works(self):
        build = os.path.dirname(os.path.dirname(ACTORQ))
        os.mkdir("cli")
        shutil.copy(ACTORQ, "cli/actorq")
        for room in ("actor", "configs", "learner", "replay"):
            os.symlink(f"{build}/{room}", room)
        self.write(SPEC.replace("[2000, 4000]", "[100000000]"))
        with subprocess.Popen(["cli/actorq", "sweep", "spec.yaml", "--folder", "all", "--workers",
                               "1", "-q"]) as sweep:
            children = f"/proc/{sweep.pid}/task/{sweep.pid}/children"
            wait("a run", lambda: os.path.exists("all/journal.jsonl") and
                 '"attempt": 1' in text_of("all/journal.jsonl"))
            os.chmod("cli/actorq", 0o644)
            os.kill(int(text_of(children)), signal.SIGKILL)
            wait("its end", lambda: not text_of(children))
            time.sleep(1)  # within which it is tried
            self.assertIsNone(sweep.poll())
            os.chmod("cli/actorq", 0o755)
            wait("it again", lambda: '"attempt": 2' in text_of("all/journal.jsonl"))
            sweep.terminate()

    def test_a_sweep_that_comes_to_nothing_says_why(self):
        self.write(DIVERGING)
        self.refused("actorq sweep spec.yaml --folder all --workers 1 -q",
                     "no trial came to its end; the first, trial-0-rung-0-seed-1: ", "diverged",
                     "all/journal.jsonl")

    def test_what_is_wrong_is_refused(self):
        self.write(SPEC.replace("n_step", "n_stp"))
        self.refused("actorq sweep spec.yaml --folder x", "spec.yaml:6: learner.n_stp: no such")
        self.assertFalse(os.path.exists("x"))
        self.refused("actorq sweep status x", "x holds no sweep")
        self.refused("actorq sweep --folder x --resume", "x holds no sweep")
        self.refused("actorq sweep", "which SPEC.yaml?")
        self.write(SPEC)
        for _ in range(2):
            self.works("actorq sweep spec.yaml --folder x --found")
        self.refused("actorq sweep spec.yaml --folder x", "--resume goes on with it")
        self.write(SPEC + "seed: 3\n")
        for how in ("--resume", "--found"):
            self.refused(f"actorq sweep spec.yaml --folder x {how}", "is of another SPEC.yaml")

    def test_a_grid_is_trained_at_once(self):
        said = self.works("actorq train gym:CartPole-v1 --run all --seeds 2 --jobs 2 -q "
                          "--grid learner.learning_rate=1e-3,3e-4 "
                          "--set limits.env_steps=15000 --set evaluator.threshold=1e9")
        self.assertEqual(said.count("0 of 2 solved"), 2)
        self.works(said.split("\nTry next:\n")[1].split("\n")[1].strip())
        self.assertIn("2 runs", self.works("actorq plot all/*/seed-? -o all.svg"))
        self.refused("actorq train gym:CartPole-v1 --grid learner.n_step=1,300", "out of bounds")
        self.works("actorq train gym:CartPole-v1 --grid learner.algorithm=ppo,a2c --print-config "
                   "--set learner.torso=gru")  # with which the task's own algorithm does nothing
        self.refused("actorq train gym:CartPole-v1 --run x --grid learner.algorithm=dqn,td3",
                     "td3 needs continuous actions")
        self.assertFalse(os.path.exists("x"))


if __name__ == "__main__":
    main()
