#!/usr/bin/env python3
"""Checks that includes point down the layers only, and that each library has its few users.

The tables below are the architecture: a folder that is missing from them is a finding, so a new
one cannot slip in without a decision about its place.

    tools/layers.py [ROOT]
"""

import os
import re
import sys

from source_tree import Findings, includes, root_from_arguments, walk

PROGRAMS = ("replay", "actor", "learner", "cli")
WIRE = ("common/base", "common/sys", "common/rl", "common/nn", "common/net", "common/wire")
BELOW_PROGRAMS = WIRE + ("quantizer", "envs", "rollout", "proto")

# Folder: the other folders whose headers it may include.
LAYERS = {
    "common/base": (),
    "common/sys": ("common/base",),
    "common/rl": ("common/base", "common/sys"),
    "common/nn": ("common/base", "common/sys", "common/rl"),
    "common/net": ("common/base", "common/sys", "proto"),
    "common/wire": WIRE + ("proto",),
    "quantizer": ("common/base", "common/sys", "common/rl", "common/nn"),
    "include": (),
    "envs": ("common/base", "common/rl", "include"),
    "examples": (),  # built out of tree, with what is installed
    "rollout": ("common/base", "common/sys", "common/rl", "common/nn", "quantizer", "envs"),
    **{program: BELOW_PROGRAMS for program in PROGRAMS},
    "bench": BELOW_PROGRAMS + PROGRAMS,
    "tests": BELOW_PROGRAMS + PROGRAMS + ("bench",),
}

# Library header: the only paths that may include it, and why there alone.
LIBRARIES = (
    (r"nng/.*", r"common/net/|tests/(unit/net|integration)/", "sockets are common/net's"),
    (r"mbedtls/.*", r"common/net/(certificate|token|security_tls|tls_mend)\.c$|tests/unit/net/",
     "cryptography stays in a few files"),
    (r"(cblas|openblas.*|f77blas|lapacke?)\.h", r"(learner|bench)/", "BLAS is the learner's"),
    (r"uv\.h", r"(common/(sys|net)|replay|actor|learner|cli|bench|tests)/",
     "the event loop is for shells: data layers and simulations run without one"),
    (r"(cyaml/.*|yaml\.h)", r"common/sys/settings", "YAML is read by the settings alone"),
    (r"jansson\.h", r"(common/net/reflect|common/wire/data_set_header|replay/data_|learner/|"
     r"cli/|bench/|tests/)",
     "JSON is for people: reflection, reports, run folders and what data sets are of"),
    (r"png\.h", r"cli/png_picture\.c$|tests/", "one file writes pictures"),
    (r"dnnl\.h", r"bench/kernels/", "a library to compare with, and nothing else"),
    (r"protobuf-c/.*", r"(common/(net|wire)/|replay/|actor/|learner/|cli/|tests/)",
     "protobuf stays at the edge"),
    (r"mujoco/.*", r"envs/mujoco/|tests/unit/envs/", "the control suite's physics"),
    (r"dlfcn\.h", r"envs/plugin/|common/net/(nng|tls)_mend\.",
     "users' code is loaded in one place"),
    (r"cmocka\.h", r"tests/", "the test framework is the tests'"),
    (r"immintrin\.h|arm_neon\.h", r"quantizer/(x86|arm)/|bench/kernels/limit_",
     "vector code lives in a static library of its own per instruction set"),
)

# Who sees generated messages besides common/wire, cli and the tests: the edges of the daemons
# (docs/decisions/0003), and what stands in for them in a benchmark.
EDGES = re.compile(r"bench/(tls_bench|replay/replay_(drawer|rig))\.c$|"
                   r"(replay|actor|learner)/((prefetch|priority_return)\.[ch]|\w+_priv\.h|"
                   r"\w+_(events|main|net|operations|service|session|stats)\.[ch])$")

# A core is handed messages and a time: it has no socket, no thread and no clock of its own. A
# service or session of a daemon makes messages, but others carry them.
CORE = re.compile(r"(_core|learner/coordinator)\.[ch]$")
CORE_REFUSES = re.compile(r"common/net/(?!net\.h)|nng/|(uv|pthread|threads|time|sys/socket)\.h$")
CARRIED = re.compile(r"(replay|actor|learner)/\w+_(service|session)\.[ch]$")
CARRIED_REFUSES = re.compile(r"common/net/(endpoint|pubsub|pull|push|rpc_client|rpc_server)\.h|"
                             r"nng/|(uv|sys/socket)\.h$")
CLOCK_CALL = re.compile(r"\baq_clock_\w+\s*\(")


def layer_of(path):
    """The longest folder of LAYERS that holds the path, or None."""
    folder = os.path.dirname(path)
    while folder and folder not in LAYERS:
        folder = os.path.dirname(folder)
    return folder or None


def check_message(source, path):
    """Why a generated header may not be included here, or None."""
    layer = layer_of(source.path)
    if layer == "common/net" and path != "proto/rpc.pb-c.h":
        return "common/net knows the envelope alone: only proto/rpc.pb-c.h"
    if layer in ("common/net", "common/wire", "cli", "tests") or EDGES.match(source.path):
        return None
    return "generated messages are for common/wire, cli and the files of docs/decisions/0003"


def check_own(root, source, path):
    """Why one of our headers may not be included here, or None."""
    if not path.endswith(".h"):
        return "a source is compiled, not included"
    if path.endswith(".pb-c.h"):
        if not os.path.exists(os.path.join(root, path.replace(".pb-c.h", ".proto"))):
            return "no such .proto: includes start at the repository's root"
        return check_message(source, path)
    if not os.path.exists(os.path.join(root, path)):
        return "no such file: includes start at the repository's root"
    here, there = layer_of(source.path), layer_of(path)
    if there is None:
        return "the header's folder has no place in tools/layers.py"
    if here != there and there not in LAYERS[here]:
        return f"{here} may not see {there}"
    return None


def check_file(root, source, findings):
    """Adds what is wrong with the includes of one file."""
    if layer_of(source.path) is None:
        findings.add(source.path, 1, "layer", f"{source.folder}/ has no place in tools/layers.py")
        return
    is_core = CORE.search(source.path) and not source.is_test
    for line, delimiter, path in includes(source):
        if delimiter == '"':
            reason = check_own(root, source, path)
            if reason:
                findings.add(source.path, line, "layer", f'"{path}": {reason}')
        else:
            for header, users, reason in LIBRARIES:
                if re.fullmatch(header, path) and not re.match(users, source.path):
                    findings.add(source.path, line, "library", f"<{path}>: {reason}")
        if is_core and CORE_REFUSES.match(path):
            findings.add(source.path, line, "core",
                         f"{path}: a core has no sockets, no threads and no clock")
        if CARRIED.match(source.path) and CARRIED_REFUSES.match(path):
            findings.add(source.path, line, "carried",
                         f"{path}: services and sessions have no sockets, others carry for them")
    if is_core:
        for match in CLOCK_CALL.finditer(source.code):
            findings.add(source.path, source.line_of(match.start()), "core",
                         "a core is handed the time, it never asks")


def main():
    root = root_from_arguments()
    findings = Findings()
    sources = [source for source in walk(root) if source.is_c]
    for source in sources:
        check_file(root, source, findings)
    return findings.finish("layers", f"{len(sources)} files")


if __name__ == "__main__":
    sys.exit(main())
