"""Actors that send gradients, as `actorq train --gradients` starts them: whoever is killed, the run
goes on, and what does not fit it is refused in words.

    test_gradients.py ACTORQ ACTOR [unittest's arguments]
"""

import json
import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from train_run import PATIENCE_S, TrainRun

ACTORQ, ACTOR = sys.argv[1:3] if len(sys.argv) > 2 else [""] * 2
SMALL = ("--set", "learner.hidden=16", "--set", "evaluator.threshold=1000", "--set",
         "limits.env_steps=1000000000", "--set", "learner.checkpoint_period_s=0.5")


class TestGradients(TrainRun):
    def start(self, *arguments):
        self.begin(ACTORQ, "train", "gym:CartPole-v1", "--gradients", "--actors", "2", "--no-http",
                   "--no-evaluator", "--json", "--quiet", "--seed", "1", *SMALL, *arguments)

    def goes_on(self):
        """Waits for gradients that come after now."""
        before = self.metric("learner_steps") or 0
        self.wait("gradients", lambda: (self.metric("learner_steps") or 0) > before + 50)

    def one(self, name):
        """The number of a process of this run."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().decode().split("\0")
            except OSError:
                continue
            if words[0].startswith(name) and f"--parent\0{self.train.pid}" in "\0".join(words):
                return int(pid)
        return None

    def kill(self, name):
        self.wait(name, lambda: self.one(name))
        pid = self.one(name)
        os.kill(pid, signal.SIGKILL)
        self.wait(f"another {name}", lambda: self.one(name) not in (None, pid))

    def end(self):
        self.train.send_signal(signal.SIGTERM)
        self.assertEqual(self.train.wait(PATIENCE_S), 0, self.said())
        return json.loads(self.said()[self.said().index("{"):])

    def test_whoever_is_killed_the_run_goes_on(self):
        self.start("--set", "learner.algorithm=a2c", "--set", "learner.gradient_format=int8")
        self.goes_on()
        for name in ("actor-", "replay-", "learner"):
            self.kill(name)
            self.goes_on()
        self.assertEqual(self.metric("gradients_refused"), 0)
        self.assertEqual(self.metric("rejected", "replay"), 0)
        self.end()

    def test_no_gradient_of_an_actor_that_died_is_applied_twice(self):
        """A shard that dies takes the count of its newest steps with it, so none dies here."""
        self.start("--set", "learner.algorithm=a2c")
        for _ in range(3):
            self.goes_on()
            self.kill("actor-")
        self.goes_on()
        self.end()
        self.assertGreaterEqual(self.metric("env_steps"), 256 * self.metric("learner_steps"))

    def test_old_gradients_are_dropped_or_damped(self):
        self.start("--set", "learner.algorithm=a2c", "--set", "learner.lag_max=0", "--set",
                   "learner.lag_damping=true")
        self.goes_on()
        self.wait("a gradient that is too old", lambda: self.metric("gradients_dropped"))
        self.end()

    def refused(self, *arguments):
        said = subprocess.run([ACTORQ, "train", *arguments, "--run", self.run_dir],
                              capture_output=True, timeout=PATIENCE_S, check=False)
        self.assertNotEqual(said.returncode, 0)
        return said.stderr.decode()

    def test_an_algorithm_of_many_steps_an_update_is_refused(self):
        self.assertIn("actors compute no gradients of ppo",
                      self.refused("gym:CartPole-v1", "--gradients", "--set",
                                   "learner.algorithm=ppo"))

    def test_an_actor_of_steps_is_refused(self):
        self.start("--set", "learner.algorithm=a2c")
        self.goes_on()
        with open(self.run_dir + "/endpoint.json", encoding="utf-8") as file:
            learner = json.load(file)["learner"]
        said = subprocess.run([ACTOR, "--learner", learner], capture_output=True,
                              timeout=PATIENCE_S, check=False)
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("--gradients", said.stderr.decode())
        self.end()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
