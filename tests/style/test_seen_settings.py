"""What actors and shards read of the configuration is among the settings that they are told.

    test_seen_settings.py [unittest's arguments]

Any other setting is 0 there, which no test of the code that reads it would notice.
"""

import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = "common/config/run_config_table.c"
ROW = re.compile(r"\{(?:LIVE_|KEPT_)?(?:SEEN_)?MEMBER\(\w+, ([\w.]+)(?:, ([A-Z |]+))?\)")
READ = re.compile(r"\bconfig(?:->|\.)(\w+\.\w+)")
READERS = {
    "actor": {"ACTORS", "EVALUATORS", "MEMBERS"},
    "replay": {"SHARDS", "MEMBERS"},
    "common/member": {"MEMBERS"},
}


def text_of(path):
    """The text of a file of the tree."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def rows_of(table):
    """{key: who sees it} for each row."""
    return {key: set(who.split(" | ")) if who else set() for key, who in ROW.findall(table)}


def unseen(rows, readers, code):
    """The settings that this code reads, although none of these readers sees them."""
    return sorted({key for key in READ.findall(code) if key in rows and not rows[key] & readers})


def sources_of(folder):
    """The paths of all C below a folder."""
    return [os.path.relpath(os.path.join(where, name), ROOT)
            for where, _, names in os.walk(os.path.join(ROOT, folder))
            for name in names if name.endswith((".c", ".h"))]


class TestSeenSettings(unittest.TestCase):
    def test_what_is_read_is_seen(self):
        rows = rows_of(text_of(TABLE))
        self.assertGreater(len(rows), 80)
        self.assertGreater(sum(bool(who) for who in rows.values()), 20)
        for folder, readers in READERS.items():
            paths = sources_of(folder)
            self.assertTrue(paths, folder)
            for path in paths:
                self.assertEqual(unseen(rows, readers, text_of(path)), [], path)

    def test_what_is_not_seen_is_found(self):
        rows = rows_of("""
            {MEMBER(F64, actor.secret), "0", 0, 1, NULL, "", "..."},
            {LIVE_SEEN_MEMBER(F64, actor.noise, ACTORS), "0.2", 0, 2, NULL, "", "..."},
            {SEEN_MEMBER(U64, actor.envs, ACTORS | SHARDS), "8", 1, 4096, NULL, "", "..."},
        """)
        code = "x = config->actor.noise + settings->config.actor.envs + config.limits.bytes;"
        self.assertEqual(unseen(rows, READERS["actor"], code), [])
        self.assertEqual(unseen(rows, READERS["replay"], code), ["actor.noise"])
        self.assertEqual(unseen(rows, READERS["actor"], "y = &config->actor.secret;"),
                         ["actor.secret"])


if __name__ == "__main__":
    unittest.main()
