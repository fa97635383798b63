"""The examples for microcontrollers, and what measures policies there.

    test_microcontroller.py ACTORQ SOURCE_ROOT [unittest's arguments]

The examples are compiled with a policy and with stand-ins for the headers of Arduino and Zephyr,
and the second balances its pole on this machine. The measuring program runs on a board of
QEMU's, where Debian's qemu-system-arm is installed.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ARDUINO = """
#include <math.h>
#include <stdint.h>
struct Port { void begin(int); void print(unsigned long); void print(const char *);
              void println(unsigned long); void println(const char *); };
extern Port Serial;
unsigned long millis(); unsigned long micros();
"""
ZEPHYR = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define printk printf
static inline uint32_t k_cycle_get_32(void) { return 0; }
static inline void k_msleep(int32_t ms)
{
    static int left = 500;
    (void)ms;
    if (--left == 0) { exit(0); }
}
"""


class Examples(unittest.TestCase):
    """With a policy that was trained on CartPole."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="actorq-mcu-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copytree(SOURCE_ROOT / "examples" / "microcontroller", self.folder / "examples")
        policy = SOURCE_ROOT / "tests/golden/policies/cartpole_64_64.fp32.aq"
        self.run_it(ACTORQ, "quantize", policy, "int8.aq", "--rows", "64")
        self.run_it(ACTORQ, "export", "int8.aq", "--name", "policy", "--output",
                    "examples/balance/policy.c", "--header", "examples/balance/policy.h")

    def run_it(self, *command):
        """A command in the folder; what it prints."""
        done = subprocess.run([str(word) for word in command], cwd=self.folder, check=False,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_sketch_for_arduino_compiles(self):
        (self.folder / "Arduino.h").write_text(ARDUINO, encoding="utf-8")
        self.run_it("g++", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-include", "Arduino.h",
                    "-I", ".", "-c", "examples/balance/balance.ino", "-o", "sketch.o")

    def test_the_application_for_zephyr_balances_its_pole(self):
        for header in ("kernel.h", "sys/printk.h"):
            path = self.folder / "zephyr" / header
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(ZEPHYR if header == "kernel.h" else "", encoding="utf-8")
        self.run_it("gcc", "-Wall", "-Wextra", "-Werror", "-I", ".", "-I", "examples/balance",
                    "examples/zephyr/src/main.c", "examples/balance/policy.c", "-lm", "-o", "pole")
        told = self.run_it("./pole")
        self.assertIn("200 steps, the policy takes", told)

    @unittest.skipUnless(shutil.which("qemu-system-arm") and shutil.which("arm-none-eabi-gcc"),
                         "no qemu-system-arm, or no gcc-arm-none-eabi")
    def test_a_call_is_measured_on_a_simulated_board(self):
        sys.path.insert(0, str(SOURCE_ROOT / "bench" / "microcontroller"))
        import microcontrollers  # pylint: disable=import-outside-toplevel
        shutil.copy(self.folder / "examples/balance/policy.c", self.folder / "int8.c")
        cores = {core[0]: core for core in microcontrollers.CORES}
        one, slow = (microcontrollers.measure(self.folder, "int8", (4, 64, 64, 2), False,
                                              cores[name]) for name in ("Cortex-M4F", "Cortex-M0"))
        self.assertEqual(one["static"], 0)
        self.assertLess(one["code"], 1000)
        self.assertTrue(5000 < one["constants"] < 6000)
        self.assertTrue(648 + 5 * 4 <= one["stack"] < 1000)  # its arrays, and a word a function
        products = 64 * (4 + 64 + 2)
        self.assertTrue(2 * products < one["instructions"] < 16 * products)
        self.assertGreater(slow["instructions"], 2 * one["instructions"])


if __name__ == "__main__":
    ACTORQ, SOURCE_ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    del sys.argv[1:3]
    unittest.main(verbosity=2)
