#!/usr/bin/env python3
"""What `meson install` brings works from where it lies, and all of it can be taken back.

    test_install.py BUILD_ROOT PREFIX
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, PREFIX = sys.argv[1:3]
EXPECTED = (
    "bin/actorq", "bin/actorq-actor", "bin/actorq-bench", "bin/actorq-data", "bin/actorq-learner",
    "bin/actorq-replay", "include/actorq_env.h", "include/actorq/actorq.h",
    "share/actorq/examples/plugin/build.sh", "share/actorq/python/actorq_env/__init__.py",
    "share/actorq/torch_steps.py", "share/bash-completion/completions/actorq",
    "share/bash-completion/completions/actorq-learner", "share/doc/actorq/docs/operations.md",
    "share/man/man1/actorq.1", "share/man/man1/actorq-replay-export.1",
    "share/man/man5/actorq.yaml.5", "share/man/man8/actorq-learner.8",
)


ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRESETS = tuple(f"share/actorq/configs/{name}" for name in os.listdir(f"{ROOT}/configs")
                if name.endswith(".yaml"))


def files_below(folder):
    """Every file and link."""
    return [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names]


class TestInstall(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="aq-install-")
        cls.root = os.path.join(cls.folder, "root")
        cls.place = cls.root + PREFIX
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet",
                        "--destdir", cls.root], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_program(self, *arguments):
        """What a program prints, run as one would that has nothing of the build."""
        environment = {"PATH": f"{self.place}/bin:/usr/bin:/bin", "HOME": self.folder}
        return subprocess.run(arguments, check=True, cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8").stdout

    def test_all_of_it_is_there(self):
        missing = [path for path in EXPECTED + PRESETS
                   if not os.path.exists(f"{self.place}/{path}")]
        self.assertEqual(missing, [])

    def test_what_is_typed_is_executable(self):
        for path in files_below(f"{self.place}/bin"):
            self.assertTrue(os.access(path, os.X_OK), path)

    def test_a_task_is_trained_by_the_daemons_beside_the_tool(self):
        result = json.loads(self.run_program(
            "actorq", "train", "gym:CartPole-v1", "--seed", "1", "--run", "first", "--quiet",
            "--json", "--set", "limits.env_steps=2000", "--set", "evaluator.episodes=2"))
        self.assertGreaterEqual(result["env_steps"], 2000)
        self.assertIn("policy", self.run_program("actorq", "inspect", "first"))

    def test_the_library_is_found_and_acts(self):
        if not shutil.which("cc") or not shutil.which("pkg-config"):
            self.skipTest("no compiler or no pkg-config")
        code = os.path.join(self.folder, "tasks.c")
        with open(code, "w", encoding="utf-8") as file:
            file.write("#include <actorq/actorq.h>\n#include <stdio.h>\n"
                       "int main(void) { return puts(actorq_task_at(0)) < 0; }\n")
        library = os.path.dirname(glob.glob(f"{self.place}/lib/**/libactorq.so", recursive=True)[0])
        environment = os.environ | {"PKG_CONFIG_PATH": library + "/pkgconfig",
                                    "PKG_CONFIG_SYSROOT_DIR": self.root}
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "actorq"], check=True,
                               capture_output=True, text=True, env=environment).stdout.split()
        subprocess.run(["cc", "-o", self.folder + "/tasks", code, *flags], check=True)
        self.assertIn(":", self.run_program("env", "LD_LIBRARY_PATH=" + library,
                                            self.folder + "/tasks"))

    def test_the_python_package_works_from_there(self):
        places = glob.glob(f"{self.root}/**/actorq/_actorq.abi3.so", recursive=True)
        if not places:
            self.skipTest("built without the Python package (libpython3-dev)")
        code = "import actorq; print(actorq.tasks(), actorq.find_program())"
        packages = os.path.dirname(os.path.dirname(places[0]))
        said = self.run_program("env", "PYTHONPATH=" + packages, "PYTHONDONTWRITEBYTECODE=1",
                                sys.executable, "-c", code)
        self.assertIn("gym:CartPole-v1", said)
        self.assertIn(f"{self.place}/bin/actorq", said)
        if PREFIX == "/usr/local" and packages.endswith("/dist-packages"):
            looked_in = self.run_program("/usr/bin/python3", "-c",
                                         "import site; print(*site.getsitepackages(), sep='\\n')")
            self.assertIn(packages.removeprefix(self.root), looked_in.splitlines())

    def test_a_plug_in_is_built_with_the_installed_header(self):
        if not shutil.which("cc"):
            self.skipTest("no compiler")
        self.run_program("env", f"INCLUDE={self.place}/include",
                         f"{self.place}/share/actorq/examples/plugin/build.sh", self.folder)
        self.assertIn("reach", self.run_program("actorq", "envs", "so:./point_robot.so:reach"))

    def test_z_it_is_taken_back(self):
        subprocess.run(["meson", "--internal", "uninstall"], cwd=BUILD, check=True,
                       stdout=subprocess.DEVNULL)
        left = [path for path in files_below(self.root) if "__pycache__" not in path]
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
