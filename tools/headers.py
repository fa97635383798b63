#!/usr/bin/env python3
"""Checks that each header compiles alone, and that each file of C is built at all.

A header that a source begins with was compiled alone when that was built. Any other is compiled
with the flags of a source that includes it, directly or through others, as vector code needs those
of its own library. Of a source that is built more than once, for one library each, any flags do.

    tools/headers.py BUILD [ROOT]      BUILD is a Meson build folder
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

from source_tree import Findings, includes, walk

# Read in the middle of a source, behind the macros that their first comments list.
TEMPLATES = {
    "quantizer/kernels/" + name for name in (
        "group_block.h", "sparse_block.h", "tile.h", "tile_chains.h", "tile_float.h",
        "tile_int8.h", "tile_pack.h", "x86/group_avx2.h", "x86/group_vnni.h")
} | {"bench/kernels/limit_read.h"}

# What an ordinary build of some machine leaves out, or a test compiles by itself.
NOT_ALWAYS_BUILT = ("quantizer/kernels/x86/", "quantizer/kernels/arm/", "tests/fuzz/",
                    "bench/kernels/limit_", "bench/kernels/peer_", "envs/box2d/", "envs/mujoco/",
                    "bench/microcontroller/", "envs/suite_absent", "examples/",
                     "python/extension/",
                    "tests/integration/bridge/skip_without_numpy.c",
                    "tests/integration/export/arm_start.c",
                    "tests/integration/export/policy_harness.c")


def commands_of(build, root):
    """Source path: its compiler commands without the source and the outputs."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        rows = json.load(file)
    commands = {}
    for row in rows:
        path = os.path.relpath(os.path.join(row["directory"], row["file"]), root)
        words = shlex.split(row["command"])
        kept = [word for before, word in zip([""] + words, words)
                if before not in ("-o", "-MF", "-MQ", "-MT") and
                word not in ("-o", "-MF", "-MQ", "-MT", "-MD", "-c", row["file"])]
        commands.setdefault(path, []).append(kept)
    return commands


def first_read(source):
    """The header that a source begins with, if it begins with one of ours."""
    match = re.match(r'\s*#\s*include\s*"([^"]+)"', source.code)
    return match and match.group(1)


def users_of(sources, commands):
    """Header: the files that include it directly, or are compiled behind it."""
    users = {}
    for source in sources:
        for _, delimiter, path in includes(source):
            if delimiter == '"':
                users.setdefault(path, []).append(source.path)
    for source, ways in commands.items():
        for words in ways:
            for before, word in zip(words, words[1:]):
                if before == "-include":
                    users.setdefault(word, []).append(source)
    return users


def commands_for(header, users, commands):
    """The commands of the nearest compiled source that sees the header, or None."""
    seen, queue = {header}, [header]
    while queue:
        for user in users.get(queue.pop(0), ()):
            if user in commands:
                return commands[user]
            if user not in seen:
                seen.add(user)
                queue.append(user)
    return None


def compile_alone(build, root, header, commands):
    """What the compiler says against the header, "" where one of the commands takes it."""
    for command in commands:
        command = command + ["-fsyntax-only", "-fdiagnostics-color=never", "-x", "c",
                             "-include", os.path.join(root, header), os.devnull]
        done = subprocess.run(command, cwd=build, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        if done.returncode == 0 and "warning:" not in done.stderr:
            return ""
    return done.stderr


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    root = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else \
        os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    commands = commands_of(build, root)
    sources = [source for source in walk(root) if source.is_c]
    users = users_of(sources, commands)
    findings = Findings()
    unbuilt = [(source.path, "unbuilt", "no target compiles this source") for source in sources
               if not source.is_header and source.path not in commands]
    built_alone = {first_read(source) for source in sources if source.path in commands}
    jobs = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        headers = {source.path for source in sources if source.is_header} - TEMPLATES
        for header in sorted(headers - built_alone):
            own = commands_for(header, users, commands)
            if own is None:
                unbuilt.append((header, "unused", "no compiled source sees this header"))
                continue
            jobs[header] = pool.submit(compile_alone, build, root, header, own)
    for path, rule, text in unbuilt:
        if not path.startswith(NOT_ALWAYS_BUILT):
            findings.add(path, 1, rule, text)
    for header, job in jobs.items():
        if job.result():
            first = next((line for line in job.result().split("\n") if "error:" in line or
                          "warning:" in line), job.result().split("\n", 1)[0])
            findings.add(header, 1, "alone", re.sub(r"^.*?(error|warning): ", "", first))
    return findings.finish("headers", f"{len(headers)} headers")


if __name__ == "__main__":
    sys.exit(main())
