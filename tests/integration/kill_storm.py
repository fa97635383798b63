"""A storm: processes of a run are killed at random moments, and started again as whoever started
them would. Nothing may hang, no checkpoint be skipped, and no count fall: of the run's steps, and
shards' below what actors were told is stored. What shards hold is read by tests/faults instead.
Who inherits it says what there is, and who is killed."""

import json
import os
import random
import re
import subprocess
import time

from train_run import PATIENCE_S, program, wait_for


def storms(test, kind, algorithms):
    """AQ_STORM kills (6), as AQ_SEED says, shared out over the algorithms."""
    seed = int(os.environ.get("AQ_SEED", "1"))
    kills = int(os.environ.get("AQ_STORM", "6"))
    print(f"AQ_SEED={seed} AQ_STORM={kills}", flush=True)
    rng = random.Random(seed)
    for i, algorithm in enumerate(algorithms):
        with test.subTest(algorithm=algorithm), kind(test, algorithm, rng) as storm:
            for _ in range(i, kills, len(algorithms)):
                storm.kill()
            storm.end()


class KillStorm:
    def __init__(self, test, rng, actorq, name, learner, more):
        self.test, self.rng, self.actorq = test, rng, actorq
        test.run_dir = f"{test.home}/{name}"
        self.url = f"ipc://{test.run_dir}-l"
        self.log_path = test.run_dir + ".log"
        self.config = test.run_dir + ".yaml"
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f"task: gym:CartPole-v1\nlearner: {{{learner}, checkpoint_period_s: 0.2}}\n"
                       "evaluator: {threshold: 1000}\nlimits: {env_steps: 1000000000}\n"
                       f"{more}\n")
        self.processes, self.starts = {}, 0
        self.steps, self.told = 0, {}  # by each actor's process: what it was told is stored
        self.told_at, self.in_shards = {}, {}  # when it said so; what it had said before shards did
        self.took = []

    def __enter__(self):
        self.launch()
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(PATIENCE_S)
        self.check_log()

    # ---- processes ------------------------------------------------------------------------------

    def start(self, name, *arguments, before=(), env=None):
        with open(self.log_path, "a", encoding="utf-8") as out:
            self.processes[name] = subprocess.Popen(
                [*before, program(self.actorq, name.split("-")[0]), *arguments], stdout=out,
                stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})

    def start_member(self, name, *arguments):
        """A shard, or an actor; of several by names as actor-1."""
        own = ["--listen", f"ipc://{self.test.run_dir}-r", "--data", self.test.run_dir + "-data"]
        self.start(name, "--learner", self.url, *(own if name == "replay" else []), *arguments)

    def start_learner(self, *arguments, before=(), env=None):
        self.start("learner", "--config", self.config, "--listen", self.url, "--run",
                   self.test.run_dir, *(["--resume"] if self.starts else []), *arguments,
                   before=before, env=env)
        self.starts += 1

    # ---- what they say --------------------------------------------------------------------------

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def status(self):
        """None while there is no learner."""
        asked = subprocess.run([self.actorq, "status", self.url, "--json", "--timeout-ms",
                                "500"], capture_output=True, text=True, check=False)
        return json.loads(asked.stdout) if asked.returncode == 0 else None

    def acknowledged(self):
        return sum(self.told.values())

    def look(self):
        """Whether all who live take part, and train; then no count must have got less."""
        asked = time.monotonic()
        status = self.status() or {"members": []}
        answered = time.monotonic()
        said = {member["pid"]: member for member in status["members"]}
        here = [said.get(process.pid, {}) for name, process in self.processes.items()
                if name != "learner"]
        shards = [member["replay"]["inserted"] for member in here if "replay" in member]
        actors = {member["pid"]: member["actor"]["acknowledged_steps"] for member in here
                  if "actor" in member}
        if len(shards) + len(actors) < len(here) or not all([*shards, *actors.values()]):
            return False
        if status["learner"]["learner_steps_per_s"] <= 0:
            return False
        # Each tells by heartbeats of its own: what shards said may be older than what actors did.
        heard = [asked - member["heartbeat_ms"] / 1e3 for member in here if "replay" in member]
        self.in_shards.update({pid: steps for pid, steps in self.told.items()
                               if self.told_at[pid] < min(heard)})
        self.test.assertGreaterEqual(sum(shards) * self.row_steps(), sum(self.in_shards.values()),
                                     "acknowledged steps are lost")
        self.test.assertGreaterEqual(status["learner"]["env_steps"], self.steps)
        self.steps = status["learner"]["env_steps"]
        self.told.update(actors)
        self.told_at.update({pid: answered - said[pid]["heartbeat_ms"] / 1e3 for pid in actors})
        return True

    @staticmethod
    def row_steps():
        """Environment steps in one of a shard's."""
        return 1

    def wait(self, what, done):
        wait_for(what, done, self.log, pause_s=0.02)

    def trains(self):
        begun = time.monotonic()
        self.wait("training", self.look)
        self.took.append(time.monotonic() - begun)

    def check_log(self):
        """What was said to be written is what the next life went on from, or what was written
        while it was read."""
        log = self.log()
        for word in ("checkpoint_skipped", "checkpoint_failed", "store_ledger", "Sanitizer",
                     "runtime error"):
            self.test.assertNotIn(word, log)
        written = [0]
        for event, step in re.findall(r"event=(checkpoint_written|resumed) step=(\d+)", log):
            if event == "resumed":
                self.test.assertGreaterEqual(int(step), max(written), log[-4000:])
            written.append(int(step))

    def said(self):
        took = sorted(self.took)
        return (f"{self.starts} starts of the learner, {self.steps} steps; to training again, s: "
                f"median {took[len(took) // 2]:.1f}, most {took[-1]:.1f}")

    def end(self):
        self.trains()
        for name, process in self.processes.items():
            self.test.assertIsNone(process.poll(), f"{name}: {self.log()[-4000:]}")
        self.processes["learner"].terminate()
        self.processes["learner"].wait(PATIENCE_S)
        self.check_log()
        print(self.said(), flush=True)
