"""Actors that send gradients, as `actorq train --gradients` starts them: whoever is killed, the run
goes on, and what does not fit it is refused in words.

    test_gradients.py ACTORQ [unittest's arguments]

The storm of the long ones kills actors, the shard and the learner AQ_STORM times (6), as AQ_SEED
says:

    AQ_STORM=200 test_gradients.py B/cli/actorq LongTestGradients.test_a_storm
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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from kill_storm import KillStorm, storms
from train_run import PATIENCE_S, TrainRun, program

ACTORQ = sys.argv[1] if len(sys.argv) > 1 else ""
STORM_STEPS = 64  # of a gradient
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
        """The number of the process of this run that is called so."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().decode().split("\0")
            except OSError:
                continue
            parent = words[words.index("--parent") + 1] if "--parent" in words else None
            if words[0] == name and parent == str(self.train.pid):
                return int(pid)
        return None

    def kill(self, name):
        self.wait(name, lambda: self.one(name))
        pid = self.one(name)
        os.kill(pid, signal.SIGKILL)
        self.wait(f"another {name}", lambda: self.one(name) not in (None, pid))

    def end(self):
        self.train.send_signal(signal.SIGTERM)
        self.assertEqual(self.status(), 0, self.said())
        return json.loads(self.said()[self.said().index("{"):])

    def test_whoever_is_killed_the_run_goes_on(self):
        self.start("--set", "learner.algorithm=a2c", "--set", "learner.gradient_format=int8")
        self.goes_on()
        for name in ("actor-0", "replay-0", "learner"):
            self.kill(name)
            self.goes_on()
        self.assertEqual(self.metric("gradients_refused"), 0)
        self.assertEqual(self.metric("rejected", "replay"), 0)
        self.end()

    def test_no_gradient_of_an_actor_that_died_is_applied_twice(self):
        """A shard that dies takes the count of its newest steps with it, so none dies here."""
        # whose reward is none, and is not shaped
        self.start("--set", "learner.algorithm=a2c", "--set", "learner.reward_scale=0.5")
        for _ in range(3):
            self.goes_on()
            self.kill("actor-0")
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

    def test_what_would_be_another_row_is_refused_when_it_is_resumed(self):
        self.start("--set", "learner.algorithm=a2c")
        self.goes_on()
        self.end()
        with open(self.run_dir + "/config.yaml", encoding="utf-8") as file:
            before = file.read()
        for setting, words in (("learner.gradient_format=int8", "learner.gradient_format is fp32"),
                               ("learner.group_steps=512", "are of 256 steps, not of 512")):
            self.assertIn(words, self.refused("--resume", "--set", setting))
        with open(self.run_dir + "/config.yaml", encoding="utf-8") as file:
            self.assertEqual(file.read(), before)

    def test_an_algorithm_of_many_steps_an_update_is_refused(self):
        self.assertIn("actors compute no gradients of ppo",
                      self.refused("gym:CartPole-v1", "--gradients", "--set",
                                   "learner.algorithm=ppo"))

    def test_its_stores_have_no_steps_to_export(self):
        self.start("--set", "learner.algorithm=a2c")
        self.goes_on()
        self.end()
        store = self.run_dir + "/replay-0"
        for words in (["export", store, self.home + "/steps.aqds"], ["inspect", store]):
            said = subprocess.run([ACTORQ, "replay", *words], capture_output=True, text=True,
                                  timeout=PATIENCE_S, check=False)
            self.assertEqual(said.returncode, 1)
            self.assertIn("or sent gradients (actor.gradients)", said.stderr)

    def test_an_actor_of_steps_is_refused(self):
        self.start("--set", "learner.algorithm=a2c")
        self.goes_on()
        with open(self.run_dir + "/endpoint.json", encoding="utf-8") as file:
            learner = json.load(file)["learner"]
        said = subprocess.run([program(ACTORQ, "actor"), "--learner", learner], capture_output=True,
                              timeout=PATIENCE_S, check=False)
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("--gradients", said.stderr.decode())
        self.end()


class LongTestGradients(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="actorq-storm-")

    def tearDown(self):
        shutil.rmtree(self.home)

    def test_a_storm(self):
        storms(self, GradientStorm, ("a2c", "dqn"))


class GradientStorm(KillStorm):
    """A learner, a shard and two actors, of which any may be killed, or several."""

    NAMES = ("actor-0", "actor-1", "replay", "learner")

    def __init__(self, test, algorithm, rng):
        super().__init__(test, rng, ACTORQ, algorithm, f"algorithm: {algorithm}, hidden: [16], "
                         f"batch_size: {STORM_STEPS}, group_steps: {STORM_STEPS}",
                         "actor: {gradients: true, count: 2}")
        self.told_before = []  # each start of the shard

    @staticmethod
    def row_steps():
        return STORM_STEPS

    def start_one(self, name):
        if name == "learner":
            self.start_learner()
        elif name == "replay":
            self.told_before.append(self.acknowledged())
            self.steps = 0  # what it had not yet acknowledged is lost with it
            self.start_member(name)
        else:
            self.start_member(name, "--gradients")

    def launch(self):
        for name in self.NAMES:
            self.start_one(name)

    def kill(self):
        if self.rng.random() < 0.7:
            self.trains()
        time.sleep(self.rng.uniform(0, 0.6))
        self.look()
        victims = self.rng.sample(self.NAMES, self.rng.choice([1, 1, 1, 2, 4]))
        for name in victims:
            self.processes[name].kill()
        for name in victims:
            self.processes[name].wait(PATIENCE_S)
        self.check_log()
        for name in victims:
            self.start_one(name)

    def check_log(self):
        """A shard's files have what actors knew to be stored. One that was killed before it said
        so leaves its place to the next, of which more was known."""
        super().check_log()
        restored = re.findall(r"event=store_restored .* inserted=(\d+)", self.log())
        for rows, told in zip(restored, self.told_before):
            self.test.assertGreaterEqual(int(rows) * STORM_STEPS, told, self.log()[-4000:])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
