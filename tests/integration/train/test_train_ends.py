"""What `actorq train` leaves of runs that end badly: what was trained stays, whoever gives up, and
what never began goes.

    test_train_ends.py ACTORQ [unittest's arguments]
"""

import glob
import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from train_run import PATIENCE_S, TrainRun

ACTORQ = sys.argv[1] if len(sys.argv) > 1 else ""
ENDLESS = ("--no-evaluator", "--set", "learner.hidden=16", "--set", "evaluator.threshold=1000",
           "--set", "limits.env_steps=1000000000", "--set", "learner.checkpoint_period_s=0.3")


def children(parent):
    """The processes that it has started, by what they are called."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                state, its_parent = file.read().rsplit(")", 1)[1].split()[:2]
            with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
                words = file.read().split("\0")
        except OSError:
            continue
        if int(its_parent) == parent and state != "Z":
            name = words[words.index("--run") + 1] if words[0] == "actorq" else words[0]
            found[os.path.basename(name)] = int(pid)
    return found


class TestTrainEnds(TrainRun):
    def start(self, *arguments):
        self.begin(ACTORQ, "train", "gym:CartPole-v1", *ENDLESS, *arguments)

    def checkpoints(self, run=""):
        return glob.glob(f"{self.run_dir}/{run}/checkpoints/step-*.aqc")

    def begins(self, run=""):
        self.wait("a checkpoint", lambda: self.checkpoints(run))

    def test_seeds_that_left_no_result_keep_what_they_trained(self):
        self.start("--seeds", "2", "--jobs", "2")
        for run in ("seed-1", "seed-2"):
            self.begins(run)
        runs = list(children(self.train.pid).values())
        daemons = [pid for run in runs for pid in children(run).values()]
        for pid in runs:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.train.wait(PATIENCE_S), 1)
        while any(os.path.exists(f"/proc/{pid}") for pid in daemons):  # which write until then
            time.sleep(0.05)
        self.assertIn("2 of 2 runs came to nothing", self.said())
        self.assertTrue(self.checkpoints("seed-1") and self.checkpoints("seed-2"))

    def test_seeds_that_are_refused_leave_nothing(self):
        self.start("--seeds", "2", "--jobs", "1", "--set", "learner.model_ranks=3")
        self.assertEqual(self.train.wait(PATIENCE_S), 1)
        self.assertIn("learner.model_ranks is 3", self.said())
        self.assertFalse(os.path.exists(self.run_dir))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
