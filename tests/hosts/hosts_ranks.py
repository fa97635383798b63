"""A learner of several ranks, each on a host of its own, where mpirun starts them; and what the
network between them costs. Each scenario asserts what is promised and gives a row of figures."""

import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import time

from hosts_net import SUBNET, call
from hosts_run import check, number, wait_for

RANK_HOSTS = ["learner", "spare", "replay"]  # a shard may be beside a rank
IMAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../deploy/image/")

SSH_PORT, RANK_PORTS = 2222, range(5600, 5700)
MORE = {"btl_tcp_if_include": f"{SUBNET}.0/24", "oob_tcp_if_include": f"{SUBNET}.0/24",
        "btl_tcp_port_min_v4": RANK_PORTS[0], "btl_tcp_port_range_v4": len(RANK_PORTS)}

TIMEOUT_S = 2
# What an end may take beyond that: it is seen, said, and mpirun has ended who is left.
ENDED_S_MAX = 30

SETTINGS = {"replay.samples_per_insert": 8, "learner.checkpoint_period_s": 1,
            "net.rank_timeout_ms": 1000 * TIMEOUT_S}


def obstacle(build):
    """Why ranks cannot be tried here, or nothing."""
    missing = [name for name in ("mpirun", "ssh", "sshd", "ss") if not shutil.which(name)]
    if not os.path.exists(os.path.join(build, "learner/actorq-mpi.so")):
        missing.append("learner/actorq-mpi.so in the build")
    return f"there is no {', '.join(missing)}" if missing else None


def launcher(hosts):
    """The words before a program of which a rank is started on each of the hosts, by the first."""
    return [IMAGE + "ranks.sh", ",".join(hosts[1:])]


def ranks_of(run):
    """Process ids of the learner's ranks that live, by their number."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                rank = re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)\0", b"\0" + file.read() + b"\0")
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read()
        except OSError:
            continue
        if rank and b"actorq-learner\0" in command and run.folder.encode() in command:
            found[int(rank[1])] = int(pid)
    return found


def learner_steps(run):
    status = run.status()
    return number(status["learner"]["learner_steps"]) if status else 0


class RankHosts:
    """What waits on each host but the first for ranks, in a with statement."""

    def __init__(self, stage, environment):
        self.stage, self.environment = stage, environment
        self.waiting = []

    def __enter__(self):
        os.makedirs("/run/sshd", exist_ok=True)  # where root's sshd insists to be alone
        for host in RANK_HOSTS[1:]:
            # A host's name is its own here: Open MPI calls its files by it.
            words = ["unshare", "--uts", "sh", "-c",
                     f"echo {host} >/proc/sys/kernel/hostname && exec {IMAGE}rank-host.sh"]
            log = os.path.join(self.stage.folder, f"rank-host-{host}.log")
            with open(log, "ab") as file:
                self.waiting.append(subprocess.Popen(
                    self.stage.network.inside(host, words), stdin=subprocess.DEVNULL,
                    stdout=file, stderr=file, env=self.environment))
        return self

    def __exit__(self, kind, fault, trace):
        for process in self.waiting:
            process.kill()
            process.wait()


def rank_environment(stage):
    """What deploy/image/ranks.sh and rank-host.sh are told. There are certificates in any case, as
    the learner's key is what lets ranks in."""
    certs = stage.certs or os.path.join(stage.folder, "certs")
    if not os.path.exists(certs):
        call(os.path.join(stage.build, "cli/actorq"), "certs", certs)
    more = " ".join(f"--mca {key} {value}" for key, value in MORE.items())
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", "TMPDIR": stage.folder,
            "ACTORQ_CERTS": os.path.join(certs, "learner"), "ACTORQ_RANK_PORT": str(SSH_PORT),
            "ACTORQ_MPI": more, "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@contextlib.contextmanager
def run_of_ranks(stage, settings):
    """A run whose learner is to be of ranks, and who waits for them."""
    run = stage.run(settings)
    run.launcher = launcher(RANK_HOSTS)
    run.environment = rank_environment(stage)
    run.certs = os.path.dirname(run.environment["ACTORQ_CERTS"])
    with RankHosts(stage, run.environment), run:
        yield run


def start_ranks(run, *more):
    """Until all train."""
    run.start_learner("learner", *more)
    if not run.shards:
        run.start_shard()
        run.start_actor()
    wait_for("all ranks", lambda: len(ranks_of(run)) == len(RANK_HOSTS))
    before = learner_steps(run)
    wait_for("steps", lambda: learner_steps(run) > before + 20, patience_s=120)


def end_in_order(run):
    check(run.learner.end() == 0, "the ranks did not end in order")
    check(not ranks_of(run), "a rank is left")


def ports_of_ranks(stage, host):
    """Of the ends of connections of that host's rank with other hosts."""
    said = stage.network.run(host, ["ss", "-Htnp", "state", "established"])
    return {int(end.rsplit(":", 1)[1]) for line in said.splitlines() if "actorq-learner" in line
            for end in line.split()[2:4] if "127.0.0.1" not in line}


def ranks(stage):
    """Three ranks on three hosts train together, and end in order."""
    with run_of_ranks(stage, {**SETTINGS, "net.rank_timeout_ms": 60000}) as run:
        start_ranks(run)
        ports = ports_of_ranks(stage, "spare")
        rates = run.rates(10)
        end_in_order(run)
        with open(os.path.join(run.folder, "run", "metrics.jsonl"), encoding="utf-8") as file:
            told = [json.loads(line) for line in file]
    check(ports & set(RANK_PORTS), f"a rank uses other ports than those that were named: {ports}")
    last = [line for line in told if line.get("exchange_bytes")][-1]
    check(last["ranks"] == len(RANK_HOSTS), f"not of all ranks: {last}")
    return {"hosts": len(RANK_HOSTS), **{key: round(rate, 1) for key, rate in rates.items()},
            "exchange_bytes": last["exchange_bytes"], "exchange_ms": last["exchange_ms"]}


def broken(stage, harm, mend):
    """Ranks that lose one of them end in words, and go on where they were when started again."""
    with run_of_ranks(stage, SETTINGS) as run:
        start_ranks(run)
        gone, begun = harm(run), time.monotonic()

        def others_ended():
            return set(ranks_of(run).values()) <= {gone}
        wait_for("the other ranks to end", others_ended, pause_s=0.05)
        others_ended_s = time.monotonic() - begun
        try:
            code = run.learner.wait_end(ENDED_S_MAX)
        finally:
            mend(run)
        ended_s = time.monotonic() - begun
        said = run.learner.lines("ranks_ended")
        check(said, "nobody said why")
        check(others_ended_s <= TIMEOUT_S + ENDED_S_MAX / 6, f"only after {others_ended_s:.1f} s")
        check(code != 0, "mpirun took it for an end in order")
        wait_for("the last rank to end", lambda: not ranks_of(run))
        steps = number(run.learner.lines("checkpoint_written")[-1]["step"])
        start_ranks(run, "--resume")
        resumed = number(run.learner.lines("resumed")[-1]["step"])
        check(resumed >= steps, f"it went on from {resumed:.0f}, and had written {steps:.0f}")
        end_in_order(run)
    return {"hosts": len(RANK_HOSTS), "timeout_s": TIMEOUT_S, "exit": code,
            "ranks_ended_s": round(others_ended_s, 1), "mpirun_ended_s": round(ended_s, 1)}


def ranks_cut(stage):
    """A rank's host is cut off from the others."""
    def harm(run):
        stage.network.cut("spare")
        return ranks_of(run)[1]
    return broken(stage, harm, lambda run: stage.network.heal("spare"))


def ranks_stopped(stage):
    """A rank on another host stands still."""
    def harm(run):
        pid = ranks_of(run)[1]
        os.kill(pid, signal.SIGSTOP)
        return pid
    return broken(stage, harm, lambda run: None)


# ---- what an exchange costs ---------------------------------------------------------------------

LINES_MBIT = [0, 1000, 100]  # 0: what the switch carries
TURNS = 3
STEPS = 8  # of a slice of the bench, so that 100 Mbit/s end in time


BENCH_COLUMNS = ("gradients", "ranks", "sharing", "rows/s", "ms a step", "exchange", "share %",
                 "bytes", "MiB kept")


def bench(stage, environment, words):
    """The rows that bench_ranks prints, by the format of gradients."""
    program = os.path.join(stage.build, "bench/learner/bench_ranks")
    inside = stage.network.inside("learner", [*words, program, "acme", "1", str(STEPS)])
    said = subprocess.run(inside, check=True, stdout=subprocess.PIPE, text=True,
                          env=environment).stdout
    head, *rows = said.splitlines()
    if head.split() != " ".join(BENCH_COLUMNS).split():
        raise AssertionError(f"bench_ranks has other columns: {head}")
    cells = [row.split() for row in rows]
    return {row[0]: dict(zip(BENCH_COLUMNS[1:], map(float, row[1:]))) for row in cells
            if len(row) == len(BENCH_COLUMNS)}  # others are sentences


def ranks_slow(stage):
    """D4PG at Acme's sizes on two hosts: rows a second beside one rank's, and the exchange's share
    of a step, by line and format of gradients; medians of turns."""
    environment = rank_environment(stage)
    found = {}
    with RankHosts(stage, environment):
        for _ in range(TURNS):
            alone = bench(stage, environment, [])["-"]["rows/s"]
            for rate_mbit in LINES_MBIT:
                stage.network.shape(0, 0, rate_mbit)
                told = bench(stage, environment, launcher(RANK_HOSTS[:2]))
                for name, row in told.items():
                    found.setdefault((rate_mbit, name), []).append(
                        (row["rows/s"], row["rows/s"] / alone, row["share %"], row["bytes"]))
            stage.network.unshape()
    return {"turns": TURNS, **{f"{rate_mbit or 'any'} Mbit/s, {name}": spread(rows)
                               for (rate_mbit, name), rows in found.items()}}


def spread(rows):
    """Medians, least and greatest of each column but the last, which is always the same."""
    speeds, beside, shares, sizes = zip(*rows)
    return {key: [round(number_of, 2) for number_of in
                  (statistics.median(values), min(values), max(values))]
            for key, values in (("rows_s", speeds), ("beside_one", beside), ("share", shares))
            } | {"bytes": sizes[0]}


SCENARIOS = {function.__name__: function for function in (ranks, ranks_cut, ranks_stopped,
                                                          ranks_slow)}
