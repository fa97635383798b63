"""tools/symbols.py finds foreign names and shared variables in static libraries."""

import os
import subprocess
import unittest

from planted_tree import PlantedTree


class Symbols(PlantedTree):
    tool = "symbols.py"
    compiler = os.environ.get("CC", "cc")

    def arguments(self):
        return ["nm", os.path.join(self.root, "build")]

    def build(self, library, code):
        """Makes a static library of the code."""
        path = os.path.join(self.root, "build", library)
        self.plant("build/source.c", code)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run([self.compiler, "-fPIC", "-c", os.path.join(self.root, "build/source.c"),
                        "-o", path + ".o"], check=True)
        subprocess.run(["ar", "rc", path, path + ".o"], check=True)

    def setUp(self):
        super().setUp()
        self.build("common/libaq_base.a", """
            static int hidden;
            static int other(void) { return hidden; }
            int aq_base(void) { return other(); }
            const int *const aq_table[] = {&hidden};
            const int aq_number = 3;""")

    def test_a_clean_library_has_no_finding(self):
        self.assertEqual(self.found(), [])

    def test_a_function_without_our_prefix_is_found(self):
        self.build("libaq_net.a", "int send_all(void) { return 0; }")
        self.assertEqual(self.found(), ["libaq_net.a:1 prefix"])

    def test_variables_that_every_file_can_change_are_found(self):
        self.build("libaq_net.a", "int aq_zero; int aq_one = 1; _Thread_local int aq_two;")
        self.assertEqual(self.found(), ["libaq_net.a:1 variable"] * 3)

    def test_generated_names_belong_to_the_generated_library_alone(self):
        self.build("libaq_proto.a", "int actorq__v1__ack__init(void) { return 0; }")
        self.build("libaq_net.a", "int actorq__v1__own(void) { return 0; }")
        self.assertEqual(self.found(), ["libaq_net.a:1 prefix"])

    def test_libraries_of_the_tests_are_free(self):
        self.build("tests/libkit.a", "int kit; int kit_make(void) { return kit; }")
        self.assertEqual(self.found(), [])

    def test_nothing_to_look_at_is_found(self):
        os.remove(os.path.join(self.root, "build/common/libaq_base.a"))
        status, output = self.run_tool(*self.arguments())
        self.assertEqual(status, 1)
        self.assertIn("[nothing]", output)


if __name__ == "__main__":
    unittest.main()
