"""The programs on x86-64 processors that have less than ours, as qemu plays them.

    test_old_processors.py QEMU BUILD_FOLDER
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

QEMU, BUILD = shutil.which(sys.argv[1]), sys.argv[2]

# What x86-64 began with: SSE2. No such processor was made with so little else, so OpenBLAS, which
# goes by makers and models, takes it for one that has 3DNow!, and the learner starts at CORE_2.
OLDEST = "qemu64,-pni"
CORE_2 = "Conroe"        # 2006, SSSE3
NEHALEM = "Nehalem"      # 2008, SSE4.2
HASWELL = "Haswell"      # 2013, AVX2
RUNGS = {OLDEST: "scalar", CORE_2: "scalar", NEHALEM: "scalar", HASWELL: "avx2"}

DAEMONS = ("actor", "learner", "replay")

# Not those of this host: they may name a processor that is not played.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith("OPENBLAS_") and name != "ACTORQ_CPU"}
ENVIRONMENT["OPENBLAS_NUM_THREADS"] = "1"


def built(*path):
    return os.path.join(BUILD, *path)


def execute(command):
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False,
                          timeout=600)


def on(cpu, *command):
    return execute([QEMU, "-cpu", cpu, *command])


@unittest.skipIf(QEMU is None, "no " + sys.argv[1])
class OldProcessors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="actorq-old-")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def assert_fine(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def train(self, actorq, name):
        """A short run, as its JSON. With so little tolerance its actor cannot reach the limit
        before the learner, slowly emulated, has done its part."""
        run = os.path.join(self.folder, name)
        result = execute([actorq, "train", "gym:CartPole-v1", "--run", run, "--seed", "3",
                          "--actors", "1", "--set", "limits.env_steps=1500",
                          "--set", "replay.tolerance=300", "--quiet", "--json"])
        self.assert_fine(result)
        return json.loads(result.stdout)

    def evaluate(self, command, policy):
        result = execute([*command, "eval", policy, "--episodes", "10", "--seed", "1", "--json"])
        self.assert_fine(result)
        return json.loads(result.stdout)

    def test_the_emulator_refuses_what_its_processor_lacks(self):
        has = {OLDEST: (), CORE_2: (), NEHALEM: ("sse42",), HASWELL: ("sse42", "avx2")}
        for cpu, sets in has.items():
            for name in ("sse42", "avx2", "avx512"):
                result = on(cpu, built("tests", "cross", "vector_instruction"), name)
                expected = 0 if name in sets else -signal.SIGILL
                self.assertEqual(result.returncode, expected, f"{name} on {cpu}")

    def test_every_program_starts_on_the_oldest(self):
        for path in [("cli", "actorq")] + [(name, "actorq-" + name) for name in DAEMONS]:
            for option in ("--version", "--help"):
                self.assert_fine(on(OLDEST, built(*path), option))

    def test_a_policy_acts_the_same_on_all_of_them(self):
        run = self.train(built("cli", "actorq"), "native")
        policy = os.path.join(run["run"], "policy.aq")
        here = self.evaluate([built("cli", "actorq")], policy)
        for cpu, rung in RUNGS.items():
            there = self.evaluate([QEMU, "-cpu", cpu, built("cli", "actorq")], policy)
            self.assertEqual(there, {**here, "kernels": rung}, cpu)

    def test_a_cluster_trains_on_them(self):
        """actorq finds its daemons beside itself: here these are scripts that call qemu."""
        for cpu in (CORE_2, HASWELL):  # a rung each
            place = os.path.join(self.folder, "on " + cpu)
            os.mkdir(place)
            shutil.copy(built("cli", "actorq"), place)
            for name in DAEMONS:
                script = os.path.join(place, "actorq-" + name)
                with open(script, "w", encoding="utf-8") as file:
                    file.write(f"#!/bin/sh\nexec '{QEMU}' -cpu {cpu} "
                               f"'{built(name, 'actorq-' + name)}' \"$@\"\n")
                os.chmod(script, 0o755)
            run = self.train(os.path.join(place, "actorq"), "run on " + cpu)
            self.assertGreater(run["learner_steps"], 0, cpu)
            self.assertEqual(run["restarts"], 0, cpu)

    def test_checksums_need_no_instruction_and_take_it(self):
        for cpu in (OLDEST, NEHALEM):
            self.assert_fine(on(cpu, built("tests", "unit", "common", "test_common_base"),
                                "crc32c"))

    def test_the_learners_passes_have_a_way_without_vectors(self):
        for cpu in (OLDEST, NEHALEM, HASWELL):
            self.assert_fine(on(cpu, built("tests", "unit", "learner", "test_learner_nn"),
                                "passes"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
