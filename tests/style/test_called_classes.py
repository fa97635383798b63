"""A build file that calls classes of tests by their names calls each that their file has: one that
is left out is never run.

    test_called_classes.py [unittest's arguments]
"""

import ast
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILE = re.compile(r"files\('([^']+\.py)'\)")


def text_of(path):
    """The text of a file of the tree."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def classes_of(source):
    """The classes with tests of their own."""
    return {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef) and
            any(isinstance(each, ast.FunctionDef) and each.name.startswith("test")
                for each in node.body)}


def by_name(build, source):
    """(the classes that are called by their names, those that are left out) of a source."""
    classes = classes_of(source)
    called = classes & set(re.findall(r"'(\w+)'", build))
    return called, classes - called if called else set()


class TestCalledClasses(unittest.TestCase):
    def test_all_of_a_file_are_called(self):
        count = 0
        for folder, _, names in os.walk(os.path.join(ROOT, "tests")):
            build = text_of(os.path.join(folder, "meson.build")) if "meson.build" in names else ""
            for path in FILE.findall(build):
                called, left_out = by_name(build, text_of(os.path.join(folder, path)))
                self.assertEqual(left_out, set(), f"{folder}/meson.build: {path}")
                count += bool(called)
        self.assertGreaterEqual(count, 3)

    def test_one_that_is_left_out_is_found(self):
        source = "class Kit:\n    def begin(self):\n        pass\n" + "".join(
            f"class Test{name}(Kit):\n    def test_it(self):\n        pass\n" for name in "AB")
        self.assertEqual(by_name("args: [file, 'TestA']", source), ({"TestA"}, {"TestB"}))
        self.assertEqual(by_name("args: [file, 'TestA', 'TestB']", source)[1], set())
        self.assertEqual(by_name("args: [file, 'Kit']", source), (set(), set()))


if __name__ == "__main__":
    unittest.main()
