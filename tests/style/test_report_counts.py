"""tools/test_report.py counts what ran, and never takes silence for success."""

import json
import os
import unittest

from planted_tree import PlantedTree


class TestReport(PlantedTree):
    tool = "test_report.py"

    def report(self, *rows, stage="unit"):
        """(exit status, first line; of the total, all) for a log of these programs."""
        log = os.path.join(self.root, "log.json")
        self.plant("log.json", "".join(json.dumps(row) + "\n" for row in rows))
        status, output = self.run_tool(stage, log)
        return status, output.strip() if stage == "--total" else output.split("\n")[0]

    def test_cmocka_tests_are_counted_one_by_one(self):
        row = {"name": "a", "result": "OK", "stderr": "[  PASSED  ] 7 test(s).\n"}
        self.assertEqual(self.report(row, row, stage="--total"), (0, "14 passed, 0 failed"))

    def test_unittest_tests_are_counted_one_by_one(self):
        row = {"name": "a", "result": "FAIL", "returncode": 1,
               "stderr": "FAIL: test_a (t.T.test_a)\nERROR: test_b (t.T.test_b)\n"
                         "Ran 9 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=2)\n"}
        self.assertEqual(self.report(row, stage="--total"),
                         (1, "skipped      a: 2 tests, without a name\n5 passed, 2 failed"))

    def test_a_unittest_with_subtests_that_fail_is_one(self):
        for ran, passed in ((2, 1), (1, 0)):
            row = {"name": "a", "result": "FAIL", "returncode": 1, "stderr":
                   "FAIL: test_a (t.T.test_a) (i=0)\nFAIL: test_a (t.T.test_a) [words] (i=1)\n"
                   f"ERROR: test_a (t.T.test_a) (i=2)\nRan {ran} tests in 0.1s\n\n"
                   "FAILED (failures=2, errors=1)\n"}
            self.assertEqual(self.report(row, stage="--total"), (1, f"{passed} passed, 1 failed"))

    def test_a_class_that_cannot_be_set_up_is_a_failure(self):
        row = {"name": "a", "result": "FAIL", "returncode": 1, "stderr":
               "ERROR: setUpClass (t.T)\nRan 0 tests in 0.1s\n\nFAILED (errors=1)\n"}
        self.assertEqual(self.report(row, stage="--total"), (1, "0 passed, 1 failed"))

    def test_a_unittest_that_ran_no_test_is_a_failure(self):
        row = {"name": "a", "result": "OK", "stderr": "Ran 0 tests in 0.0s\n\nOK\n"}
        self.assertEqual(self.report(row, stage="--total"), (1, "0 passed, 1 failed"))
        self.report(row)
        _, output = self.run_tool("unit", os.path.join(self.root, "log.json"))
        self.assertIn("Ran 0 tests", output)

    def test_any_other_program_counts_as_one(self):
        rows = [{"name": "a", "result": "OK", "stdout": "fine\n"},
                {"name": "b", "result": "FAIL", "returncode": 3, "stdout": "bad\n"}]
        self.assertEqual(self.report(*rows, stage="--total"), (1, "1 passed, 1 failed"))

    def test_failed_tests_are_counted_one_by_one(self):
        row = {"name": "a", "result": "FAIL", "returncode": 2, "stderr":
               "[  PASSED  ] 3 test(s).\n[  FAILED  ] 2 test(s), listed below:\n"}
        self.assertEqual(self.report(row, stage="--total"), (1, "3 passed, 2 failed"))

    def test_a_leak_after_the_last_test_is_a_failure(self):
        row = {"name": "a", "result": "FAIL", "returncode": 1,
               "stderr": "[  PASSED  ] 3 test(s).\nERROR: LeakSanitizer\n"}
        self.assertEqual(self.report(row, stage="--total"), (1, "3 passed, 1 failed"))

    def test_a_timeout_is_a_failure(self):
        row = {"name": "a", "result": "TIMEOUT", "returncode": -15}
        self.assertEqual(self.report(row, stage="--total"), (1, "0 passed, 1 failed"))

    def test_a_skipped_program_is_neither_and_says_why(self):
        row = {"name": "actorq:style / format", "result": "SKIP", "stdout": "not installed\n"}
        self.assertEqual(self.report(row, stage="--total"),
                         (0, "skipped      format: not installed\n0 passed, 0 failed"))

    def test_a_skipped_test_is_named_once(self):
        row = {"name": "actorq:unit / a", "result": "OK", "stderr":
               "[  SKIPPED ] on_a_disk\n[  PASSED  ] 3 test(s).\n"
               "[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] on_a_disk\n"}
        self.assertEqual(self.report(row, row, stage="--total"),
                         (0, "skipped      a: on_a_disk\n6 passed, 0 failed"))

    def test_skipped_tests_without_names_are_told_all_the_same(self):
        row = {"name": "actorq:unit / a", "result": "OK",
               "stderr": ".s\nRan 2 tests in 0.1s\n\nOK (skipped=1)\n"}
        self.assertEqual(self.report(row, stage="--total"),
                         (0, "skipped      a: 1 tests, without a name\n1 passed, 0 failed"))

    def test_a_meson_that_ended_early_is_a_failure(self):
        row = {"name": "a", "result": "OK", "stderr": "[  PASSED  ] 7 test(s).\n"}
        self.plant("log.json.status", "1\n")
        self.assertEqual(self.report(row, stage="--total"), (1, "7 passed, 1 failed"))
        row["result"] = "FAIL"  # which says it
        self.assertEqual(self.report(row, stage="--total"), (1, "7 passed, 1 failed"))

    def test_a_skipped_test_in_python_says_why(self):
        row = {"name": "actorq:style / manuals", "result": "OK", "stderr":
               "test_b (__main__.Manuals.test_b) ... skipped 'no groff'\n"
               "test_c (__main__.Manuals.test_c) ... ok\n\nRan 2 tests in 0.1s\n\n"
               "OK (skipped=1)\n"}
        self.assertEqual(self.report(row, stage="--total"),
                         (0, "skipped      manuals: test_b skipped 'no groff'\n"
                             "1 passed, 0 failed"))

    def test_a_missing_log_is_a_failure(self):
        status, output = self.run_tool("unit", os.path.join(self.root, "none.json"))
        self.assertEqual(status, 1)
        self.assertIn("no test ran", output)

    def test_the_log_of_a_failure_is_shown_without_its_middle(self):
        text = "".join(f"line {i}\n" for i in range(1000))
        self.report({"name": "a", "result": "FAIL", "returncode": 1, "stdout": text})
        _, output = self.run_tool("unit", os.path.join(self.root, "log.json"))
        self.assertIn("line 0\n", output)
        self.assertIn("line 999\n", output)
        self.assertNotIn("line 500\n", output)

    def test_a_suite_in_a_log_is_counted_alone(self):
        self.plant("log.json", "".join(json.dumps({"name": name, "result": "OK"}) + "\n"
                                       for name in ("actorq:unit+net / a", "actorq:sim / b",
                                                    "actorq:unit / c")))
        log = os.path.join(self.root, "log.json")
        self.assertIn(" 2 passed, 0 failed", self.run_tool("unit", log, "unit")[1])
        self.assertIn(" 1 passed, 0 failed", self.run_tool("sim", log, "sim")[1])

    def test_a_suite_without_tests_is_a_failure(self):
        self.plant("log.json", json.dumps({"name": "actorq:sim / b", "result": "OK"}) + "\n")
        status, output = self.run_tool("unit", os.path.join(self.root, "log.json"), "unit")
        self.assertEqual(status, 1)
        self.assertIn("no test ran", output)


if __name__ == "__main__":
    unittest.main()
