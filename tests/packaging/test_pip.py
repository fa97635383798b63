#!/usr/bin/env python3
"""`pip install ./python` works without a network, and what it installs without the clone.

    test_pip.py BUILD_ROOT PACKAGE
"""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

BUILD, PACKAGE = sys.argv[1:3]
MINE = """
import importlib.util
import types
import numpy as np

class Mine:
    observation_space = types.SimpleNamespace(shape=(3,), dtype=np.dtype("float32"),
                                              low=-np.ones(3), high=np.ones(3))
    action_space = types.SimpleNamespace(n=2, start=0, shape=(), dtype=np.dtype("int64"))

    def reset(self, *, seed=None, options=None):
        return np.full(3, importlib.util.find_spec("shadow") is not None, np.float32), {}

    def step(self, action):
        return np.zeros(3, np.float32), 0.0, False, False, {}
"""


class TestPip(unittest.TestCase):
    def test_a_wheel_is_made_and_works(self):
        if not importlib.util.find_spec("pip"):
            self.skipTest("pip is not installed (python3-pip): it installs nothing here")
        if not os.path.exists(BUILD + "/python/actorq/_actorq.abi3.so"):
            self.skipTest("built without the Python package (libpython3-dev)")
        folder = tempfile.mkdtemp(prefix="aq-pip-")
        self.addCleanup(shutil.rmtree, folder)
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
                        "--no-deps", "--no-cache-dir", "--root-user-action=ignore",
                        "--target", folder + "/site", PACKAGE], check=True,
                       env=os.environ | {"ACTORQ_BUILD": BUILD})
        with open(folder + "/mine.py", "w", encoding="ascii") as file:
            file.write(MINE)
        # Another Python is not to have what this one has beside the package.
        with open(folder + "/site/shadow.py", "w", encoding="ascii"):
            pass
        code = (f"import sys; sys.path.insert(0, {folder + '/site'!r}); "
                "import actorq; print(actorq.__file__, len(actorq.tasks()), "
                "'site/actorq/libactorq' in open('/proc/self/maps').read(), "
                "*actorq.make('py:mine:Mine').reset()[0])")
        said = subprocess.run([sys.executable, "-c", code], check=True, cwd=folder,
                              capture_output=True, text=True,
                              env={"ACTORQ_PYTHON": sys.executable}).stdout.split()
        self.assertTrue(said[0].startswith(folder))
        self.assertGreater(int(said[1]), 10)
        self.assertEqual(said[2:], ["True", "0.0", "0.0", "0.0"])

    def test_a_build_folder_is_looked_for_from_the_clones_root(self):
        with mock.patch.object(sys, "path", [PACKAGE, *sys.path]):
            backend = importlib.import_module("build_backend")
        root = os.path.dirname(PACKAGE)
        targets = "python/actorq/_actorq.abi3.so: phony\n"
        for named in (BUILD, os.path.relpath(BUILD, root)):
            with (mock.patch.object(backend, "run", return_value=targets),
                  mock.patch.dict(os.environ, ACTORQ_BUILD=named), contextlib.chdir(PACKAGE)):
                self.assertTrue(os.path.samefile(backend.built()[0], BUILD))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
