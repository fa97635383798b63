#!/usr/bin/env python3
"""Every option, setting and variable of the environment has its line in the manual pages, and the
pages and completions are well formed.

    test_manuals.py SOURCE_ROOT FOLDER_OF_PAGES
"""

import os
import re
import shutil
import subprocess
import sys
import unittest

ROOT, PAGES = sys.argv[1:3]
PROGRAMS = ("actor", "bench", "cli", "common", "envs", "learner", "quantizer", "replay", "rollout")
NOT_INSTALLED = os.path.join(ROOT, "bench", "env_replay")
OPTION = re.compile(r'\{\s*"([a-z][a-z0-9-]+)",\s*(0|\'.\'),\s*(NULL|"[^"]+"),\s*"')
# MEMBER, or what is made of it for some rows.
SETTING = re.compile(r"^    \{[A-Z_]+\([A-Z0-9]+, ([a-z0-9_.]+)[,)]", re.MULTILINE)
VARIABLE = re.compile(r'"(ACTORQ_[A-Z_]+)"')
# Set by ./run for what it starts.
OWN_VARIABLES = {"ACTORQ_CALLED_AS"}


def sources():
    """The text of every C file that is part of a program."""
    for program in PROGRAMS:
        for folder, _, names in os.walk(os.path.join(ROOT, program)):
            for name in names if folder != NOT_INSTALLED else ():
                if name.endswith((".c", ".h")):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        yield file.read()


def page(name):
    """A page as it is formatted from."""
    with open(os.path.join(PAGES, name), encoding="utf-8") as file:
        return file.read()


class TestManuals(unittest.TestCase):
    commands = sorted(os.listdir(os.path.join(PAGES, "man1")))
    pages = {name: page(name) for name in ("actorq.1", "actorq.yaml.5", "actorq-actor.8",
                                           "actorq-learner.8", "actorq-replay.8",
                                           *(f"man1/{name}" for name in commands))}
    every = "\n".join(pages.values())
    code = "\n".join(sources())

    def missing(self, pattern, line):
        """What the code has and the pages have not, and how many there were."""
        found = {match if isinstance(match, str) else match[0]
                 for match in pattern.findall(self.code)}
        return len(found), sorted(name for name in found
                                  if not re.search(line(name), self.every, re.MULTILINE))

    def test_every_option_has_a_line(self):
        count, missing = self.missing(OPTION, lambda name: rf"^\.It .*Fl \\-{name}(?: |$)")
        self.assertGreater(count, 50)
        self.assertEqual(missing, [])

    def test_every_setting_has_a_line(self):
        count, missing = self.missing(SETTING, lambda key: rf"^\.It Ic {re.escape(key)}$")
        self.assertGreater(count, 80)
        self.assertEqual(missing, [])

    def test_every_variable_of_the_environment_has_a_line(self):
        count, missing = self.missing(VARIABLE, lambda name: rf"^\.(It )?Ev .*{name}\b")
        self.assertGreater(count, 8)
        self.assertEqual([name for name in missing if name not in OWN_VARIABLES], [])

    def test_no_page_holds_a_path_of_the_build(self):
        self.assertNotIn(ROOT, self.every)

    def lint(self, *command):
        """What a formatter complains of, over all pages."""
        self.assertTrue(shutil.which(command[0]), f"{command[0]} is not installed")
        said = ""
        for name in self.pages:
            done = subprocess.run([*command, os.path.join(PAGES, name)], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  encoding="utf-8", env={**os.environ, "LC_ALL": "C.UTF-8"})
            said += "".join(line + "\n" for line in done.stdout.split("\n")
                            if "WARNING" in line or "ERROR" in line or "warning" in line)
        return said

    def test_mandoc_has_no_warnings(self):
        self.assertEqual(self.lint("mandoc", "-Tlint", "-Wwarning"), "")

    def test_groff_has_no_warnings(self):
        self.assertEqual(self.lint("groff", "-mandoc", "-Tutf8", "-ww", "-z"), "")

    def test_completions_are_a_script_with_every_command(self):
        path = os.path.join(PAGES, "actorq")
        self.assertEqual(subprocess.run(["bash", "-n", path], check=False).returncode, 0)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        known = {command.replace(" ", "-")
                 for command in re.findall(r"^    '(actorq [a-z -]+)'\)$", text, re.MULTILINE)}
        self.assertGreater(len(self.commands), 20)
        self.assertLessEqual({name.removesuffix(".1") for name in self.commands}, known)

    def test_completions_work_for_what_is_typed_in_a_clone(self):
        for typed, words in (("--conf", "--config"), ("--js", "--json --json=pretty")):
            mock = f"_init_completion() {{ cur={typed} prev=train words=(./run train) cword=2; }}"
            done = subprocess.run(
                ["bash", "-c", f"source {os.path.join(PAGES, 'actorq')}; complete -p ./run; "
                               f"{mock}; _actorq; echo ${{COMPREPLY[@]}}"],
                check=True, stdout=subprocess.PIPE, encoding="utf-8")
            self.assertEqual(done.stdout, f"complete -F _actorq ./run\n{words}\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
