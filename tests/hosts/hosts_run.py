"""A run on hosts of their own: a learner, shards and actors as processes of the Network's hosts,
and what they say of themselves."""

import functools
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import daemons

LEARNER_PORT = 5550
REPLAY_PORT = 5560

PATIENCE_S = 60  # for what must happen; a machine may be busy

wait_for = functools.partial(daemons.wait_for, patience_s=PATIENCE_S, pause_s=0.1)


def check(condition, text):
    """What was promised has happened."""
    if not condition:
        raise AssertionError(text)


class Daemon(daemons.Daemon):
    """One of a host's processes; it is started."""

    def __init__(self, run, name, host, words, *more):
        super().__init__(run.folder, name, run.network.inside(host, [*words, *more]),
                         run.environment, stdin=subprocess.DEVNULL)
        self.host, self.words = host, words

    def cpu_s(self):
        """Processor time so far, of all its threads."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def lines(self, event):
        """The log's lines of that event, each as a dict of its fields that have no blanks."""
        found = [line for line in self.log().splitlines() if f" event={event} " in line]
        return [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in found]


class Run:
    """The daemons of one run, in a with statement; one that ended by itself is a fault."""

    def __init__(self, network, build, folder, settings, certs=None):
        self.network, self.build, self.folder = network, build, folder
        self.settings = {**DEFAULTS, **settings}
        self.certs = certs  # the folder of an authority; None: nothing is protected
        self.environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        os.makedirs(folder, exist_ok=True)
        self.learner = None
        self.launcher = []  # words before those of the learner
        self.shards, self.actors = [], []
        self.lives = 0  # of actors that took the place of others

    def __enter__(self):
        return self

    def __exit__(self, kind, fault, trace):
        ended = [daemon.name for daemon in self.daemons()
                 if daemon.process.returncode is None and not daemon.lives()]
        for daemon in self.daemons():
            if daemon.lives():
                daemon.kill()
        if kind is None:
            check(not ended, f"ended by themselves: {', '.join(ended)}; see {self.folder}")
        return False

    def daemons(self):
        return [daemon for daemon in [self.learner, *self.shards, *self.actors] if daemon]

    def program(self, part, name, words):
        return [os.path.join(self.build, part, "actorq" + name), *words]

    def credentials(self, role):
        """Of a role that listens, or of one that does not."""
        if self.certs:
            return ["--certs", os.path.join(self.certs, role)]
        return ["--insecure"] if role in ("learner", "replay") else []

    # ---- starting -------------------------------------------------------------------------------

    def start_learner(self, host="learner", *more):
        words = ["--listen", f"tcp://0.0.0.0:{LEARNER_PORT}", "--run",
                 os.path.join(self.folder, "run"), *self.credentials("learner")]
        for key, value in self.settings.items():
            words += ["--set", f"{key}={value}"]
        self.learner = Daemon(self, "learner", host,
                              [*self.launcher, *self.program("learner", "-learner", words)],
                              *more)

    def learner_url(self):
        return f"tcp://learner:{LEARNER_PORT}"

    def start_shard(self, host="replay", folder=None):
        number = len(self.shards)
        folder = folder or os.path.join(self.folder, f"store-{number}")
        words = ["--learner", self.learner_url(), "--listen",
                 f"tcp://*:{REPLAY_PORT + 2 * number}", "--data", folder,
                 *self.credentials("replay")]
        shard = Daemon(self, f"replay-{number}", host, self.program("replay", "-replay", words))
        shard.store = folder
        self.shards.append(shard)
        return shard

    def start_actor(self, host="actors", evaluate=False):
        words = ["--learner", self.learner_url(),
                 *self.credentials("evaluator" if evaluate else "actor")]
        words += ["--evaluate"] if evaluate else []
        actor = Daemon(self, f"actor-{len(self.actors)}", host,
                       self.program("actor", "-actor", words))
        self.actors.append(actor)
        return actor

    def restart_actor(self, place):
        """Another one in place of one that was killed; its log is a new one."""
        self.lives += 1
        before = self.actors[place]
        self.actors[place] = Daemon(self, f"actor-{place}-{self.lives}", before.host, before.words)

    def start(self, actors, trains=True):
        self.start_learner()
        for _ in range(int(self.settings["replay.shards"])):
            self.start_shard()
        self.add_actors(actors, trains)

    def add_actors(self, count, trains=False):
        """Until all are in the run, and the learner trains, where it should."""
        for _ in range(count):
            self.start_actor()

        def all_run():
            status = self.status()
            return (status and len(members_of(status, "actor")) >= len(self.actors) and
                    number(status["learner"]["learner_steps"]) >= trains)
        wait_for("the run to run", all_run, patience_s=3 * PATIENCE_S)

    # ---- asking ---------------------------------------------------------------------------------

    def actorq(self, host, words):
        """Standard output of the command-line tool; None when it fails."""
        done = subprocess.run(self.network.inside(host, self.program("cli", "", words)),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                              env=self.environment)
        return done.stdout if done.returncode == 0 else None

    def status(self):
        """The learner's, asked on its own host, whose line to itself is never cut; or None."""
        address = self.network.hosts[self.learner.host].address
        return self._status(self.learner.host, f"tcp://{address}:{LEARNER_PORT}")

    def shard_status(self, number=0):
        shard = self.shards[number]
        address = self.network.hosts[shard.host].address
        return self._status(shard.host, f"tcp://{address}:{REPLAY_PORT + 2 * number}")

    def _status(self, host, url):
        text = self.actorq(host, ["status", url, "--json", *self.credentials("operator")])
        return json.loads(text) if text else None

    def sure_status(self):
        return wait_for("the learner to answer", self.status)

    # ---- figures --------------------------------------------------------------------------------

    def rates(self, seconds):
        """Environment and learner steps a second over the next seconds."""
        first, begun = self.sure_status(), time.monotonic()
        time.sleep(seconds)
        last, passed_s = self.sure_status(), time.monotonic() - begun
        return {key: (number(last["learner"][key]) - number(first["learner"][key])) / passed_s
                for key in ("env_steps", "learner_steps")}


# The cores shall not be what limits a run, and nothing but the scenario shall end it.
DEFAULTS = {
    "task": "gym:CartPole-v1?sleep_us=5000",
    "seed": 1,
    "learner.hidden": "64,64",
    "learner.n_step": 1,
    "replay.shards": 1,
    "replay.samples_per_insert": 4,
    "replay.capacity": 1000000,
    "replay.min_size": 500,
    "replay.tolerance": 4000,
    "actor.envs": 1,
    "limits.env_steps": 1000000000,
    "evaluator.threshold": 1000000,
}


def number(value):
    """JSON of protobuf messages has 64-bit numbers as text."""
    return float(value or 0)


def members_of(status, role):
    return {member["incarnation"]: member for member in status["members"]
            if role in member["role"].lower()}


def acknowledged(member):
    return number((member.get("actor") or {}).get("acknowledged_steps"))
