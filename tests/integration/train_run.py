"""A run that `actorq train` trains on this host, for tests: started, watched, and ended with the
test. Who inherits it says by which words it is started."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from daemons import PATIENCE_S, wait_for


def program(actorq, role):
    """Of the build that `actorq` is of."""
    return f"{os.path.dirname(os.path.abspath(actorq))}/../{role}/actorq-{role}"


class TrainRun(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="actorq-run-")
        self.run_dir = self.home + "/run"
        self.train = None

    def tearDown(self):
        if self.train and self.train.poll() is None:
            self.train.terminate()
            self.train.wait()
        shutil.rmtree(self.home)

    def begin(self, *words):
        with open(self.home + "/out", "w", encoding="utf-8") as out:
            self.train = subprocess.Popen([*words, "--run", self.run_dir], stdout=out,
                                          stderr=subprocess.STDOUT)

    def said(self):
        with open(self.home + "/out", encoding="utf-8") as file:
            return file.read()

    def log(self):
        path = self.run_dir + "/logs/learner.log"
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    def metric(self, name, of=None):
        """The newest figure, or one of those that were told together; None before there is one."""
        found = None
        path = self.run_dir + "/metrics.jsonl"
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    told = json.loads(line) if line.endswith("}\n") else {}
                    found = (told.get(of) or {} if of else told).get(name, found)
        return found

    def status(self):
        """With which the run ends. Sanitizers beside other tests are slow: only a learner that took
        no step for so long is stuck."""
        seen = None
        while True:
            try:
                return self.train.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                steps = self.metric("learner_steps")
                self.assertNotEqual(steps, seen, f"it stands still: {self.said()}")
                seen = steps

    def wait(self, what, done):
        def is_done():
            if not (found := done()):
                self.assertIsNone(self.train.poll(), f"it ended, waiting for {what}: {self.said()}")
            return found

        wait_for(what, is_done, self.log)
