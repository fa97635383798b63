#!/usr/bin/env python3
"""Lets every kind of file operation of a learner and of a shard go wrong, in a run that goes on.

    faults.py BUILD [replay] [learner] [power] [learner_power]

A life of the daemon is one fault: killed before or after the operation, in the middle of a write,
refused (EIO, EMFILE, ENOSPC), given half; or a start in which nothing of a kind can be read. Power
loss is kill -9, and then everything is taken back that was not synced. What is left is judged
without our own code: observations name their steps (named_steps.c), and data sets, checkpoints and
policies are read here.

AQ_FAULTS says how many lives of each campaign (0: all that there are), AQ_SEED which, AQ_MATCH only
those whose operation, such as "open ROOT/checkpoints/step-", holds this text. AQ_EACH=N lets each
of the first N operations of a kind go wrong, instead of the first and a later one.
"""
import array
import collections
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hostile"))
from live_run import Daemon, free_ports, wait_for  # noqa: E402
from crc32c import crc32c  # noqa: E402, which live_run's path finds

CONFIG = """\
task: so:{plugin}
seed: 7
learner: {{hidden: "8", batch_size: 16, checkpoint_period_s: 0.1, checkpoints_kept: 2,
          learning_rate: 1e-8, n_step: 1}}
replay: {{capacity: 1000000, min_size: 50, samples_per_insert: 400, tolerance: 400,
         chunk_length: 8, selector: prioritized, remover: lowest-priority, segment_bytes: 65536,
         snapshot_ms: {snapshot_ms}, fsync_ms: {fsync_ms}}}
actor: {{count: 1, envs: 1}}
evaluator: {{threshold: 1e9, share: 1, screen_episodes: 1, episodes: 2}}
quantizer: {{publish_period: 500, error_budget: 1}}
net: {{heartbeat_ms: 20, message_bytes: 4096}}
limits: {{env_steps: 1000000000}}
"""
EIO, EMFILE, ENOSPC = "5", "24", "28"
DEEDS = {"read": [EIO, "short", "before"], "look": [EIO, "before"], "list": [EIO, EMFILE],
         "open": [EIO, EMFILE, "before"], "make": [EIO, EMFILE, ENOSPC, "before", "after"],
         "write": [EIO, ENOSPC, "short", "torn", "before", "after"],
         "sync": [EIO, "before", "after"], "rename": [EIO, ENOSPC, "before", "after"],
         "unlink": [EIO, "before", "after"], "mkdir": [ENOSPC, "before"],
         "truncate": [EIO, "before", "after"]}
READS = ("read", "look", "list", "open")
LIFE_S = 0.6
Fault = collections.namedtuple("Fault", "match at times deed")


def steps_of(path):
    """{incarnation: counter of each transition}; what is not as named_steps makes it is told."""
    found = collections.defaultdict(list)
    with open(path, "rb") as file:
        size = struct.unpack("<4sIII", file.read(16))[2]
        file.read(size)
        while (mark := file.read(64))[:4] == b"AQBK":
            _, _, incarnation, _, _, _, length, overlap = struct.unpack("<I3Q4I", mark[4:48])
            obs = array.array("f", file.read(16 * (length + 1)))
            file.read(12 * length)
            for row in range(length):
                before, after = obs[4 * row:4 * row + 4], obs[4 * row + 4:4 * row + 8]
                assert after[:2] == before[:2] and after[2] == before[2] + 1 and \
                    after[3] == before[3] + 1, f"{path}: {before} is followed by {after}"
                if row >= overlap:
                    found[incarnation].append(int(before[3]))
    assert mark[:4] == b"AQED", path
    return found


CHECKPOINT, POLICY = 6, 4  # kinds of frames


def message_of(frame, kind):
    """{number: the last value} of the message in a frame, which has to be whole."""
    magic, its_kind, _, size, crc = struct.unpack("<4sHHII", frame[:16])
    assert (magic, its_kind, size) == (b"AQF1", kind, len(frame) - 16), "no such frame"
    assert crc == crc32c(frame[4:12] + frame[16:]), "a frame with another check sum"
    at, found = 16, {}

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = frame[at]
            at, value, shift = at + 1, value | (byte & 0x7f) << shift, shift + 7
            if byte < 0x80:
                return value

    while at < len(frame):
        number, form = divmod(varint(), 8)
        if form == 0:
            found[number] = varint()
        else:
            length = varint() if form == 2 else {1: 8, 5: 4}[form]
            found[number] = frame[at:at + length]
            at += length
    return found


class Site:
    """A learner, a shard, an actor and an evaluator; one of the first two is let down."""

    def __init__(self, build, fsync_ms=50, snapshot_ms=50):
        self.build = os.path.abspath(build)
        self.folder = tempfile.mkdtemp(prefix="aq-faults-")
        self.port = free_ports(4)
        self.lives = 0
        self.came = 0  # faults, of those that lives were given
        self.begun = 0.0
        self.daemons = {}
        self.lost = collections.defaultdict(set)
        with open(self.path("c.yaml"), "w", encoding="ascii") as file:
            file.write(CONFIG.format(plugin=self.tool("libnamed_steps.so"), fsync_ms=fsync_ms,
                                     snapshot_ms=snapshot_ms))
        os.mkdir(self.path("run-shadow"))
        os.mkdir(self.path("store-shadow"))

    def begin(self):
        self.start("learner")
        self.start("replay")
        self.start("actor")
        self.start("evaluator")
        self.wait(lambda: self.status().get("learner", {}).get("checkpoint_step", 0) > 0, "a run")

    def path(self, name):
        return os.path.join(self.folder, name)

    def tool(self, name):
        return os.path.join(self.build, "tests", "faults", name)

    def program(self, name):
        return os.path.join(self.build, "cli" if name == "actorq" else name[7:], name)

    def arguments(self, seat):
        learner = f"tcp://127.0.0.1:{self.port}"
        return {"learner": ["learner", "--config", self.path("c.yaml"), "--preset", "none",
                            "--listen", learner, "--run", self.path("run"), "--resume"],
                "replay": ["replay", "--learner", learner, "--data", self.path("store"),
                           "--listen", f"tcp://127.0.0.1:{self.port + 2}"],
                "actor": ["actor", "--learner", learner, "--allow-code"],
                "evaluator": ["actor", "--learner", learner, "--allow-code",
                              "--evaluate"]}[seat]

    def start(self, seat, fault=None):
        """A new life, with a log of its own."""
        role, *arguments = self.arguments(seat)
        root = {"learner": "run", "replay": "store"}.get(seat)
        self.lives += 1
        self.begun = time.monotonic()
        environment = []
        if root:
            environment = ["env", "LD_PRELOAD=" + self.tool("libfault_shim.so"),
                           "FAULT_ROOT=" + self.path(root),
                           "FAULT_TRACE=" + self.path(f"{self.lives}.trace"),
                           "FAULT_SHADOW=" + self.path(root + "-shadow")]
        if fault:
            environment += ["FAULT_MATCH=" + fault.match.replace("ROOT", self.path(root)),
                            f"FAULT_AT={fault.at}", f"FAULT_TIMES={fault.times}",
                            "FAULT_DO=" + fault.deed]
        self.daemons[seat] = Daemon(self.folder, f"{self.lives}-{seat}",
                                    [*environment, self.program(f"actorq-{role}"), *arguments])
        return self.daemons[seat]

    def check(self):
        for seat in ("actor", "evaluator"):
            assert seat not in self.daemons or self.daemons[seat].lives(), \
                f"{seat} is gone:\n{self.daemons[seat].log()[-2000:]}"

    def wait(self, condition, what):
        """What the condition gives once it holds."""
        return wait_for(what, lambda: condition() or self.check(), lambda: "\n".join(
            daemon.log()[-1000:] for daemon in self.daemons.values()), pause_s=0.02)

    def status(self):
        done = subprocess.run([self.program("actorq"), "call", f"tcp://127.0.0.1:{self.port}",
                               "Operations/Status"], capture_output=True, text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def acknowledged(self):
        """Steps that the actor knows to be kept; there are some since the site has begun, so none
        is no answer."""
        return self.wait(lambda: next((int(member["actor"].get("acknowledged_steps", 0))
                                       for member in self.status().get("members", [])
                                       if member["role"] == "ROLE_ACTOR"), 0),
                         "a status with acknowledged steps")

    def live(self, seat, fault=None, work_s=LIFE_S):
        """A life that ends by itself, or is killed once it has worked for a while."""
        daemon = self.start(seat, fault)
        works = {"replay": " event=store_restored ", "learner": " event=checkpoint_written "}[seat]
        self.wait(lambda: not daemon.lives() or works in daemon.log() or
                  (fault and time.monotonic() > self.begun + 10 * LIFE_S), f"{seat} with {fault}")
        end = time.monotonic() + work_s
        self.wait(lambda: not daemon.lives() or time.monotonic() > end, f"{seat} with {fault}")
        self.end(daemon, fault)
        traced = self.traced()
        assert fault or traced, "no operation was traced: the shim is not in the daemon"
        self.came += fault is not None and traced >= fault.at
        return daemon

    def traced(self):
        """Operations of the latest life; of one with a fault, those that match it."""
        path = self.path(f"{self.lives}.trace")
        if not os.path.exists(path):
            return 0
        with open(path, encoding="utf-8") as file:
            return sum(1 for _ in file)

    def end(self, daemon, fault=None):
        daemon.process.kill()
        code = daemon.process.wait()
        words = daemon.log()
        assert code in (1, -signal.SIGKILL), f"{fault}: ended with {code}:\n{words[-3000:]}"
        assert code != 1 or words.strip(), f"{fault}: ended without a word"

    def close(self):
        for daemon in self.daemons.values():
            daemon.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- the shard ---------------------------------------------------------------------------

    def export(self):
        path = self.path("steps.aqds")
        if os.path.exists(path):
            os.unlink(path)
        done = subprocess.run([self.program("actorq"), "replay", "export", self.path("store"), path,
                               "--quiet"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return steps_of(path)

    def check_store(self, fault):
        """With the shard away: what was acknowledged is there, once, but for what power took.
        Returns what is there."""
        acknowledged = self.acknowledged()
        steps = self.export()
        assert steps, f"{fault}: no step is there, {acknowledged} were acknowledged"
        for incarnation, counters in steps.items():
            there = set(counters)
            assert len(there) == len(counters), \
                f"{fault}: {len(counters) - len(there)} steps are there twice"
            missing = set(range(acknowledged)) - there - self.lost[incarnation]
            assert not missing, f"{fault}: {len(missing)} of {acknowledged} acknowledged steps " \
                                f"are gone, {min(missing)} to {max(missing)}"
        return steps

    def check_restored(self, daemon, fault):
        """A healthy life draws from all that it has read."""
        found = re.search(r"event=store_restored.* steps=(\d+) items=(\d+)", daemon.log())
        assert found, f"{fault}: does not start again:\n{daemon.log()[-3000:]}"
        assert found[1] == found[2], f"{fault}: {found[1]} steps were read, {found[2]} are drawn"

    # ---- power -------------------------------------------------------------------------------

    @staticmethod
    def synced(folder, shadow, names_too):
        """{name: bytes, or what is in a folder} that a loss of power leaves."""
        kept = os.path.join(shadow, f"d{os.stat(folder).st_ino}")
        names = {name: os.stat(os.path.join(folder, name)).st_ino for name in os.listdir(folder)}
        owners = {inode: name for name, inode in names.items()}
        if names_too and os.path.exists(kept):
            with open(kept, encoding="utf-8") as file:
                before = {name: int(inode) for inode, name in
                          (line.split(maxsplit=1) for line in file.read().splitlines())
                          if name not in (".", "..")}
            # An inode that has a new file since: then the end of the old one was written.
            if all(owners.get(inode, name) in (name, re.sub(r"\.tmp(-.*)?$", "", name))
                   for name, inode in before.items()):
                names = before
        left = {}
        for name, inode in names.items():
            here = os.path.join(folder, owners.get(inode, name))
            there = os.path.join(shadow, f"i{inode}")
            left[name] = b""
            if os.path.isdir(here):
                left[name] = Site.synced(here, shadow, names_too)
            elif os.path.exists(there):
                with open(there, "rb") as file:
                    left[name] = file.read()
        return left

    @staticmethod
    def write(folder, shadow, contents):
        for name, content in contents.items():
            path = os.path.join(folder, name)
            if isinstance(content, dict):
                os.mkdir(path)
                Site.write(path, shadow, content)
                continue
            with open(path, "wb") as file:
                file.write(content)
            shutil.copy(path, os.path.join(shadow, f"i{os.stat(path).st_ino}"))
        with open(os.path.join(shadow, f"d{os.stat(folder).st_ino}"), "w",
                  encoding="utf-8") as file:
            for name in contents:
                file.write(f"{os.stat(os.path.join(folder, name)).st_ino} {name}\n")

    def lose_power(self, root, names_too):
        """Takes back what was not synced: contents, and with names_too those of files as well."""
        root, shadow = self.path(root), self.path(root + "-shadow")
        left = self.synced(root, shadow, names_too)
        for folder in (root, shadow):
            shutil.rmtree(folder)
            os.mkdir(folder)
        self.write(root, shadow, left)

    # ---- the learner -------------------------------------------------------------------------

    def message(self, name, kind):
        with open(self.path(name), "rb") as file:
            return message_of(file.read(), kind)

    def check_learner(self, before, fault):
        """A healthy life goes on from the last checkpoint that was told, and leaves no policy
        behind; returns its status."""
        daemon = self.start("learner")
        self.wait(lambda: not daemon.lives() or " event=resumed " in daemon.log(), "a resumed run")
        assert daemon.lives(), f"{fault}: does not start again:\n{daemon.log()[-3000:]}"
        daemon.process.send_signal(signal.SIGSTOP)
        step = int(re.search(r"event=resumed step=(\d+)", daemon.log())[1])
        assert step >= before["step"], f"{fault}: resumed at {step}, there was {before['step']}"
        with open(self.path("run/run.json"), encoding="utf-8") as file:
            assert json.load(file)["run_id"] == before["run_id"], f"{fault}: it is another run"
        checkpoint = self.message(f"run/checkpoints/step-{step:012d}.aqc", CHECKPOINT)
        assert checkpoint[6] == step, f"{fault}: a checkpoint of {checkpoint[6]} is named {step}"
        best = message_of(checkpoint[18], POLICY)[2] if checkpoint.get(18) else 0
        policy = self.message("run/policy.aq", POLICY)[2] if best else 0
        assert policy >= best, f"{fault}: policy.aq is {policy}, {best} is best"
        daemon.process.send_signal(signal.SIGCONT)

        def newer_version():
            version = self.status().get("learner", {}).get("policy_version", 0)
            return version if version > before["version"] else None

        before["version"] = self.wait(newer_version,
                                      f"{fault}: a version after {before['version']}")
        self.end(daemon)
        before["step"] = max(before["step"], self.told(daemon))

    @staticmethod
    def told(daemon):
        return max(map(int, re.findall(r"event=checkpoint_written step=(\d+)", daemon.log())),
                   default=0)


def places(site, root):
    """Each kind of operation on each kind of file, of the lives that were traced, and how often it
    came in one of them."""
    found = collections.Counter()
    for name in os.listdir(site.folder):
        counts = collections.Counter()
        if name.endswith(".trace"):
            with open(site.path(name), encoding="utf-8") as file:
                for line in file:
                    _, kind, path = line.rstrip("\n").split(" ", 2)
                    # A new file's name is drawn or counted: up to there.
                    stem = re.sub(r"(\.tmp-|segment-|step-|tfevents\.).*", r"\1", path)
                    if stem.startswith(site.path(root)):
                        counts[f"{kind} {stem.replace(site.path(root), 'ROOT', 1)}"] += 1
        found |= counts
    return found


def faults_of(site, root, rng):
    """The first operation of each kind, a later one, and starts in which none of them works."""
    faults = []
    each = int(os.environ.get("AQ_EACH", "0"))
    for match, count in places(site, root).items():
        kind = match.split()[0]
        if os.environ.get("AQ_MATCH", "") not in match:
            continue
        for deed in DEEDS[kind]:
            later = [rng.randint(2, count)] if count > 2 else []
            faults += [Fault(match, at, 1, deed)
                       for at in (range(1, min(count, each) + 1) if each else [1, *later])]
        if kind in READS:
            faults.append(Fault(match, 1, 0, EIO))
            faults.append(Fault(match, max(1, count // 2), 0, EIO))
    rng.shuffle(faults)
    wanted = int(os.environ.get("AQ_FAULTS", "0"))
    return faults[:wanted] if wanted else faults


def campaign_replay(build, rng):
    """A faulty life, what it left; a healthy one, which reads it."""
    site = Site(build)
    try:
        site.begin()
        site.end(site.daemons["replay"])
        site.live("replay")
        faults = faults_of(site, "store", rng)
        for fault in faults:
            site.live("replay", fault)
            site.check_store(fault)
            healthy = site.live("replay")
            site.check_restored(healthy, fault)
            site.check_store(fault)
        return site.came, len(faults)
    finally:
        site.close()


def campaign_power(build, rng):
    """The end of the machine, with a snapshot that is ahead of what was synced; and a kill before
    there is another snapshot."""
    rounds = int(os.environ.get("AQ_FAULTS", "0")) or 40
    site = Site(build, fsync_ms=5000, snapshot_ms=500)
    try:
        site.begin()
        site.end(site.daemons["replay"])
        for i in range(rounds):
            site.live("replay", work_s=0.7 + rng.random())
            site.lose_power("store", names_too=i % 2 == 1)
            fault = f"power loss {i}"
            lower = {k: set(v) for k, v in site.export().items()}
            # Asked after the export: heartbeats have told what the shard acknowledged at its end.
            before = site.acknowledged()
            for incarnation, kept in lower.items():
                site.lost[incarnation] |= set(range(before)) - kept
            healthy = site.live("replay", work_s=0.3)
            site.check_restored(healthy, fault)
            assert "the file is missing" not in healthy.log(), f"{fault}: of no dropped file a note"
            after = site.export()
            for incarnation, kept in lower.items():
                gone = kept - set(after[incarnation])
                assert not gone, f"{fault}: {len(gone)} steps went that the disk had kept"
                site.lost[incarnation] -= set(after[incarnation])  # what came since is not lost
            healthy = site.live("replay")
            site.check_restored(healthy, fault)
            last = site.check_store(fault)
            for incarnation, counters in after.items():
                gone = set(counters) - set(last[incarnation])
                assert not gone, f"{fault}: {len(gone)} steps went with the kill after it"
        return rounds, rounds
    finally:
        site.close()


def first_learner(site):
    """What there is after the first learner's end, and a healthy life."""
    with open(site.path("run/run.json"), encoding="utf-8") as file:
        before = {"run_id": json.load(file)["run_id"], "step": 0, "version": 0}
    site.end(site.daemons["learner"])
    before["step"] = site.told(site.daemons["learner"])
    site.check_learner(before, "the first kill")
    return before


def campaign_learner_power(build, rng):
    """The end of the machine; what was told of checkpoints is on the disk."""
    rounds = int(os.environ.get("AQ_FAULTS", "0")) or 40
    site = Site(build)
    try:
        site.begin()
        before = first_learner(site)
        for i in range(rounds):
            before["step"] = max(before["step"], site.told(
                site.live("learner", work_s=0.2 + rng.random())))
            site.lose_power("run", names_too=i % 2 == 1)
            site.check_learner(before, f"power loss {i}")
        return rounds, rounds
    finally:
        site.close()


def campaign_learner(build, rng):
    """A faulty life, and a healthy one that goes on from it."""
    site = Site(build)
    try:
        site.begin()
        before = first_learner(site)
        faults = faults_of(site, "run", rng)
        for fault in faults:
            before["step"] = max(before["step"], site.told(site.live("learner", fault)))
            site.check_learner(before, fault)
        return site.came, len(faults)
    finally:
        site.close()


def main():
    build, *wanted = sys.argv[1:]
    campaigns = {"replay": campaign_replay, "learner": campaign_learner, "power": campaign_power,
                 "learner_power": campaign_learner_power}
    seed = int(os.environ.get("AQ_SEED", "1"))
    for name in wanted or campaigns:
        print(f"{name}: AQ_SEED={seed}", flush=True)
        started = time.monotonic()
        came, lives = campaigns[name](build, random.Random(seed))
        assert came, f"{name}: of {lives} faults none came"
        print(f"{name}: {came} faults in {lives} lives, {time.monotonic() - started:.0f} s, "
              "nothing lost, doubled, invented or begun anew", flush=True)


if __name__ == "__main__":
    main()
