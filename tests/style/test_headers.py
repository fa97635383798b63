"""tools/headers.py finds headers that do not stand alone, and those that nobody reads."""

import json
import os
import unittest

from planted_tree import PlantedTree


class Headers(PlantedTree):
    tool = "headers.py"
    compiler = os.environ.get("CC", "cc")

    def arguments(self):
        return [os.path.join(self.root, "build"), self.root]

    def setUp(self):
        super().setUp()
        os.makedirs(os.path.join(self.root, "build"))
        self.rows = []
        for path in ("common/base/error.c", "replay/daemon/replay_net.c",
                     "tests/unit/common/base/test_error.c"):
            self.compile(path)

    def compile(self, path, flags=""):
        """Puts a source into the compilation database."""
        self.rows.append({
            "directory": os.path.join(self.root, "build"), "file": os.path.join("..", path),
            "command": f"{self.compiler} -I.. {flags} -Wall -MD -MQ x.o -MF x.o.d -o x.o "
                       f"-c ../{path}"})
        self.plant("build/compile_commands.json", json.dumps(self.rows))

    def plant_header(self, name, code, user="cli/user.c", flags=""):
        guard = f"AQ_CLI_{name.upper()}_H"
        self.plant(f"cli/{name}.h",
                   f"/* A header. */\n#ifndef {guard}\n#define {guard}\n{code}\n#endif\n")
        self.plant(user, f'/* Its user. */\n#include <stdint.h>\n#include "cli/{name}.h"\n')
        self.compile(user, flags)

    def test_a_clean_tree_has_no_finding(self):
        self.assertEqual(self.found(), [])

    def test_a_header_that_needs_another_is_found(self):
        self.plant_header("needy", "uint32_t aq_needy(void);")
        self.assertEqual(self.found(), ["cli/needy.h:1 alone"])

    def test_a_header_that_the_compiler_warns_of_is_found(self):
        self.plant_header("odd", "static inline int aq_odd(void)\n{\n}")
        self.assertEqual(self.found(), ["cli/odd.h:1 alone"])

    def test_a_header_that_a_source_begins_with_was_checked_by_its_compilation(self):
        self.plant_header("needy", "uint32_t aq_needy(void);")
        self.plant("cli/needy.c", '/* A file. */\n#include "cli/needy.h"\n')
        self.compile("cli/needy.c")
        self.assertEqual(self.found(), [])

    def test_a_header_is_read_with_the_flags_of_its_user(self):
        self.plant_header("flagged", "#ifndef RUNG\n#error no rung\n#endif", flags="-DRUNG=1")
        self.assertEqual(self.found(), [])

    def test_a_user_that_is_built_twice_may_have_the_flags_in_either(self):
        self.plant_header("flagged", "#ifndef RUNG\n#error no rung\n#endif")
        self.assertEqual(self.found(), ["cli/flagged.h:1 alone"])
        self.compile("cli/user.c", "-DRUNG=1")
        self.assertEqual(self.found(), [])

    def test_a_header_behind_another_has_the_flags_of_the_nearest_user(self):
        self.plant_header("front", '#include "cli/deep.h"', flags="-DRUNG=1")
        self.plant("cli/deep.h", "/* A header. */\n#ifndef RUNG\n#error no rung\n#endif\n")
        self.assertEqual(self.found(), [])

    def test_a_header_that_nobody_reads_is_found(self):
        self.plant("cli/lonely.h", "/* A header. */\n")
        self.assertEqual(self.found(), ["cli/lonely.h:1 unused"])

    def test_a_source_that_nothing_builds_is_found(self):
        self.plant("cli/lost.c", "/* A file. */\n")
        self.assertEqual(self.found(), ["cli/lost.c:1 unbuilt"])

    def test_what_only_some_builds_hold_may_be_missing(self):
        self.plant("tests/fuzz/fuzz_a.c", "/* A file. */\n")
        self.plant("tests/fuzz/fuzz_a.h", "/* A header. */\n")
        self.assertEqual(self.found(), [])


if __name__ == "__main__":
    unittest.main()
