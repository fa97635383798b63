#!/usr/bin/env python3
"""Checks what our objects bring to the linker: prefixed names, no variables, nothing unused.

A name without our prefix can collide with a library's; a variable that another file can change is
state that nobody passed down; a function that no other file uses is static, or dead. Tables of
constants are fine, and so is what only the tests use. A large variable begins as zeros, or it lies
in the file of every program. Objects of the tests themselves are free.

    tools/symbols.py NM BUILD      BUILD is a Meson build folder, with tests
"""

import json
import os
import re
import subprocess
import sys

from source_tree import Findings

OURS = re.compile(r"aq_\w+$|main$")
GENERATED = re.compile(r"actorq__v1__\w+$")  # protobuf-c, from the package of proto/*.proto
# Stand in for functions that NNG calls (nng_mend.c and tls_mend.c say why), so the names are given.
STAND_INS = {"accept", "bind", "close", "connect", "getaddrinfo", "getsockopt", "mbedtls_pk_sign",
             "mbedtls_pk_sign_restartable", "mbedtls_pk_verify_ext", "mbedtls_ssl_config_defaults",
             "mbedtls_ssl_handshake", "mbedtls_ssl_read", "nng_stream_recv", "nng_stream_send",
             "pthread_create", "readv", "sendmsg", "setsockopt", "sysconf"}
LOOKED_UP = {"aq_gradient_settle", "aq_rank_link_open"}  # by name, in modules that are loaded
# What libactorq gives others, by its header; and by what Python finds a module.
PUBLISHED = re.compile(r"library/.*:actorq_\w+$|python/.*:PyInit__actorq$")
INITIAL_BYTES_MAX = 65536  # of a variable
WRITABLE = re.compile(r"\.t?(bss|data)(\.(?!rel\.ro).*)?$|\*COM\*$|COMMON$")


def objects_of(build):
    """The object files of a build, by their paths from its folder."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        return sorted(row["output"] for row in json.load(file))


def symbols_of(nm, build, objects):
    """(object, name, whether others see it, bytes, section) of each symbol; the section is "*UND*"
    where it is used."""
    command = [nm, "--print-file-name", "--format=sysv", *objects]
    done = subprocess.run(command, cwd=build, capture_output=True, text=True, check=True)
    for line in done.stdout.split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7:
            path, name = cells[0].rsplit(":", 1)
            yield path, name, not cells[2].islower(), int(cells[4] or "0", 16), cells[6]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    findings = Findings()
    objects = objects_of(sys.argv[2])
    symbols = list(symbols_of(sys.argv[1], sys.argv[2], objects)) if objects else []
    used = {name for _, name, _, _, section in symbols if section == "*UND*"}
    count = 0
    for path, name, is_shared, size, section in symbols:
        if section == "*UND*" or path.startswith("tests/") or name in STAND_INS:
            continue
        if size > INITIAL_BYTES_MAX and section.startswith(".data"):
            findings.add(path, 1, "weight", f"{name} takes {size} bytes of every program's file")
        if not is_shared:
            continue
        count += 1
        if PUBLISHED.match(f"{path}:{name}") or (path.endswith(".cpp.o") and name.startswith("_Z")):
            continue
        generated = path.startswith("proto/")
        if not (GENERATED if generated else OURS).match(name):
            findings.add(path, 1, "prefix", f"{name} does not begin with aq_")
        elif not generated and WRITABLE.match(section):
            findings.add(path, 1, "variable", f"{name} can be changed by every file")
        elif not generated and name not in used | LOOKED_UP and name != "main":
            findings.add(path, 1, "unused", f"no other file uses {name}: static, or dead")
    if not count:
        findings.add(sys.argv[2], 1, "nothing", "no object of the product: not built?")
    return findings.finish("symbols", f"{count} symbols of {len(objects)} objects")


if __name__ == "__main__":
    sys.exit(main())
