"""Learners of several ranks, as `actorq train --learners` starts them: a run of two, ranks that die
or stand still, and what is refused. Without Open MPI it says so, with status 77.

    test_ranks.py ACTORQ MODULE [unittest's arguments]
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PATIENCE_S = 90
SKIPPED = 77
ACTORQ, MODULE = sys.argv[1:3] if len(sys.argv) > 2 else [""] * 2
SMALL = ("--set", "learner.hidden=16", "--set", "learner.batch_size=16", "--set",
         "evaluator.threshold=1000", "--set", "limits.env_steps=1000000000")


def rank_of(pid, run_dir):
    """Of a process of the run's learner, as mpirun told it; None for others."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            found = re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)\0", b"\0" + file.read() + b"\0")
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            command = file.read()
    except OSError:
        return None
    is_learner = b"actorq-learner\0" in command and run_dir.encode() in command
    return int(found[1]) if found and is_learner else None


class TestRanks(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="actorq-ranks-")
        self.run_dir = self.home + "/run"
        self.train = None

    def tearDown(self):
        if self.train and self.train.poll() is None:
            self.train.terminate()
            self.train.wait()
        shutil.rmtree(self.home)

    def start(self, *arguments):
        with open(self.home + "/out", "w", encoding="utf-8") as out:
            self.train = subprocess.Popen(
                [ACTORQ, "train", "gym:CartPole-v1", "--learners", "2", "--run", self.run_dir,
                 "--no-http", "--no-evaluator", "--json", "--seed", "1", *arguments],
                stdout=out, stderr=subprocess.STDOUT)

    def ranks(self):
        """Processes of this run's learner, by their number."""
        found = {rank_of(pid, self.run_dir): int(pid)
                 for pid in os.listdir("/proc") if pid.isdigit()}
        found.pop(None, None)
        return found

    def wait(self, what, done):
        end = time.monotonic() + PATIENCE_S
        while not done():
            self.assertIsNone(self.train.poll(), f"it ended, waiting for {what}: {self.said()}")
            self.assertLess(time.monotonic(), end, f"{what} took too long: {self.log()}")
            time.sleep(0.05)

    def said(self):
        with open(self.home + "/out", encoding="utf-8") as file:
            return file.read()

    def log(self):
        path = self.run_dir + "/logs/learner.log"
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    def metric(self, name):
        """The newest figure; None before there is one."""
        found = None
        path = self.run_dir + "/metrics.jsonl"
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    found = json.loads(line).get(name, found) if line.endswith("}\n") else found
        return found

    def trains(self):
        return (self.metric("learner_steps") or 0) > 100 and "checkpoint_written" in self.log()

    def end(self):
        """Ends the run in order; its result."""
        self.train.send_signal(signal.SIGTERM)
        self.assertEqual(self.train.wait(PATIENCE_S), 0, self.said())
        self.assertEqual(self.ranks(), {})
        return json.loads(self.said()[self.said().index("\n{") + 1:])

    def test_two_ranks_train_together(self):
        self.start(*SMALL, "--set", "learner.gradient_format=int8", "--set",
                   "learner.checkpoint_period_s=0.5", "--set", "net.rank_timeout_ms=60000")
        self.wait("steps", self.trains)
        self.wait("the exchange's figures", lambda: self.metric("exchange_bytes"))
        self.assertEqual(self.metric("ranks"), 2)
        parameters = 4 * 16 + 16 + 16 * 2 + 2
        self.assertLess(self.metric("exchange_bytes"), 2 * parameters)
        self.assertEqual(self.end()["learners"], 2)

    def goes_on_without(self, number, signal_number, words, *arguments):
        self.start(*SMALL, "--set", "learner.checkpoint_period_s=0.5", "--set",
                   "net.rank_timeout_ms=2000", *arguments)
        self.wait("steps", self.trains)
        os.kill(self.ranks()[number], signal_number)
        self.wait("a new start", lambda: "event=resumed" in self.log())
        self.wait("its ranks", lambda: self.log().count("as a rank of the learner") >= 2)
        before = self.metric("learner_steps")
        self.wait("more steps", lambda: self.metric("learner_steps") > before)
        self.assertIn(words, self.log())
        self.assertNotIn("assertion failed", self.log())
        self.assertIn("all 2 go on from the last checkpoint", self.said())
        self.assertGreaterEqual(self.end()["restarts"], 1)

    def test_a_rank_that_is_killed_costs_a_new_start(self):
        self.goes_on_without(1, signal.SIGKILL, "signal 9")

    def test_ranks_that_share_a_network_go_on_and_leave_a_whole_policy(self):
        self.goes_on_without(1, signal.SIGKILL, "signal 9", "--set", "learner.model_ranks=2",
                             "--set", "learner.hidden=256,256")
        self.assertIn("parameters=34178 of=67586 policy=4-128r-256r-2", self.log())
        played = subprocess.run([ACTORQ, "eval", self.run_dir, "--episodes", "2", "--json"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(played.returncode, 0, played.stderr)
        self.assertGreater(json.loads(played.stdout)["return_mean"], 0)

    def test_networks_that_are_shared_take_as_many_ranks(self):
        self.start("--set", "learner.model_ranks=3")
        self.assertEqual(self.train.wait(PATIENCE_S), 1)
        self.assertIn("learner.model_ranks is 3, and the learner has 2 rank(s)", self.said())

    def test_what_ranks_cannot_train_is_refused(self):
        self.start("--set", "learner.algorithm=ppo")
        self.assertEqual(self.train.wait(PATIENCE_S), 1)
        self.assertIn("ppo is not trained by several ranks", self.said())
        self.assertFalse(os.path.exists(self.run_dir))

    def test_no_mpirun_is_said_before_anything_starts(self):
        refused = subprocess.run([ACTORQ, "train", "gym:CartPole-v1", "--learners", "2"],
                                 env={**os.environ, "PATH": self.home}, capture_output=True,
                                 text=True, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("apt-get install openmpi-bin", refused.stderr)


class LongTestRanks(TestRanks):
    """What takes longer than its facts are worth every time."""

    def test_the_first_rank_is_one_like_others(self):
        self.goes_on_without(0, signal.SIGKILL, "signal 9")

    def test_a_rank_that_stands_still_is_given_up_in_words(self):
        self.goes_on_without(1, signal.SIGSTOP, "another rank was silent for 2000 ms")


if __name__ == "__main__":
    if not MODULE or not shutil.which("mpirun"):
        print("skipped: Open MPI is not installed (libopenmpi-dev at the build, openmpi-bin)")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
