#!/usr/bin/env python3
"""Checks what our static libraries show to the linker: prefixed names, and no variables.

A name without our prefix can collide with a library's; a variable that another file can change is
state that nobody passed down. Tables of constants are fine, and so are the tests' own libraries.

    tools/symbols.py NM BUILD      BUILD is a Meson build folder
"""

import os
import re
import subprocess
import sys

from source_tree import Findings

OURS = re.compile(r"aq_\w+$")
GENERATED = re.compile(r"actorq__v1__\w+$")  # protobuf-c, from the package of proto/*.proto
WRITABLE = re.compile(r"\.t?(bss|data)(\.(?!rel\.ro).*)?$|\*COM\*$|COMMON$")


def libraries_of(build):
    """The static libraries of the product in a build folder."""
    for folder, names, files in os.walk(build):
        names[:] = sorted(name for name in names if name not in ("tests", "meson-private"))
        yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(".a"))


def symbols_of(nm, library):
    """(name, section) of each global symbol that the library defines."""
    done = subprocess.run([nm, "--defined-only", "--extern-only", "--format=sysv", library],
                          capture_output=True, text=True, check=True)
    for line in done.stdout.split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and cells[0] != "Name":
            yield cells[0], cells[6]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    findings = Findings()
    count = 0
    libraries = list(libraries_of(sys.argv[2]))
    for library in libraries:
        name = os.path.basename(library)
        generated = name.startswith("libaq_proto")
        for symbol, section in symbols_of(sys.argv[1], library):
            count += 1
            if not (GENERATED if generated else OURS).match(symbol):
                findings.add(name, 1, "prefix", f"{symbol} does not begin with aq_")
            if not generated and WRITABLE.match(section):
                findings.add(name, 1, "variable", f"{symbol} can be changed by every file")
    if not count:
        findings.add(sys.argv[2], 1, "nothing", "no static library with symbols: not built?")
    return findings.finish("symbols", f"{count} symbols of {len(libraries)} libraries")


if __name__ == "__main__":
    sys.exit(main())
