#!/usr/bin/env python3
"""Checks that every source is laid out by .clang-format; --fix lays them out.

Other versions of clang-format lay out a few lines differently, so only Debian 12's counts; without
it nothing is checked, which is a failure.

    tools/format.py [--fix] [ROOT]
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

from source_tree import Findings, root_from_arguments, walk

VERSION = 14
NAMES = (f"clang-format-{VERSION}", "clang-format")
FILES_AT_ONCE = 20
PLACE = r"^(\S+?):(\d+):\d+: warning"


def find_formatter():
    """The clang-format of our version, or None."""
    for name in NAMES:
        if shutil.which(name):
            version = subprocess.check_output([name, "--version"], text=True)
            if re.search(rf"version {VERSION}\.", version):
                return name
    return None


def main():
    fix = "--fix" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--fix"]
    root = root_from_arguments()
    formatter = find_formatter()
    if formatter is None:
        print(f"clang-format {VERSION} is not installed (Debian's package is {NAMES[0]}), so that "
              "nothing was checked")
        return 1
    paths = [source.path for source in walk(root) if source.is_c]
    command = [formatter, "-i"] if fix else [formatter, "--dry-run"]

    def run(some):
        return subprocess.run(command + some, cwd=root, capture_output=True, text=True,
                              check=True).stderr

    findings = Findings()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = [paths[i:i + FILES_AT_ONCE] for i in range(0, len(paths), FILES_AT_ONCE)]
        for text in pool.map(run, parts):
            for path, line in sorted(set(re.findall(PLACE, text, re.MULTILINE))):
                findings.add(path, int(line), "format", "tools/format.py --fix lays it out")
    return findings.finish("format", f"{len(paths)} files")


if __name__ == "__main__":
    sys.exit(main())
