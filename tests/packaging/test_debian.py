#!/usr/bin/env python3
"""The Debian package asks for what the build asks for.

    test_debian.py SOURCE_ROOT BUILD_ROOT
"""

import json
import os
import re
import subprocess
import sys
import unittest

ROOT, BUILD = sys.argv[1:3]
# Every build of a package has these.
ESSENTIAL = {"dpkg-dev", "g++", "gcc", "libc6-dev", "ninja-build"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


class TestDebian(unittest.TestCase):
    def test_it_is_built_with_the_packages_of_the_build(self):
        listed = re.search(r"^packages=\(\n(.*?)^\)", read("tools/prepare.sh"), re.M | re.S)[1]
        wanted = set(re.findall(r"^ +([a-z0-9.+-]+) +'", listed, re.M)) - ESSENTIAL
        field = re.search(r"^Build-Depends:\n((?: .*\n)*)", read("debian/control"), re.M)[1]
        has = set(re.findall(r"^ ([a-z0-9.+-]+)", field, re.M))
        self.assertGreater(len(wanted), 8)
        self.assertEqual(sorted(wanted - has), [])

    def test_it_runs_tests_that_there_are(self):
        tests = json.loads(subprocess.check_output(["meson", "introspect", "--tests", BUILD]))
        suites = {suite.split(":")[-1] for test in tests for suite in test["suite"]}
        for named, known in ((r"--suite (\S+)", suites),
                             (r"\b(common_\S+)", {test["name"] for test in tests})):
            asked = set(re.findall(named, read("debian/rules")))
            self.assertTrue(asked)
            self.assertLessEqual(asked, known)

    def test_units_are_where_its_scripts_look_for_them(self):
        self.assertRegex(read("debian/actorq.install"), r"(?m)^usr/lib/systemd/system lib/systemd$")

    def test_its_version_is_the_projects(self):
        version = re.search(r"version: '([^']+)'", read("meson.build"))[1]
        self.assertTrue(read("debian/changelog").startswith(f"actorq ({version})"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
