#!/usr/bin/env python3
"""Whether the seeds that are messages and files of ours are as they would be made today.

    tests/fuzz/seeds_are_current.py FUZZ_SEEDS_MAKE SEEDS

A message of before is refused at the first setting that it lacks, and then nothing behind that is
looked at.
"""

import pathlib
import subprocess
import sys
import tempfile

make, kept = sys.argv[1], pathlib.Path(sys.argv[2])
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for target in kept.iterdir():
        (folder / target.name).mkdir()
    subprocess.run([make, folder], check=True)
    made = [path.relative_to(folder) for path in folder.glob("*/*")]
    old = [str(path) for path in made if not (kept / path).exists()
           or (folder / path).read_bytes() != (kept / path).read_bytes()]
assert made
if old:
    sys.exit(f"no longer as they are made: {', '.join(sorted(old))}\n"
             "renew them: build-test/tests/fuzz/fuzz_seeds_make tests/fuzz/seeds")
