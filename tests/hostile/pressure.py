#!/usr/bin/env python3
"""Attacks on memory and attention, beside a run that trains: it keeps its steps, its daemons stay
small, and whether they are well is answered at once.

    tests/hostile/pressure.py BUILD [--seconds N]     BUILD is a Meson build folder

Each attack goes on for N seconds (10), from the address that the members have, over TCP and, by a
member's certificate, over TLS. The run is one whose environments wait for most of the time, and
the attackers run with the lowest priority, so that what is measured is what the daemons do and not
whose turn it is on the processors. What comes whole is read, which takes time of the run; there
the bars are memory and /healthz alone. One visit has a run of its own, whose messages may be of
64 MiB: of these such a daemon may hold one from an address, beside the bar of memory.

Prints a table, with a row for each try: the best of three at most counts, as other work on this
machine takes steps, too. A bar that no try holds ends it.
"""

import http.client
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time

import rude_peers as rude
from live_run import CONFIG, Run

GROWTH_MOST_MB, HEALTH_MOST_S = 64, 1.0
STEPS_LEAST = {"TCP": 0.9, "TLS": 0.85}  # handshakes and decrypting take the daemon's time
TRIES = 3
CALM_S = 5
PATIENT = CONFIG.replace("gym:CartPole-v1", '"gym:CartPole-v1?sleep_us=500"')
LARGE_MB = 64
LARGE = PATIENT + f"net: {{message_bytes: {LARGE_MB << 20}}}\n"


class Watch:
    """Looks at memory, and asks for /healthz, until it is told to stop."""

    def __init__(self, run):
        self.run = run
        self.slowest_s = 0.0
        self.largest_kb = [0, 0]
        self.over = threading.Event()
        self.threads = [threading.Thread(target=act) for act in (self.ask, self.look)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        while not self.over.wait(0.1):
            started = time.monotonic()
            try:
                line = http.client.HTTPConnection("127.0.0.1", self.run.port + 4, timeout=10)
                line.request("GET", "/healthz")
                if line.getresponse().status != 200:
                    raise http.client.HTTPException("unwell")
                line.close()
            except (OSError, http.client.HTTPException):
                self.slowest_s = max(self.slowest_s, 10.0)
            self.slowest_s = max(self.slowest_s, time.monotonic() - started)

    def look(self):
        while not self.over.wait(0.02):
            for i, daemon in enumerate(self.run.daemons[:2]):
                self.largest_kb[i] = max(self.largest_kb[i], daemon.resident_kb())

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def attack_now(act, arguments):
    os.nice(19)
    act(*arguments)


def measure(run, act, arguments, seconds):
    """Share of the steps, MB that the daemons grew by, and seconds that /healthz took at most."""
    calm = run.rate(CALM_S)
    before = [daemon.resident_kb() for daemon in run.daemons[:2]]
    attacker = multiprocessing.Process(target=attack_now, args=(act, arguments), daemon=True)
    watch = Watch(run)
    attacker.start()
    try:
        under_attack = run.rate(seconds)
        assert attacker.is_alive(), "the attacker gave up"
    finally:
        attacker.kill()
        attacker.join()
        watch.end()
    run.check()
    after = run.rate(CALM_S)
    grown = [(most - kb) / 1024 for most, kb in zip(watch.largest_kb, before)]
    return 2 * under_attack / (calm + after), grown, watch.slowest_s


def visit(run, name, act, arguments, seconds, held_mb=0):
    """`held_mb`: of messages of its own that a daemon may hold beside the bar."""
    for _ in range(TRIES):
        share, grown, slowest_s = measure(run, act, arguments, seconds)
        cut = sum(run.peers(i).get("cut_full", 0) for i in (0, 2))
        print(f"| {run.how}: {name:47} | {100 * share:4.0f} % | {grown[0]:6.1f} | {grown[1]:6.1f} |"
              f" {1000 * slowest_s:6.0f} | {cut} |", flush=True)
        if (max(grown) <= GROWTH_MOST_MB + held_mb and slowest_s <= HEALTH_MOST_S and
                (act is rude.flood or share >= STEPS_LEAST[run.how])):
            return
    raise AssertionError(f"{name}: {share:.2f} of the steps, {grown} MB, {slowest_s:.2f} s")


def joiner(run, index, pattern):
    """Makes connections to one of the run's ports, of a member where there are certificates."""
    port = run.port + index
    if run.certs:
        actor = os.path.join(run.certs, "actor")
        return lambda: rude.greet_in_tls(port, pattern, actor)
    return lambda: rude.greet(port, pattern)


def besiege(build, seconds, certs):
    """`certs`: the run's, or None."""
    run = Run(build, certs=certs, config=PATIENT)
    learner, shard, experience = (joiner(run, 0, rude.REQ), joiner(run, 2, rude.REQ),
                                  joiner(run, 3, rude.PUSH))
    visits = [
        ("400 announce 16 MiB to the learner", rude.hoard, (learner, 400, 16 << 20, 12)),
        ("400 announce 250 KiB to the learner", rude.hoard, (learner, 400, 250 << 10, 12)),
        ("400 announce 250 KiB to the shard", rude.hoard, (shard, 400, 250 << 10, 12)),
        ("400 hold 240 of 250 KiB", rude.hoard, (experience, 400, 250 << 10, 240 << 10)),
        ("64 bring whole messages of 250 KiB to the learner", rude.flood,
         (learner, 64, 250 << 10)),
        ("64 bring whole messages of 250 KiB to the shard", rude.flood,
         (experience, 64, 250 << 10)),
    ]
    if certs:
        visits += [("2,000 half handshakes", rude.shake_halfway, (run.port, 2000))]
    else:
        http = run.port + 4
        visits += [("64 slow readers of the page", rude.read_slowly, (http, "/", 64)),
                   ("64 slow readers of /api/run", rude.read_slowly, (http, "/api/run", 64)),
                   ("64 that ask for /healthz without a pause", rude.pipeline,
                    (http, "/healthz", 64))]
    try:
        run.begin()
        for name, act, arguments in visits:
            visit(run, name, act, arguments, seconds)
    finally:
        run.end()


def besiege_large(build, seconds, certs):
    run = Run(build, certs=certs, config=LARGE)
    experience = joiner(run, 3, rude.PUSH)
    try:
        run.begin()
        visit(run, "4 hold 60 of 64 MiB", rude.hoard, (experience, 4, LARGE_MB << 20, 60 << 20),
              seconds, held_mb=LARGE_MB)
    finally:
        run.end()


def main():
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[3]) if len(sys.argv) == 4 else 10.0
    print(f"Each attack has {TRIES} tries at most; the best of them counts.\n")
    print(f"| {'attack':52} | steps  | learner MB | shard MB | /healthz ms | cut |")
    print(f"|{'-' * 54}|-------:|-------:|-------:|-------:|---|")
    besiege(build, seconds, None)
    besiege_large(build, seconds, None)
    with tempfile.TemporaryDirectory() as certs:
        subprocess.run([os.path.join(build, "cli", "actorq"), "certs", certs, "--days", "2"],
                       check=True, stdout=subprocess.DEVNULL)
        besiege(build, seconds, certs)
        besiege_large(build, seconds, certs)


if __name__ == "__main__":
    main()
