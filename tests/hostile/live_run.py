"""A run on this host's loopback to be rude to: a learner, a shard and actors, over TCP.

Python's standard library only.
"""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from daemons import Daemon, wait_for

CONFIG = """\
task: gym:CartPole-v1
seed: 7
learner: {hidden: "32", batch_size: 32, checkpoint_period_s: 5}
replay: {capacity: 50000, min_size: 500, samples_per_insert: 0.5, tolerance: 5000, storage: memory}
actor: {count: 2, envs: 4}
evaluator: {threshold: 1e9}
limits: {env_steps: 1000000000}
"""


def free_ports(count):
    """`count` ports that follow each other and are free now, below those that the system hands
    out by itself."""
    while True:
        first = random.randrange(10000, 32000)
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first


class Run:
    """Five ports: the learner's calls and policies, the shard's calls and experience, HTTP."""

    def __init__(self, build, certs=None, config=CONFIG, plain=False):
        """`plain`: of the certificates' folder, its tokens alone."""
        self.build = os.path.abspath(build)
        self.folder = tempfile.mkdtemp(prefix="aq-hostile-")
        self.port = free_ports(5)
        self.certs = certs
        self.how = "TCP" if plain or not certs else "TLS"
        self.daemons = []
        with open(os.path.join(self.folder, "config.yaml"), "w", encoding="ascii") as file:
            file.write(config)

    def program(self, name):
        folder = {"actorq": "cli"}.get(name, name.removeprefix("actorq-"))
        return os.path.join(self.build, folder, name)

    def url(self, index=0):
        return f"tcp://127.0.0.1:{self.port + index}"

    def credentials(self, role):
        """As variables of the environment."""
        if not self.certs:
            return {}
        folder = os.path.join(self.certs, role)
        return ({"ACTORQ_CERTS": folder} if self.how == "TLS" else
                {"ACTORQ_TOKEN_FILE": os.path.join(folder, "token")})

    def start(self, name, role, *arguments):
        command = [self.program(f"actorq-{role}"), *arguments]
        environment = dict(os.environ, **self.credentials(role))
        self.daemons.append(Daemon(self.folder, name, command, environment))
        return self.daemons[-1]

    def begin(self, actors=2, actors_call=None, shard_arguments=()):
        """Starts it all, the actors with the learner at `actors_call`, and waits until it
        trains."""
        self.learner = self.start(
            "learner", "learner", "--config", os.path.join(self.folder, "config.yaml"),
            "--listen", self.url(), "--run", os.path.join(self.folder, "run"),
            "--http", f"127.0.0.1:{self.port + 4}")
        self.shard = self.start("replay", "replay", "--learner", self.url(),
                                "--listen", self.url(2), *shard_arguments)
        for i in range(actors):
            self.start(f"actor-{i}", "actor", "--learner", actors_call or self.url())
        self.wait(lambda: self.steps() > 50, "the learner trains")
        return self

    def wait(self, condition, what):
        """What the condition gives once it holds."""
        return wait_for(what, lambda: condition() or self.check(), self.learner.log)

    def check(self):
        for daemon in self.daemons:
            assert daemon.lives(), f"{daemon.name} is gone:\n{daemon.log()[-4000:]}"

    def call(self, index, method, request="{}"):
        """The answer, or None."""
        done = subprocess.run(
            [self.program("actorq"), "call", self.url(index), method, request],
            env=dict(os.environ, **self.credentials("operator")), capture_output=True, text=True,
            check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def status(self, index=0):
        """It is waited for: without one, nothing is known of steps or counts."""
        return self.wait(lambda: self.call(index, "Operations/Status"), "a status")

    def steps(self):
        return int(self.status()["learner"].get("learner_steps", 0))

    def go_on(self):
        """Waits until it has trained further."""
        before = self.steps()
        self.wait(lambda: self.steps() > before + 50, "the learner goes on")

    def members(self):
        """Those of this run's processes that the learner knows."""
        pids = {daemon.process.pid for daemon in self.daemons}
        return [member for member in self.status().get("members", []) if member.get("pid") in pids]

    def peers(self, index=0):
        """What this daemon counted of those who came."""
        return {key: int(value) for key, value in self.status(index).get("peers", {}).items()}

    def rate(self, seconds):
        """Learner steps per second, over a while."""
        before, started = self.steps(), time.monotonic()
        time.sleep(seconds)
        return (self.steps() - before) / (time.monotonic() - started)

    def end(self):
        """Ends it in order; every process has to leave with 0."""
        try:
            for daemon in reversed(self.daemons):
                code = daemon.end()
                assert code == 0, f"{daemon.name} left with {code}:\n{daemon.log()[-4000:]}"
        finally:
            for daemon in self.daemons:
                if daemon.lives():
                    daemon.process.kill()
            shutil.rmtree(self.folder, ignore_errors=True)
