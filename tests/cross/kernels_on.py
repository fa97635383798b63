"""Checks the kernels on a processor that qemu plays, and that the rung for it is the one chosen.

    kernels_on.py QEMU CPU RUNG KERNELS
"""

import shutil
import subprocess
import sys

SKIPPED = 77  # Meson's word for it

qemu, cpu, rung, kernels = sys.argv[1:5]
if shutil.which(qemu) is None:
    print(f"skipped: no {qemu}")
    sys.exit(SKIPPED)
result = subprocess.run([qemu, "-cpu", cpu, kernels, "all", "--quick"], stdout=subprocess.PIPE,
                        text=True, check=False)
print(result.stdout, end="")
chosen = result.stdout.split("\n", 1)[0].rpartition("rung: ")[2]
if chosen != rung:
    print(f"FAILED: {cpu} should have chosen {rung}, not {chosen!r}")
if result.returncode < 0:
    print(f"FAILED: ended by signal {-result.returncode}")
sys.exit(result.returncode != 0 or chosen != rung)
