#!/usr/bin/env python3
"""Members that lie, beside a run that trains: with the credentials of their role they call every
method with anything in it (liar.c). Nobody stops for it, no daemon grows, and the run keeps a tenth
of its steps at least: the liar takes a processor for itself.

    tests/hostile/liars.py BUILD [--seconds N]     BUILD is a Meson build folder

Each role lies for N seconds (30), over TCP with a role's token and over TLS; then one liar is many
members, which say what goes wrong with them at length. An actor and a shard also lie to a run whose
experience is made on demand. Prints a table; what does not hold ends it,
with the seed that was printed last. AQ_SEED is the first seed.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

from live_run import CONFIG, Run

GROWTH_MOST_MB = 64
SEEDS = 5  # of one process; between two, the run is looked at
CALM_S = 3
STEPS_LEAST = 0.1  # of what it does without the liar
CROWD = 5000
LINES_PER_S = 20  # of each event about members
# Members are trusted with what they count and measure: neither is to end the run here.
ENDLESS = CONFIG.replace("threshold: 1e9", "threshold: 1e300")
ENDLESS = ENDLESS.replace("env_steps: 1000000000", "env_steps: 1000000000000")
ON_DEMAND = """\
task: gym:CartPole-v1
seed: 7
learner: {algorithm: ppo, hidden: "32", checkpoint_period_s: 5}
replay: {storage: memory}
actor: {count: 2, envs: 4}
evaluator: {threshold: 1e300}
limits: {env_steps: 1000000000000}
"""


def lie(run, role, first, seeds=SEEDS, of=None):
    """So many seeds, from `first`, with the credentials of `role`, or of another one. Returns how
    many calls were made, and how many carried out."""
    command = [os.path.join(run.build, "tests", "hostile", "liar"), role, run.url(), run.url(2),
               str(first), str(seeds)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=1200,
        env=dict(os.environ, **run.credentials(of or role)))
    seed = re.findall(r"AQ_SEED=\d+", done.stdout)[-1:]
    try:
        run.check()
        assert done.returncode == 0, done.stderr
    except AssertionError as problem:
        raise AssertionError(f"{role} {' '.join(seed)}: {problem}") from None
    return [int(number) for number in re.findall(r"calls (\d+) answered (\d+)", done.stdout)[0]]


def acknowledged(run):
    """Steps that the honest actors were acknowledged."""
    return sum(int(member.get("actor", {}).get("acknowledged_steps", 0))
               for member in run.members())


def check_after(run, role, before):
    """The run goes on, and no daemon has become large. Returns by how many MB each has grown."""
    taken = acknowledged(run)
    grown = [(daemon.resident_kb("VmHWM") - kb) / 1024
             for daemon, kb in zip(run.daemons, before)]
    run.go_on()
    run.wait(lambda: acknowledged(run) > taken, "experience of the honest is taken")
    assert max(grown) <= GROWTH_MOST_MB, f"{role}: daemons grew by {grown} MB"
    return grown


def lines_of(run, event):
    return run.learner.log().count(f"event=member_{event} ")


def crowd(run):
    """Many members of one liar: they can be told of, and their lines do not fill the disk."""
    before = [daemon.resident_kb() for daemon in run.daemons]
    lines = {event: lines_of(run, event) for event in ("joined", "lost")}
    started, steps = time.monotonic(), run.steps()
    calls, _ = lie(run, "crowd", 1, CROWD, of="actor")
    status = run.status()
    took = time.monotonic() - started
    assert len(status.get("members", [])) > len(run.daemons), "the learner does not tell of all"
    during = (run.steps() - steps) / took
    run.wait(lambda: len(run.status().get("members", [])) == len(run.daemons) - 1,
             "the crowd is lost, and the honest are members")
    took = time.monotonic() - started
    for event, count in lines.items():
        more = lines_of(run, event) - count
        assert more < LINES_PER_S * (took + 2), f"{more} lines of member_{event} in {took:.0f} s"
    grown = check_after(run, "crowd", before)
    print(f"| {run.how:14} | crowd     | 1–{CROWD:<6} | {calls:7} |         | {during:7.0f} | "
          f"        | {grown[0]:6.1f} | {max(grown[1:]):6.1f} |", flush=True)


def visit(run, role, first, seconds):
    """Returns the seed after the last."""
    before = [daemon.resident_kb() for daemon in run.daemons]
    calls = carried = 0
    seed, steps, end = first, run.steps(), time.monotonic() + seconds
    while time.monotonic() < end:
        made, done = lie(run, role, seed)
        calls, carried, seed = calls + made, carried + done, seed + SEEDS
    during = (run.steps() - steps) / seconds
    run.wait(lambda: len(run.members()) == len(run.daemons) - 1, "the honest are members")
    after = run.rate(CALM_S)
    assert during >= STEPS_LEAST * after, f"{role}: {during:.0f} steps/s, and {after:.0f} after it"
    grown = check_after(run, role, before)
    print(f"| {run.how:14} | {role:9} | {first}–{seed - 1:<6} | {calls:7} | {carried:7} | "
          f"{during:7.0f} | {after:7.0f} | {grown[0]:6.1f} | {max(grown[1:]):6.1f} |", flush=True)
    return seed


def deceive(run, first, seconds):
    try:
        run.begin()
        for role in ("actor", "evaluator", "replay"):
            first = visit(run, role, first, seconds)
        crowd(run)
    finally:
        run.end()
    return first


def deceive_on_demand(run, first, seconds):
    run.how += ", on demand"
    try:
        run.begin()
        for role in ("actor", "replay"):
            first = visit(run, role, first, seconds)
    finally:
        run.end()


def main():
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[3]) if len(sys.argv) == 4 else 30.0
    seed = int(os.environ.get("AQ_SEED", "1"))
    # What AddressSanitizer keeps back of what was freed is not what a daemon grew by; and of a
    # socket that NNG is slow to close, something is left in memory on purpose.
    os.environ.setdefault("ASAN_OPTIONS", "quarantine_size_mb=8:detect_leaks=0")
    print("| how            | role      | seeds    | calls   | carried | steps/s | after   | "
          "learner MB | others MB |")
    print("|----------------|-----------|----------|--------:|--------:|--------:|--------:|"
          "-----------:|----------:|")
    with tempfile.TemporaryDirectory() as certs:
        subprocess.run([os.path.join(build, "cli", "actorq"), "certs", certs, "--days", "2"],
                       check=True, stdout=subprocess.DEVNULL)
        for plain in (True, False):
            seed = deceive(Run(build, certs, ENDLESS, plain), seed, seconds)
        deceive_on_demand(Run(build, certs, ON_DEMAND, plain=True), seed, seconds)


if __name__ == "__main__":
    main()
