"""For the tests of the Python package: small runs, each made once and gone with the tests."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

import actorq


class RunKit(unittest.TestCase):
    calm = {"actor__epsilon_base": 0, "actor__epsilon_alpha": 0}  # actors that do not explore

    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp(prefix="actorq-python-")
        cls.runs = 0

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.home)

    @classmethod
    def train(cls, task, **settings):
        """A run of some thousand steps."""
        cls.runs += 1
        folder = os.path.join(cls.home, f"run-{cls.runs}")
        asked = {"limits__env_steps": 6000, "evaluator__episodes": 2, **settings}
        training = actorq.train(task, run=folder, seed=1, actors=1, no_http=True, **asked)
        training.wait()
        return training.run

    @classmethod
    def export(cls, run):
        """Its experience as a data set."""
        path = os.path.join(run.folder, "steps.aqds")
        cls.command("replay", "export", run.folder + "/replay-0", path)
        return path

    @staticmethod
    def command(*words):
        """What a command of `actorq` prints as JSON."""
        done = subprocess.run([actorq.find_program(), *words, "--json"], check=True,
                              capture_output=True, text=True)
        return json.loads(done.stdout)
