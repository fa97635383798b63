#!/usr/bin/env python3
"""Shows that the worked examples of docs/adding-*.md are as small as they say, and work.

    tests/extend/run.py BUILD_FOLDER PATCH...   applies each to a copy of the tree, and checks it
    tests/extend/run.py --look PATCH...         looks whether they apply, and how large they are

README.md says what a patch looks like. The copy stays in the build folder, so that the next run
builds what has changed.
"""

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from source_tree import SKIPPED_FOLDERS  # noqa: E402

# What accompanies the product.
ACCOMPANYING = re.compile(r"^(tests|bench|docs|examples)/|(^|/)meson\.build$|\.md$")
QUOTED = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```c\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CUT_OUT = "…"
STYLE_TOOLS = ("layers", "tidy", "format")


def read(path):
    """The text of a file."""
    with open(path, encoding="utf-8") as file:
        return file.read()


class Patch:
    """A patch and its first lines: `Check:` names tests of Meson, `Files:` limits product files,
    `Page:` is the document that quotes it."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.name = os.path.basename(path)
        self.text = read(path)
        head = self.text.split("\ndiff --git ", 1)[0]
        fields = dict(re.findall(r"^(Check|Files|Page): *(.+)$", head, re.MULTILINE))
        if set(fields) != {"Check", "Files", "Page"}:
            sys.exit(f"{self.name}: the first lines say Check: TEST..., Files: NUMBER, Page: PATH")
        self.tests = fields["Check"].split()
        self.files_max = int(fields["Files"])
        self.page = fields["Page"]

    def apply(self, root, *options):
        """What `git apply` prints; ends the program where the patch does not apply."""
        # In a folder of a repository, git would pass over files that are not of that folder.
        environment = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(root))
        result = subprocess.run(["git", "apply", *options, self.path], cwd=root, env=environment,
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{self.name} does not apply:\n{result.stderr}")
        return result.stdout

    def look(self, root):
        """Ends the program unless the patch applies, touches as few product files as it says, and
        has every line that its page quotes of it, or shows as code."""
        self.apply(root, "--check")
        paths = [line.split("\t")[2] for line in self.apply(root, "--numstat").splitlines()]
        product = [path for path in paths if not ACCOMPANYING.search(path)]
        print(f"{self.name}: {len(product)} product files of {self.files_max} at most: "
              f"{' '.join(product)}")
        if len(product) > self.files_max:
            sys.exit(f"{self.name} touches too many product files")
        page, lines = read(os.path.join(root, self.page)), self.text.splitlines()
        code = {line[1:] for line in lines if line[:1] in ("+", " ")} | {"", CUT_OUT}
        for quotes, known in ((QUOTED, set(lines)), (CODE, code)):
            for quoted in "".join(quotes.findall(page)).splitlines():
                if quoted not in known:
                    sys.exit(f"{self.page} quotes what is not in {self.name}: {quoted}")


def files_of(root, left_out):
    """Every file below `root`, by its path from there, without build folders and `left_out`."""
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if not SKIPPED_FOLDERS.match(name)
                    and os.path.join(folder, name) != left_out]
        for name in files:
            yield os.path.relpath(os.path.join(folder, name), root)


def make_copy(build, copy):
    """Makes `copy` what the tree is. What is the same keeps its time: Ninja goes by that."""
    wanted = set(files_of(ROOT, build))
    for path in set(files_of(copy, None)) - wanted:
        os.unlink(os.path.join(copy, path))
    for path in wanted:
        source, target = os.path.join(ROOT, path), os.path.join(copy, path)
        if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)
            shutil.copymode(source, target)


def check(patch, copy):
    """Builds what the patch's tests need, runs them, and asks the house style."""
    build = os.path.join(copy, "build")
    if not os.path.exists(os.path.join(build, "build.ninja")):
        subprocess.run(["meson", "setup", build, copy, "--werror", "-Dtests=enabled",
                        "-Doptimization=2", "-Ddebug=false"], check=True)
    subprocess.run(["ninja", "-C", build, "build.ninja"], check=True)
    listed = subprocess.run(["meson", "introspect", "--tests", build], check=True,
                            capture_output=True, text=True).stdout
    unknown = set(patch.tests) - {test["name"] for test in json.loads(listed)}
    if unknown:  # Meson passes over names of none
        sys.exit(f"{patch.name}: there is no test {' '.join(sorted(unknown))}")
    subprocess.run(["meson", "test", "-C", build, "--print-errorlogs", *patch.tests], check=True)
    for tool in STYLE_TOOLS:
        subprocess.run([sys.executable, os.path.join(copy, "tools", f"{tool}.py"), copy],
                       check=True)


def main(where, *paths):
    patches = [Patch(path) for path in paths]
    if where == "--look":
        for patch in patches:
            patch.look(ROOT)
        return
    build = os.path.abspath(where)
    copy = os.path.join(build, "tests", "extend", "tree")
    for patch in patches:
        make_copy(build, copy)
        patch.look(copy)
        patch.apply(copy)
        check(patch, copy)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"failed: {' '.join(error.cmd)}")
