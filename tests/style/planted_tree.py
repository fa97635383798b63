"""A small, clean tree of sources in a temporary folder, to plant faults in: the checks of tools/
must find each of them, and nothing in the tree as it was."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

CLEAN = {
    "common/base/error.h": """/* Errors. */
#ifndef AQ_COMMON_BASE_ERROR_H
#define AQ_COMMON_BASE_ERROR_H

#define AQ_MUST_USE __attribute__((warn_unused_result))

int aq_error_find(const char *name) AQ_MUST_USE;

#endif
""",
    "common/base/error.c": """/* Errors: see error.h. */
#include "common/base/error.h"

#include <string.h>

int aq_error_find(const char *name)
{
    if (strcmp(name, "tcp://rand(") == 0) {
        return 1;
    } else if (name[0] == 'x') {
        return 2;
    }
    do {
        name++;
    } while (*name != 0);
    return -1;
}
""",
    "replay/shard/replay_core.h": """/* The shard's core: see <https://example.org>, not time(). */
#ifndef AQ_REPLAY_SHARD_REPLAY_CORE_H
#define AQ_REPLAY_SHARD_REPLAY_CORE_H

#include "common/base/error.h"

typedef struct aq_replay_core aq_replay_core;

#endif
""",
    "replay/daemon/replay_net.c": """/* The shard's shell. */
#include "proto/rpc.pb-c.h"
#include "replay/shard/replay_core.h"
""",
    "proto/rpc.proto": "syntax = \"proto3\";\n",
    "docs/operations.md": "How to run it.\n",
    "docs/events.md": "| event | level | fields |\n| `ready` | info | `url`, `pid` | it serves |\n",
    "tests/unit/common/base/test_error.c": """/* Errors are found. */
#include "common/base/error.h"
""",
}


class PlantedTree(unittest.TestCase):
    """A test of one tool; `plant` puts files into the clean tree, `found` are the rules broken."""

    tool = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="actorq-style-")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for path, text in CLEAN.items():
            self.plant(path, text)

    def plant(self, path, text):
        """Writes a file of the tree."""
        os.makedirs(os.path.dirname(os.path.join(self.root, path)) or self.root, exist_ok=True)
        with open(os.path.join(self.root, path), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def insert(self, path, old, new):
        """Puts a fault into a clean file."""
        self.assertIn(old, CLEAN[path])
        self.plant(path, CLEAN[path].replace(old, new, 1))

    def run_tool(self, *arguments):
        """(exit status, output) of the tool."""
        done = subprocess.run(
            [sys.executable, os.path.join(ROOT, "tools", self.tool), *arguments],
            capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def arguments(self):
        """What the tool is called with."""
        return [self.root]

    def found(self):
        """The findings as "path:line rule"."""
        status, output = self.run_tool(*self.arguments())
        rows = [f"{path}:{line} {rule}"
                for path, line, rule in re.findall(r"^(\S+):(\d+): \[([\w-]+)\]", output, re.M)]
        self.assertEqual(status, 1 if rows else 0, output)
        return rows
