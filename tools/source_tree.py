"""What the style checks share: the files of the tree, C without its comments, and findings.

Python's standard library only: Meson needs Python already, so the checks need no package.
"""

import os
import re
import sys

SKIPPED_FOLDERS = re.compile(r"^(\.(?!ci$).*|build.*|runs|__pycache__)$")
C_SUFFIXES = (".c", ".cpp", ".h")


class Source:
    """One file of the tree, by its path from the root."""

    def __init__(self, root, path):
        self.path = path
        self.name = os.path.basename(path)
        self.folder = os.path.dirname(path)
        with open(os.path.join(root, path), "rb") as file:
            self.bytes = file.read()
        self.text = self.bytes.decode("utf-8", "replace")
        self.lines = self.text.split("\n")
        self.is_c = path.endswith(C_SUFFIXES)
        self.is_header = path.endswith(".h")
        self.is_test = path.startswith("tests/")
        self.code, self.line_comments = strip_c(self.text) if self.is_c else (self.text, [])

    def line_of(self, offset):
        """The line, from 1, of a place in `text` (and in `code`, which is as long)."""
        return self.text.count("\n", 0, offset) + 1


def walk(root):
    """Every file of the tree as a Source, in a stable order."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not SKIPPED_FOLDERS.match(name))
        for name in sorted(files):
            path = os.path.relpath(os.path.join(folder, name), root)
            if not os.path.islink(os.path.join(root, path)):
                yield Source(root, path)


C_TOKEN = re.compile(
    r"""(?P<block>/\*.*?(?:\*/|\Z))
      | (?P<line>//[^\n]*)
      | (?P<include>^[ \t]*\#[ \t]*include[^\n]*)
      | (?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def strip_c(text):
    """C with its comments and the insides of its literals blanked, every offset kept; and the
    offsets of `//` comments."""
    line_comments = []

    def blank(match):
        piece = match.group(0)
        if match.lastgroup == "include":
            return piece
        if match.lastgroup == "line":
            line_comments.append(match.start())
        if match.lastgroup == "text":
            return piece[0] + " " * (len(piece) - 2) + piece[-1]
        return re.sub(r"[^\n]", " ", piece)

    return C_TOKEN.sub(blank, text), line_comments


def includes(source):
    """(line number, delimiter, path) of each #include."""
    for number, line in enumerate(source.code.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^">]+)[">]', line)
        if match:
            yield number, match.group(1), match.group(2)


class Findings:
    """What is wrong, as compilers write it, so that editors can jump there."""

    def __init__(self):
        self.rows = []

    def add(self, path, line, rule, text):
        self.rows.append((path, line, rule, text))

    def finish(self, tool, checked):
        """Prints the findings and a summary; returns the exit status."""
        for path, line, rule, text in sorted(self.rows):
            print(f"{path}:{line}: [{rule}] {text}")
        print(f"{tool}: {len(self.rows)} findings in {checked}")
        return 1 if self.rows else 0


def root_from_arguments():
    """The tree to check: the first argument, or the one that this file lies in."""
    if len(sys.argv) > 1:
        return os.path.abspath(sys.argv[1])
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
