#!/usr/bin/env python3
"""Several seeds are trained by one command, summed up, and listed.

    test_seeds.py ACTORQ SOURCE_ROOT
"""

import json
import os
import signal

from newcomer import DIVERGING, SECONDS_MAX, SHORT, Newcomer, main, training, wait
from daemons import below, has_ended

SEEDS = ("gym:CartPole-v1", "--run", "all", "--seeds")


class TestSeeds(Newcomer):
    def test_seeds_are_trained_and_summed_up(self):
        said = self.works(f"actorq train gym:CartPole-v1 --run all --seeds 2 --jobs 2 -q {SHORT}")
        self.assertIn("\nseed 2 ", "\n" + said)
        self.assertIn("\n0 of 2 solved; return ", said)
        self.assertIn("  ended at its limit after ", said)
        self.works(said.split("\nTry next:\n")[1].strip())
        listed = json.loads(self.works("actorq runs all --json"))["runs"]
        self.assertEqual(sorted((run["path"], run["seed"], run["state"]) for run in listed),
                         [("all/seed-1", 1, "budget"), ("all/seed-2", 2, "budget")])
        self.assertIn("ended at its limit", self.works("actorq runs all"))

    def test_a_run_that_is_killed_takes_no_other_with_it(self):
        with training(*SEEDS, "2", "--jobs", "1", *SHORT.split(), "--set",
                      "limits.env_steps=1000000000") as train:
            wait("the first run", lambda: os.path.exists("all/seed-1/config.yaml"))
            os.kill(below(train.pid)[0], signal.SIGKILL)
            wait("the second", lambda: self.type("actorq set all/seed-2 limits.env_steps=1500")
                 .returncode == 0)
            said, failed = train.communicate(timeout=SECONDS_MAX)
        self.assertEqual(train.returncode, 1)
        self.assertIn("all/seed-1 was ended by signal 9", failed)
        self.assertIn("1 of 2 runs came to nothing\n", failed)
        self.assertIn("\nseed 2 ", "\n" + said)

    def test_as_json_there_is_a_line_for_each_and_one_for_all(self):
        said = self.works(f"actorq train gym:CartPole-v1 --seeds 7..8 --jobs 1 --json -q {SHORT}")
        *lines, rest = [json.loads(line) for line in said.splitlines()]
        self.assertEqual([line["seed"] for line in lines], [7, 8])
        self.assertEqual(rest["runs"], 2)
        mean = sum(line["return_mean"] for line in lines) / 2
        self.assertAlmostEqual(rest["return_mean"], mean, places=6)

    def test_nothing_outlives_it_however_it_ends(self):
        with training(*SEEDS, "2", "--jobs", "2", "--set", "evaluator.threshold=1e9",
                      out=None) as train:
            wait("two runs with four daemons each", lambda: len(below(train.pid)) >= 10)
            started = below(train.pid)
        wait("their end", lambda: all(map(has_ended, started)))

    def test_runs_that_diverge_are_a_failure(self):
        done = self.type(f"actorq train {DIVERGING} --run all --seeds 1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("seed 1 ", done.stdout)
        self.assertIn("1 of 1 runs diverged or ended in trouble", done.stderr)

    def test_an_interruption_is_none(self):
        with training(*SEEDS, "3", "--jobs", "1", "--no-evaluator") as train:
            wait("the first metrics", lambda: os.path.exists("all/seed-1/metrics.jsonl"))
            train.send_signal(signal.SIGINT)
            said, wrong = train.communicate(timeout=SECONDS_MAX)
        self.assertEqual(train.returncode, 0, said + wrong)
        self.assertIn("seed 1 ", said)
        self.assertNotIn("nan", said)
        self.assertNotIn("solved; return", said)  # a mean is of runs that came to an end
        self.assertFalse(os.path.exists("all/seed-2"))
        self.assertIn("\n1 of 3 runs; interrupted\n", said)
        self.assertTrue(said.endswith(" train --run all/seed-1 --resume --no-evaluator\n"), said)

    def test_what_is_refused_is_refused_once(self):
        done = self.type(f"actorq train gym:CartPole-v1 --set learner.algorithm=td3 --run x "
                         f"--seeds 3 --jobs 1 -q {SHORT}")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("continuous actions"), 1)
        self.assertFalse(os.path.exists("x"))
        self.refused("actorq train gym:CartPole-v1 --seeds 0", "--seeds: '0' is neither")
        self.refused("actorq train gym:CartPole-v1 --seeds 2 --seed 3", "leave --seed out")
        self.refused("actorq train gym:CartPole-v1 --seeds 2 --set seed=3", "leave --set seed out")
        self.refused("actorq train gym:CartPole-v1 --seeds 2 --http 127.0.0.1:0",
                     "leave --http out")

    def test_of_very_many_runs_the_newest_are_listed(self):
        for folder in ("one", "all"):
            os.mkdir(folder)
        with open("one/run.json", "w", encoding="ascii") as file:
            json.dump({"run_id": "1", "task": "t"}, file)
        for i in range(10_002):  # the same, as far as anybody sees
            os.symlink("../one", f"all/{i:05}")
        said = self.works("actorq runs all").splitlines()
        self.assertEqual(said[0], "2 older runs are left out; --json lists all.")
        self.assertIn("all/00002", said[2])
        self.assertEqual(len(said), 2 + 10_000)


if __name__ == "__main__":
    main()
