#!/usr/bin/env python3
"""A disk that is full is seen while the run lasts, and is an error at its end.

The disk is a small tmpfs in a mount namespace, which not every host allows; then this is skipped.

    test_trouble.py ACTORQ SOURCE_ROOT
"""

import json
import os
import re
import subprocess

from newcomer import ACTORQ, Newcomer, main

CANNOT = re.compile(" cannot (write|keep or publish): ")  # the shard, the learner
PLACE = ["unshare", "--map-root-user", "--mount"]
SECONDS = ("6", "30")  # that it lasts; in the fewer a busy machine may not get to say it
RUN = ("mount -t tmpfs -o size=600k tmpfs disk && "
       f"exec '{ACTORQ}' train gym:CartPole-v1 --run disk/x --no-http --json "
       "--set limits.env_steps=100000000 --set replay.segment_bytes=1048576 "
       "--set evaluator.threshold=1e9 --set limits.wall_s=")


class TestTrouble(Newcomer):
    def test_a_full_disk(self):
        if subprocess.run([*PLACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=False,
                          capture_output=True).returncode != 0:
            self.skipTest("no mount namespace may be made here")
        os.mkdir("disk")
        for seconds in SECONDS:
            done = subprocess.run([*PLACE, "/bin/sh", "-c", RUN + seconds], capture_output=True,
                                  text=True, check=False)
            *lines, last = done.stderr.splitlines()
            seen = any(CANNOT.search(line) and "% " in line for line in lines)
            if seen:
                break
        self.assertEqual(done.returncode, 1, done.stderr)
        report = json.loads(done.stdout)
        self.assertRegex(report["trouble"], CANNOT)
        self.assertEqual(last, "actorq train: the run ended in trouble: " + report["trouble"])
        self.assertTrue(seen, done.stderr)


if __name__ == "__main__":
    main()
