#!/usr/bin/env python3
"""Names what Ninja has to build for some suites of tests, one target a line.

    tools/test_targets.py [--suite=NAME...] [--no-suite=NAME...] FOLDER

Meson's own `ninja` builds every test and program: under a sanitizer, a third of that is never run.
"""

import json
import os
import sys


def read(folder, name):
    """What Meson says of its tests or targets."""
    with open(os.path.join(folder, "meson-info", f"intro-{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def names_after(arguments, option):
    """The suites given by that option."""
    return {argument[len(option):] for argument in arguments if argument.startswith(option)}


def main(*arguments):
    folder = arguments[-1]
    wanted, unwanted = names_after(arguments, "--suite="), names_after(arguments, "--no-suite=")
    needed = set()
    for test in read(folder, "tests"):
        suites = {suite.split(":")[-1] for suite in test["suite"]}
        if suites & wanted and not suites & unwanted:
            needed.update(test["depends"])
    for target in read(folder, "targets"):
        if target["id"] in needed:
            for path in target["filename"]:
                print(os.path.relpath(path, os.path.realpath(folder)))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
