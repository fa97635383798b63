#!/usr/bin/env python3
"""libactorq gives others what libactorq.abi lists, and nothing else.

    test_abi.py NM LIBRARY SIZES

A name that is gone, or a struct of another size, breaks programs that were built before: then the
soname changes. One that is new is added to the list.
"""

import os
import re
import subprocess
import sys
import unittest

NM, LIBRARY, SIZES = sys.argv[1:4]
LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libactorq.abi")
HEADER = os.path.join(os.path.dirname(LIST), "../../include/actorq/actorq.h")


def printed(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class TestAbi(unittest.TestCase):
    maxDiff = None

    def listed(self, kind):
        with open(LIST, encoding="utf-8") as file:
            return sorted(line for line in file.read().splitlines() if line.startswith(kind))

    def test_it_exports_what_is_listed(self):
        names = [line.split()[-1] for line in printed(NM, "-D", "--defined-only",
                                                      LIBRARY).splitlines()]
        exported = sorted(f"function {name}" for name in names if name != "ACTORQ_1")
        self.assertEqual(exported, self.listed("function"))

    def test_the_header_declares_what_is_listed(self):
        with open(HEADER, encoding="utf-8") as file:
            names = re.findall(r"ACTORQ_API [\w ]+\*?(actorq_\w+)\(", file.read())
        self.assertEqual(sorted(f"function {name}@@ACTORQ_1" for name in names),
                         self.listed("function"))

    def test_its_structs_are_as_large_as_listed(self):
        self.assertEqual(sorted(printed(SIZES).splitlines()), self.listed("struct"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
