"""tools/symbols.py finds foreign names, shared variables and functions that nobody uses."""

import json
import os
import subprocess
import unittest

from planted_tree import PlantedTree


class Symbols(PlantedTree):
    tool = "symbols.py"
    compiler = os.environ.get("CC", "cc")

    def arguments(self):
        return ["nm", os.path.join(self.root, "build")]

    def build(self, path, code):
        """Makes an object file of the code."""
        output = os.path.join(self.root, "build", path)
        self.plant("build/source.c", code)
        os.makedirs(os.path.dirname(output), exist_ok=True)
        subprocess.run([self.compiler, "-fPIC", "-c", os.path.join(self.root, "build/source.c"),
                        "-o", output], check=True)
        self.list_objects(self.objects + [path])

    def list_objects(self, paths):
        """Makes these the objects of the build."""
        self.objects = paths
        self.plant("build/compile_commands.json", json.dumps([{"output": path} for path in paths]))

    def setUp(self):
        super().setUp()
        self.objects = []
        self.build("cli/cli_main.c.o", """
            int aq_base(void);
            extern const int *const aq_table[];
            extern const int aq_number;
            int main(void) { return aq_base() + *aq_table[0] + aq_number; }""")
        self.build("common/base.c.o", """
            static int hidden;
            static int other(void) { return hidden; }
            int aq_base(void) { return other(); }
            const int *const aq_table[] = {&hidden};
            const int aq_number = 3;""")

    def test_clean_objects_have_no_finding(self):
        self.assertEqual(self.found(), [])

    def test_a_function_without_our_prefix_is_found(self):
        self.build("net/push.c.o", "int send_all(void) { return 0; }")
        self.assertEqual(self.found(), ["net/push.c.o:1 prefix"])

    def test_variables_that_every_file_can_change_are_found(self):
        self.build("net/push.c.o", "int aq_zero; int aq_one = 1; _Thread_local int aq_two;")
        self.assertEqual(self.found(), ["net/push.c.o:1 variable"] * 3)

    def test_a_large_variable_that_does_not_begin_as_zeros_is_found(self):
        self.build("net/push.c.o", """
            static struct { void *at; char all[99999]; } room, full = {&full};
            static const char table[99999] = {1};
            int main(void) { return room.all[1] + (full.at != 0) + table[2]; }""")
        self.assertEqual(self.found(), ["net/push.c.o:1 weight"])

    def test_a_function_that_nobody_else_uses_is_found(self):
        self.build("net/push.c.o", "int aq_push(void) { return 0; } int aq_one(void) { return 1; }"
                   "int (*aq_own(void))(void) { return aq_push; }")
        self.assertEqual(self.found(), ["net/push.c.o:1 unused"] * 3)

    def test_what_only_a_test_uses_is_fine(self):
        self.build("net/push.c.o", "int aq_push(void) { return 0; }")
        self.build("tests/test_push.c.o", "int aq_push(void); int run(void) { return aq_push(); }")
        self.assertEqual(self.found(), [])

    def test_generated_names_belong_to_generated_objects_alone(self):
        self.build("proto/ack.pb-c.c.o", "int actorq__v1__ack__init(void) { return 0; }")
        self.build("net/push.c.o", "int actorq__v1__own(void) { return 0; }")
        self.assertEqual(self.found(), ["net/push.c.o:1 prefix"])

    def test_objects_of_the_tests_are_free(self):
        self.build("tests/kit.c.o", "int kit; int kit_make(void) { return kit; }")
        self.assertEqual(self.found(), [])

    def test_an_object_that_a_former_build_left_is_not_read(self):
        self.build("net/gone.c.o", "int send_all(void) { return 0; }")
        self.list_objects(self.objects[:-1])
        self.assertEqual(self.found(), [])

    def test_nothing_to_look_at_is_found(self):
        self.list_objects([])
        status, output = self.run_tool(*self.arguments())
        self.assertEqual(status, 1)
        self.assertIn("[nothing]", output)


if __name__ == "__main__":
    unittest.main()
