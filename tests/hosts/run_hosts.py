#!/usr/bin/env python3
"""Runs scenarios of separate hosts, one after the other, and prints a row of JSON for each.

    run_hosts.py BUILD [SCENARIO...] [--certs] [--minutes N] [--congestion NAME] [--keep]

See README.md. Without a scenario all of them are run. The exit status is 0 when all of them passed,
and 77 where this machine cannot make hosts.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import traceback

import hosts_net
import hosts_ranks
from hosts_scenarios import SCENARIOS, Stage

SCENARIOS = {**SCENARIOS, **hosts_ranks.SCENARIOS}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", help="the build folder")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", choices=[[], *SCENARIOS],
                        help=", ".join(SCENARIOS))
    parser.add_argument("--certs", action="store_true", help="over TLS, with certificates")
    parser.add_argument("--minutes", type=float, default=2,
                        help="of the storm; about as long again without")
    parser.add_argument("--congestion", default="cubic", help="TCP's way of going about congestion")
    parser.add_argument("--seed", type=int, default=1, help="of what the lines lose")
    parser.add_argument("--keep", action="store_true", help="keep the logs of what passed, too")
    return parser.parse_intermixed_args()


def run_scenario(name, stage):
    """The row, and whether it passed."""
    begun = time.monotonic()
    row = {"scenario": name, "tls": stage.certs is not None}
    passed = False
    try:
        row.update(SCENARIOS[name](stage))
        passed = True
    except (AssertionError, OSError, RuntimeError, KeyError, IndexError) as fault:
        traceback.print_exc()
        row["fault"] = str(fault)
    finally:
        stage.network.unshape()
        for host in stage.network.hosts:
            stage.network.heal(host)
    row.update(passed=passed, took_s=round(time.monotonic() - begun, 1))
    print(json.dumps(row), flush=True)
    return passed


CANNOT = 77  # which Meson takes for a test that was left out

PROGRAMS = ("tests/hosts/lossy_switch", "cli/actorq", "learner/actorq-learner",
            "replay/actorq-replay", "actor/actorq-actor")


def main():
    options = arguments()
    reason = hosts_net.obstacle()
    if reason:
        print(reason, file=sys.stderr)
        return CANNOT
    build = os.path.abspath(options.build)
    missing = [name for name in PROGRAMS if not os.path.exists(os.path.join(build, name))]
    if missing:
        print(f"{options.build} has no {', '.join(missing)}: README.md says how it is built",
              file=sys.stderr)
        return 1
    names = options.scenarios or list(SCENARIOS)
    reason = hosts_ranks.obstacle(build)
    if reason:
        print(f"without scenarios of ranks: {reason}", file=sys.stderr)
        names = [name for name in names if name not in hosts_ranks.SCENARIOS]
        if not names:
            return CANNOT
    hosts_net.isolate()
    network = hosts_net.Network(["learner", "replay", "actors", "spare"],
                                os.path.join(build, "tests/hosts/lossy_switch"),
                                options.congestion, options.seed)
    folder = tempfile.mkdtemp(prefix="actorq-hosts-")
    certs = os.path.join(folder, "certs") if options.certs else None
    if certs:
        hosts_net.call(os.path.join(build, "cli/actorq"), "certs", certs)
    stage = Stage(network, build, folder, certs, options.minutes)
    failed = [name for name in names if not run_scenario(name, stage)]
    if failed or options.keep:
        print(f"logs are in {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
