#!/usr/bin/env python3
"""Everything rude that can come in at a port, while a run trains: it is refused, counted, and the
run goes on.

    tests/hostile/hostile.py BUILD [--short]     BUILD is a Meson build folder

Three runs on this host's loopback: one that strangers come to, one whose own words are said to it
again, one with certificates. Prints a table: learner steps per second before, during and after each
visit, and what was counted. Any failed check ends it. --short: the same, in smaller portions.
"""

import os
import subprocess
import sys
import tempfile
import time

import rude_peers as rude
from live_run import Run, free_ports
from recording_proxy import Proxy

CALM_S = 5
REPLAYS = 50
COUNTED = ("accepted", "strangers", "refused_connections", "cut_slow", "cut_full")


class Table:
    """What came of each visit."""

    def __init__(self, run):
        self.run = run
        print(f"| {'visit':34} | {'came of it':40} | steps/s | counted |")
        print(f"|{'-' * 36}|{'-' * 42}|--------:|---------|")

    def row(self, name, words, rate=None, counted=""):
        steps = "" if rate is None else f"{rate:.0f}"
        print(f"| {name:34} | {words:40} | {steps:>7} | {counted} |", flush=True)

    def counts(self):
        """Of the learner and the shard, together."""
        both = [self.run.peers(0), self.run.peers(2)]
        sums = {key: sum(peers.get(key, 0) for peers in both) for key in COUNTED}
        sums["rejected"] = (int(self.run.status()["learner"].get("rejected_messages", 0)) +
                            int(self.run.status(2)["replay"].get("rejected", 0)))
        return sums

    def visit(self, name, act, *expected):
        """Lets them in; of `expected`, each has to be counted, and then the run goes on."""
        before, steps, started = self.counts(), self.run.steps(), time.monotonic()
        words = act()
        rate = (self.run.steps() - steps) / (time.monotonic() - started)
        self.run.check()
        after = self.counts()
        grown = {key: after[key] - before[key] for key in after if after[key] > before[key]}
        for key in expected:
            assert key in grown, f"{name}: {key} was not counted: {grown}"
        self.run.go_on()
        self.row(name, words, rate, ", ".join(f"{key} {grown[key]}" for key in grown))


def in_words(seconds):
    return f"closed after {seconds:.1f} s"


def of_crowd(port, count):
    asked, stayed = rude.crowd(port, count)
    return f"{asked} connections, {stayed} were let stay"


def wrong_version(run):
    with rude.greet(run.port, rude.REQ) as peer:
        answer = rude.call(peer, rude.request("actorq.v1.Operations/Status", 1, version=2))
        assert b"version" in answer, answer
    with rude.greet(run.port + 3, rude.PUSH) as peer:
        peer.sendall(rude.message(rude.frame(rude.EXPERIENCE, b"", version=2)))
        run.wait(lambda: int(run.status(2)["replay"].get("rejected", 0)) > 0, "it is rejected")
    return "refused, naming both versions"


def strangers(build, short):
    run = Run(build)
    try:
        run.begin()
        table = Table(run)
        ports = range(run.port, run.port + 4)
        megabytes = 32 if short else 256
        before = run.rate(CALM_S)
        resident = [daemon.resident_kb() for daemon in run.daemons[:2]]
        descriptors = [daemon.descriptors() for daemon in run.daemons[:2]]
        table.row("before", "", before)
        table.visit("port scan", lambda: rude.scan(ports, 25), "strangers")
        table.visit("HTTP request", lambda: rude.browse(ports), "strangers")
        table.visit("slow-loris, half a greeting",
                    lambda: in_words(rude.greet_slowly(run.port)), "strangers")
        table.visit("slow-loris, a byte at a time",
                    lambda: in_words(rude.talk_slowly(run.port + 3, rude.PUSH)), "cut_slow")
        table.visit("10,000 connections",
                    lambda: of_crowd(run.port, 1000 if short else 10000), "accepted")
        table.visit("a message that says 1 TB",
                    lambda: rude.claim(run.port, rude.REQ, 1 << 40))
        table.visit("a message that says 2 GB",
                    lambda: rude.claim(run.port + 3, rude.PUSH, 1 << 31))
        table.visit("another protocol version", lambda: wrong_version(run), "rejected")
        table.visit("garbage for a greeting",
                    lambda: rude.shout_raw(run.port, megabytes << 20), "strangers")
        table.visit("garbage as calls",
                    lambda: rude.shout(run.port, rude.REQ, megabytes << 20), "rejected")
        table.visit("garbage as experience",
                    lambda: rude.shout(run.port + 3, rude.PUSH, 2 * megabytes << 20), "rejected")
        table.visit("calls whose answers nobody takes",
                    lambda: rude.ask_deafly(run.port), "cut_full")
        table.row("after", "", run.rate(CALM_S))
        for daemon, kb, fds in zip(run.daemons[:2], resident, descriptors):
            table.row(f"memory of the {daemon.name}",
                      f"{kb // 1024} MiB before, {daemon.resident_kb() // 1024} after, "
                      f"{daemon.resident_kb('VmHWM') // 1024} at most")
            run.wait(lambda d=daemon, n=fds: d.descriptors() <= n + 2, "connections are closed")
    finally:
        run.end()


def replayed_calls(run, line):
    """The Join of a member that lives: it is the same member, once."""
    joins = [words for words in line.messages() if b"Membership/Join" in words]
    before = run.status()
    with rude.greet(run.port, rude.REQ) as peer:
        for _ in range(REPLAYS):
            peer.sendall(rude.message(joins[0]))
            size = int.from_bytes(rude.receive(peer, 8), "big")
            rude.receive(peer, size)
    after = run.status()
    for key in ("members_joined", "members_lost"):
        assert before["learner"].get(key) == after["learner"].get(key), (key, before, after)
    return f"{REPLAYS} times, nobody joined"


def replayed_experience(run, line):
    """A message that was taken: it is a duplicate."""
    taken = [words for words in line.messages() if words.startswith(b"AQF1")]
    before = int(run.status(2)["replay"].get("duplicates", 0))
    with rude.greet(run.port + 3, rude.PUSH) as peer:
        for _ in range(REPLAYS):
            peer.sendall(rude.message(taken[0]))
        run.wait(lambda: int(run.status(2)["replay"].get("duplicates", 0)) >= before + REPLAYS,
                 "they are duplicates")
    return f"{REPLAYS} times, {REPLAYS} duplicates"


def replays(build):
    run = Run(build)
    port = free_ports(3)
    lines = [Proxy(port, run.port), Proxy(port + 1, run.port + 2), Proxy(port + 2, run.port + 3)]
    try:
        run.begin(actors=1, actors_call=f"tcp://127.0.0.1:{port}",
                  shard_arguments=("--advertise", f"tcp://127.0.0.1:{port + 1}"))
        table = Table(run)
        table.visit("a call, again", lambda: replayed_calls(run, lines[0]))
        table.visit("experience, again", lambda: replayed_experience(run, lines[2]))
    finally:
        run.end()
        for line in lines:
            line.close()


def stays_connected(run):
    """Each call of ours is a connection; members keep theirs."""
    before = run.peers()["accepted"]
    time.sleep(CALM_S)
    grown = run.peers()["accepted"] - before
    assert grown < 10, f"{grown} connections came, though nobody left"
    return "members keep their connections"


def certificates(build):
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = os.path.join(folder, "ours"), os.path.join(folder, "theirs")
        for certs in (ours, theirs):
            subprocess.run([os.path.join(build, "cli", "actorq"), "certs", certs], check=True,
                           stdout=subprocess.DEVNULL)
        run = Run(build, certs=ours)
        try:
            run.begin(actors=1)
            table = Table(run)
            table.visit("nobody", lambda: stays_connected(run))
            cases = (("a certificate of the run", os.path.join(ours, "actor"), True),
                     ("a foreign certificate", os.path.join(theirs, "actor"), False),
                     ("no certificate", None, False))
            for name, own, good in cases:
                def act(own=own, good=good):
                    failed = rude.present(run.port, os.path.join(ours, "actor"), own)
                    assert (failed == "") == good, (own, failed)
                    return failed or "let in"
                table.visit(name, act)
            table.visit("no TLS", lambda: in_words(rude.greet_slowly(run.port)), "strangers")
        finally:
            run.end()


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--short"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    build = os.path.abspath(arguments[0])
    strangers(build, "--short" in sys.argv)
    replays(build)
    certificates(build)


if __name__ == "__main__":
    main()
