#!/usr/bin/env python3
"""Checks that includes point down, and that each room knows only what it may.

The tables below are the architecture. A folder that is missing from them is a finding, so a new
room cannot slip in without a decision about its place.

    tools/layers.py [ROOT]
"""

import os
import re
import sys

from source_tree import Findings, includes, root_from_arguments, walk

# Tower: the towers that it stands on, and its rooms from the ground up. A room sees those below it
# in its tower, and all of the towers below. Behind the colon stands what a room knows of KNOWLEDGE.
TOWERS = {
    "include": ((), ("include:",)),
    "common": (("include",), (
        "base: threads clock",
        "sys: threads clock loop system_sockets",
        "settings:",
        "energy:",
        "experience:",
        "policy:",
        "config:",
        "nn:",
        "net/address: system_sockets",
        "net/nng_mend: threads clock system_sockets nng",
        "net/security: clock nng",
        "net/sockets: threads clock loop system_sockets sockets nng",
        "net/rpc: clock loop sockets nng envelope",
        "net/http: clock loop system_sockets",
        "net/daemon: clock loop sockets",
        "wire: messages",
        "member: clock messages",
        "data_set:",
    )),
    "quantizer": (("common/nn",), (
        "kernels:",
        "quantize:",
        "engine:",
        "export:",
    )),
    # Policies in files of other programs.
    "interchange": (("common", "quantizer"), (
        "onnx: messages",
        "import: messages",
    )),
    "envs": (("common/policy", "include"), ("envs: threads clock system_sockets",)),
    "rollout": (("common/nn", "quantizer", "envs"), ("rollout: clock",)),
    "replay": (("common",), (
        "disk: threads clock",
        "table:",
        "shard:",
        "service: messages",
        "daemon: clock loop sockets messages",
        "data: threads clock loop sockets messages",
    )),
    "actor": (("common", "quantizer", "envs", "rollout"), (
        "core:",
        "session: messages",
        "daemon: threads clock loop sockets messages",
    )),
    "learner": (("common", "quantizer", "envs", "rollout"), (
        "nn: threads blas",
        "gradients:",
        "mpi: threads clock",
        "algorithms:",
        "publish: threads clock",
        "train: threads clock",
        "run: clock",
        "metrics: clock messages",
        "sampling: messages",
        "service: messages",
        "web: messages",
        "daemon: threads clock loop sockets messages",
    )),
    # A module that actors load: the learner's algorithms on their own steps.
    "gradients": (("common", "quantizer", "envs", "rollout", "replay/table",
                   "learner/algorithms"), ("gradients:",)),
    # The public C library, and how a person names a policy.
    "library": (("common", "quantizer", "envs", "rollout", "include"), (
        "source:",
        "library: threads clock",
    )),
    # Python around the public library: of ours it sees nothing but the header.
    "python": (("include",), ("python:",)),
    "cli": (("common", "quantizer", "interchange", "envs", "rollout", "library/source"), (
        "text:",
        "run: clock loop sockets messages",
        "launch: clock loop",
        "train: clock loop sockets messages",
        "operate: clock loop sockets system_sockets messages",
        "watch: clock loop sockets messages",
        "policy: clock loop messages",
        "play: clock",
        "env: clock",
        "plot:",
        "compare: clock",
        "sweep/study:",
        "sweep/journal: clock",
        "sweep/training: clock loop",
        "sweep/report:",
        "sweep/work: clock loop",
        "cli: sockets",
    )),
}
# These see everything, and nothing above sees them; examples are built out of tree.
OUTSIDE = ("bench", "tests", "examples")

# A folder inside a room is one kind of the room's things. It sees the room and not its siblings;
# of the room, only the file that lists the kinds sees it.
REGISTRIES = {
    "common/policy": "common/policy/layer_spec.c",
    "quantizer/kernels": "quantizer/kernels/qkernels.c",
    "quantizer/engine": "quantizer/engine/engine_layer.c",
    "quantizer/export": "quantizer/export/export_layer.c",
    "envs": "envs/env_registry.c",
    "learner/algorithms": "learner/algorithms/algorithm.c",
    "learner/nn": "learner/nn/train_layers.c",
}

# What only some rooms know: headers, and calls.
KNOWLEDGE = {
    "threads": (r"(pthread|threads|common/base/mutex)\.h", None, "no threads here"),
    "clock": (r"time\.h", r"\baq_clock_\w+\s*\(", "this room is handed the time, it never asks"),
    "loop": (r"uv\.h", None, "the event loop is for daemons and commands"),
    "system_sockets": (r"(sys/socket|sys/un|netdb|netinet/\w+|arpa/inet)\.h", None,
                       "the system's sockets are common/net's"),
    "sockets": (r"common/net/(sockets/(?!net\.h)\w+|rpc/rpc_(client|server))\.h", None,
                "others carry this room's messages: it has no sockets"),
    "nng": (r"nng/.*", None, "only common/net knows NNG"),
    "blas": (r"(cblas|openblas.*|f77blas|lapacke?)\.h", None, "BLAS is the learner's"),
    "messages": (r"proto/\w+\.pb-c\.h|protobuf-c/.*", r"\b[Aa]ctorq__[vV]1__\w+",
                 "protobuf is seen in wire, in services and sessions, in daemons and commands"),
    "envelope": (r"proto/rpc\.pb-c\.h|protobuf-c/.*", None, "the envelope of calls"),
}

# Library header: the only paths that may include it, and why there alone.
LIBRARIES = (
    (r"mbedtls/.*", r"common/net/(security|nng_mend)/|tests/unit/common/net/",
     "cryptography stays in two rooms"),
    (r"yaml\.h", r"common/settings/", "YAML is read by the settings alone"),
    (r"jansson\.h", r"(common/sys/print_json|common/net/rpc/reflect|common/data_set/|replay/data/|"
     r"learner/|cli/|bench/|tests/)",
     "JSON is for people: reflection, reports, run folders and what data sets are of"),
    (r"png\.h", r"cli/play/png_picture\.c$|tests/", "one file writes pictures"),
    (r"dnnl\.h", r"bench/kernels/", "a library to compare with, and nothing else"),
    (r"mpi\.h", r"learner/mpi/", "Open MPI is a module's, which only ranks load"),
    (r"box2d/.*", r"envs/box2d/plane_world\.cpp$", "one file of C++, and C around it"),
    (r"mujoco/.*", r"envs/mujoco/|tests/unit/envs/", "the control suite's physics"),
    (r"dlfcn\.h", r"envs/plugin/|(tests/unit/)?common/net/nng_mend/|cli/plot/plot_png\.c$|"
     r"tests/faults/|learner/daemon/ranks\.c$|actor/daemon/gradient_load\.c$|bench/learner/",
     "code is loaded in few places"),
    (r"Python\.h", r"python/", "one module knows Python from inside"),
    (r"actorq/actorq\.h", r"python/|tests/|bench/bench_act\.c$",
     "the public library is for others"),
    (r"cmocka\.h", r"tests/support/test\.h$", "tests include tests/support/test.h"),
    (r"immintrin\.h|arm_neon\.h", r"quantizer/kernels/(x86|arm)/|bench/kernels/limit_|"
     r"learner/nn/(products_(avx512bf16|amx)|conv_(amx|rung))\.c|common/net/security/seal\.c|"
     r"tests/kernels/emulated_tiles\.h",
     "vector code lives in a static library of its own per instruction set; two loops of a seal "
     "are told theirs by attribute"),
)


class Room:
    """One room of a tower: its floor, and what it knows."""

    def __init__(self, tower, floor, row):
        name, knows = row.split(":")
        self.path = name if name == tower else f"{tower}/{name}"
        self.tower = tower
        self.floor = floor
        self.knows = set(knows.split())


ROOMS = {room.path: room for tower, (_, rows) in TOWERS.items()
         for floor, row in enumerate(rows) for room in [Room(tower, floor, row)]}


def room_of(path):
    """The room that holds the path, or None."""
    folder = os.path.dirname(path)
    while folder and folder not in ROOMS:
        folder = os.path.dirname(folder)
    return ROOMS.get(folder)


def kind_of(path):
    """The folder inside a room that holds the path; "" when it lies in the room itself."""
    room = room_of(path)
    rest = os.path.dirname(path)[len(room.path):].strip("/") if room else ""
    return rest.split("/")[0]


def stands_on(room, other):
    """Whether the tower of `room` stands on `other`: on its tower, or on it up to that floor."""
    for below in TOWERS[room.tower][0]:
        top = ROOMS.get(below)
        if other.tower == below or top and other.tower == top.tower and other.floor <= top.floor:
            return True
    return False


def check_room(source, path):
    """Why the file may not see the header at `path`, by where both stand; or None."""
    here, there = room_of(source.path), room_of(path)
    if there is None:
        return "the header's folder has no place in tools/layers.py"
    if here is there:
        mine, its = kind_of(source.path), kind_of(path)
        if its in ("", mine) or mine == "" and source.path == REGISTRIES.get(here.path):
            return None
        return f"{here.path}/{its} is seen by {REGISTRIES.get(here.path, 'nobody')} alone"
    if here.tower == there.tower:
        return None if there.floor < here.floor else f"{here.path} stands below {there.path}"
    return None if stands_on(here, there) else f"{here.tower} may not see {there.path}"


def check_own(root, source, path):
    """Why one of our headers may not be included here, or None."""
    there = path
    if not path.endswith(".h"):
        return "a source is compiled, not included"
    if path.endswith(".pb-c.h"):
        there = path.replace(".pb-c.h", ".proto")
    if not os.path.exists(os.path.join(root, there)):
        return f"no {there}: includes start at the repository's root"
    if there != path or source.path.startswith(OUTSIDE):
        return None
    return check_room(source, path)


def check_knowledge(source, findings):
    """Adds what the file knows and its room does not."""
    room = room_of(source.path)
    for name, (header, call, reason) in KNOWLEDGE.items():
        if name in room.knows or name == "envelope":
            continue
        if name == "messages" and "envelope" in room.knows:
            header, call = r"proto/(?!rpc\.)\w+\.pb-c\.h", None
        for line, _, path in includes(source):
            if re.fullmatch(header, path):
                findings.add(source.path, line, "knowledge", f"{path}: {reason}")
        for match in re.finditer(call, source.code) if call else ():
            if source.path != "common/base/clock.h":
                findings.add(source.path, source.line_of(match.start()), "knowledge", reason)


def check_file(root, source, findings):
    """Adds what is wrong with the includes of one file."""
    is_outside = source.path.startswith(OUTSIDE)
    if not is_outside and room_of(source.path) is None:
        findings.add(source.path, 1, "layer", f"{source.folder}/ has no place in tools/layers.py")
        return
    for line, delimiter, path in includes(source):
        if delimiter == '"':
            reason = check_own(root, source, path)
            if reason:
                findings.add(source.path, line, "layer", f'"{path}": {reason}')
        else:
            for header, users, reason in LIBRARIES:
                if re.fullmatch(header, path) and not re.match(users, source.path):
                    findings.add(source.path, line, "library", f"<{path}>: {reason}")
    if not is_outside:
        check_knowledge(source, findings)


def main():
    root = root_from_arguments()
    findings = Findings()
    sources = [source for source in walk(root) if source.is_c]
    for source in sources:
        check_file(root, source, findings)
    return findings.finish("layers", f"{len(sources)} files")


if __name__ == "__main__":
    sys.exit(main())
