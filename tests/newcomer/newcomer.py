"""A new user at a shell: types commands in a folder of its own and reads what comes of them."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from daemons import wait_for

ACTORQ, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
# A run that takes a second; a sanitizer's build takes some.
SHORT = "--set limits.env_steps=1500 --set replay.min_size=200"
DIVERGING = ("'gym:Pendulum-v1?obs_scale=1e6' --quiet --set learner.algorithm=td3 --set "
             "learner.hidden=64,64,64,64 --set learner.learning_rate=1 --set "
             f"learner.gradient_clip=0 {SHORT} --set limits.env_steps=50000")
SECONDS_MAX = 120


def wait(what, is_so):
    """Fails when it is not so in time."""
    return wait_for(what, is_so, patience_s=SECONDS_MAX)


@contextlib.contextmanager
def training(*words, program=ACTORQ, out=subprocess.PIPE):
    """`actorq train` with these words; one without an end does not outlive a test that fails."""
    with subprocess.Popen([program, "train", *words, "-q"], stdout=out, stderr=out,
                          text=True) as train:
        try:
            yield train
        finally:
            train.kill()


class Newcomer(unittest.TestCase):
    """The current folder is new, and the program is called as ./run would have it."""

    def setUp(self):
        self.home = os.getcwd()
        os.chdir(tempfile.mkdtemp(prefix="newcomer-"))
        os.environ.update(ACTORQ_CALLED_AS=ACTORQ, ACTORQ_HTTP="")

    def tearDown(self):
        here = os.getcwd()
        os.chdir(self.home)
        shutil.rmtree(here)

    def type(self, line):
        """What a shell makes of it; `actorq` is the program."""
        return subprocess.run(["/bin/sh", "-c", re.sub(r"^actorq ", f"'{ACTORQ}' ", line)],
                              capture_output=True, text=True, check=False, timeout=SECONDS_MAX)

    def works(self, line):
        """What it says on standard output; it has to succeed."""
        done = self.type(line)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
        return done.stdout

    def refused(self, line, *words):
        """It fails, with one line that has these words."""
        done = self.type(line)
        self.assertEqual(done.returncode, 1, f"{line}\n{done.stdout}{done.stderr}")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)


def main():
    """Runs the tests of the file that was called."""
    unittest.main(module="__main__", argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
