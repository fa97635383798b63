#!/usr/bin/env python3
"""Sums up what `meson test` logged: one row for a stage of ./test, and the logs of what failed.

A cmocka or unittest program counts as many tests as it ran, any other as one; a unittest program
that ran none has failed. A program that ends badly after its tests, by a leak or a crash, is one
failure more.

    tools/test_report.py STAGE LOG.json [SUITE]  a row for the log, or for one suite in it; the exit
                                                 status says whether all passed
    tools/test_report.py --total LOG.json...     what was skipped, and "N passed, N failed" over all
"""

import json
import os
import re
import sys

HEAD_LINES, TAIL_LINES = 60, 60  # a sanitizer says at the beginning what is wrong
CMOCKA = re.compile(r"^\[  (PASSED|FAILED|SKIPPED) +\] (\d+) test\(s\)", re.MULTILINE)
UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
UNITTEST_BAD = re.compile(r"^(?:FAIL|ERROR): (\S+ \(\S+\))", re.MULTILINE)  # of subtests, too
UNITTEST_SKIPPED = re.compile(r"skipped=(\d+)")
SKIPPED_TEST = re.compile(r"^\[  SKIPPED +\] (?!\d+ test)(\S+)$"
                          r"|^(\w+) \(.*\)(?:\n.*)? \.\.\. (skipped .*)$", re.MULTILINE)
GOOD = ("OK", "EXPECTEDFAIL")


def count(row):
    """(passed, failed, skipped) of one program."""
    if row["result"] == "SKIP":
        return 0, 0, 1
    counts = {"PASSED": 0, "FAILED": 0, "SKIPPED": 0}
    text = row.get("stdout", "") + "\n" + row.get("stderr", "")
    for kind, number in CMOCKA.findall(text):
        counts[kind] += int(number)
    ran = UNITTEST.search(text)
    if ran:
        # A test fails once, however many of its subtests do, and so Ran counts it.
        counts["FAILED"] = len(set(UNITTEST_BAD.findall(text[:ran.start()])))
        counts["SKIPPED"] = sum(map(int, UNITTEST_SKIPPED.findall(text[ran.end():])))
        counts["PASSED"] = max(0, int(ran.group(1)) - counts["FAILED"] - counts["SKIPPED"])
    if row["result"] in GOOD and ran and not any(counts.values()):
        counts["FAILED"] = 1
    elif row["result"] in GOOD:
        # A program that says so of itself has passed as a whole.
        counts["PASSED"] = max(counts["PASSED"], 0 if counts["SKIPPED"] else 1)
    elif not counts["FAILED"]:
        counts["FAILED"] = 1
    return counts["PASSED"], counts["FAILED"], counts["SKIPPED"]


def skips(row):
    """What of a program was skipped, in words: the last that the program said, or its tests."""
    program = row["name"].split(" / ")[-1]
    text = row.get("stdout", "") + "\n" + row.get("stderr", "")
    if row["result"] == "SKIP":
        return [f"{program}: {(row.get('stdout', '').strip() or 'skipped').splitlines()[-1]}"]
    named = [f"{program}: " + " ".join(filter(None, found)) for found in SKIPPED_TEST.findall(text)]
    unnamed = count(row)[2] if not named else 0
    return named + [f"{program}: {unnamed} tests, without a name"] * (unnamed > 0)


def text_of(path):
    """What is in a file; nothing where there is none."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def read(path):
    """The rows of a log; one failure if there is no log, or if Meson failed and no test of the log
    did, as tests that vanish must not pass."""
    failure = {"name": os.path.basename(path), "result": "FAIL", "returncode": None}
    if not os.path.exists(path):
        return [dict(failure, stderr="no test ran: is the suite empty?")]
    rows = [json.loads(line) for line in text_of(path).splitlines()]
    status = text_of(path + ".status").strip()
    if status and all(row["result"] in GOOD + ("SKIP",) for row in rows):
        rows.append(dict(failure, returncode=int(status),
                         stderr="Meson ended before its tests did:\n" + text_of(path + ".stderr")))
    return rows


def only(rows, suite):
    """Those of a suite, by names such as "actorq:unit+net / rpc"; one failure if there is none."""
    found = [row for row in rows
             if suite in row["name"].split(" / ")[0].split(":")[-1].split("+")]
    return found or [{"name": suite, "result": "FAIL", "returncode": None,
                      "stderr": "no test ran: is the suite empty?"}]


def show(row):
    """A failed program's log, without its middle if it is long."""
    how = f" with status {row['returncode']}" if row.get("returncode") is not None else ""
    print(f"\n--- {row['name']}: {row['result']}{how}")
    lines = (row.get("stdout", "") + row.get("stderr", "")).rstrip().split("\n")
    if len(lines) > HEAD_LINES + TAIL_LINES:
        lines[HEAD_LINES:-TAIL_LINES] = [f"... {len(lines) - HEAD_LINES - TAIL_LINES} lines ..."]
    for line in lines:
        print("    " + line)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--total":
        rows = [row for path in sys.argv[2:] for row in read(path)]
    else:
        rows = read(sys.argv[2])
        rows = only(rows, sys.argv[3]) if len(sys.argv) > 3 else rows
    passed, failed, skipped = (sum(column) for column in zip(*map(count, rows)))
    if sys.argv[1] == "--total":
        for line in sorted({line for row in rows for line in skips(row)}):
            print("skipped      " + line)
        print(f"{passed} passed, {failed} failed")
        return 1 if failed else 0
    seconds = sum(row.get("duration", 0) for row in rows)
    extra = f", {skipped} skipped" if skipped else ""
    print(f"{sys.argv[1]:<12} {passed:5} passed, {failed} failed{extra} "
          f"({len(rows)} programs, {seconds:.1f} s of tests)")
    for row in rows:
        if count(row)[1]:
            show(row)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
