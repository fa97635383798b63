"""Ten runs that are set up to fail: each says why. And runs that go well, which say nothing.

    diagnosis.py BUILD_ROOT [unittest's arguments]
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from daemons import PATIENCE_S, Daemon, wait_for

BUILD = sys.argv[1] if len(sys.argv) > 1 else ""
CARTPOLE, PENDULUM = "gym:CartPole-v1", "gym:Pendulum-v1"
DISK_BYTES = 128 << 10
SEEDS = (1, 2)

# Name, task, settings, what is said, the setting that is proposed.
RUNS = (
    ("too few updates", CARTPOLE,
     ["learner.batch_size=512", "replay.samples_per_insert=1", "limits.env_steps=50000"],
     "updates in", "replay.samples_per_insert="),
    ("a range of values that is too small", CARTPOLE,
     ["learner.algorithm=c51", "learner.value_min=-10", "learner.value_max=10",
      "limits.env_steps=20000"],
     "above learner.value_max", "learner.value_max=100"),
    ("a small network without Polyak averaging", CARTPOLE,
     ["learner.hidden=16", "limits.env_steps=150000"],
     "where the rewards seen can be worth no more than 100", "learner.tau=0.005"),
    ("rewards that are a hundred times as large", CARTPOLE + "?reward_scale=100",
     ["limits.env_steps=20000"],
     "rewards are large", "learner.reward_scale=0.01"),
    ("policies that are out of date", CARTPOLE,
     ["quantizer.publish_period=10000", "limits.env_steps=50000"],
     "actors act on what is long out of date", "quantizer.publish_period=100"),
    ("actions at their bounds", PENDULUM,
     ["learner.algorithm=ddpg", "learner.learning_rate=0.3", "learner.tau=0.01",
      "limits.env_steps=10000"],
     "of the policy's actions are at a bound", "learner.learning_rate=0.03"),
    ("rewards that never come", "gym:FrozenLake8x8-v1?one_hot=yes&time_limit=10",
     ["limits.env_steps=20000"],
     "no reward was seen", "actor.epsilon_alpha=1"),
    ("int2 without training for it", CARTPOLE,
     ["quantizer.format=int2", "limits.env_steps=20000"],
     "of the versions went out in fp32", "learner.qat_bits=2"),
)


def program(name):
    """Its path."""
    folder = name if name == "cli" else name.removeprefix("actorq-")
    return os.path.join(BUILD, folder, "actorq" if name == "cli" else name)


def limit_disk():
    """No file of this process becomes larger: what a full disk does."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (DISK_BYTES, DISK_BYTES))


class TestDiagnosis(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="actorq-diagnosis-")
        self.daemons = []

    def tearDown(self):
        for daemon in self.daemons:
            daemon.kill()
        shutil.rmtree(self.home)

    def train(self, task, settings, seed):
        """What `actorq train --json` says, of a run that nobody ends before its limit."""
        run = f"{self.home}/{len(os.listdir(self.home))}"
        command = [program("cli"), "train", task, "--json", "--quiet", "--no-http", "--run", run,
                   "--seed", str(seed)]
        for setting in settings:
            command += ["--set", setting]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def test_each_says_why(self):
        for name, task, settings, words, setting in RUNS:
            for seed in SEEDS:
                with self.subTest(name, seed=seed):
                    report = self.train(task, [*settings, "evaluator.threshold=1e9"], seed)
                    findings = report["findings"]
                    self.assertTrue([finding for finding in findings
                                     if words in finding["words"] and
                                     finding["setting"].startswith(setting)], findings)

    def test_what_goes_well_says_nothing(self):
        for task, algorithms in ((CARTPOLE, ("dqn", "c51")), (PENDULUM, ("d4pg", "ddpg", "td3"))):
            for algorithm in algorithms:
                with self.subTest(algorithm):
                    report = self.train(task, ["learner.algorithm=" + algorithm], 1)
                    self.assertEqual(report["findings"], [])

    def start(self, name, *arguments, preexec=None):
        """A daemon of the cluster."""
        self.daemons.append(Daemon(self.home, name, [program(name), *arguments],
                                   preexec_fn=preexec))

    def wait_for_verdict(self, words):
        """Until the learner's dashboard says so."""
        url = self.daemons[0].heard(r"event=http_ready url=(\S+)")

        def said():
            try:
                with urllib.request.urlopen(url + "/api/run", timeout=PATIENCE_S) as answer:
                    verdict = json.load(answer)["verdict"]
            except OSError:
                return ""
            return " ".join([verdict["headline"], *(note["text"] for note in verdict["notes"])])

        wait_for(words, lambda: words in said(), said, pause_s=0.2)

    def start_cluster(self, preexec=None):
        """A learner and a shard."""
        url = f"ipc://{self.home}/learner"
        with open(f"{self.home}/c.yaml", "w", encoding="utf-8") as file:
            file.write(f"task: {CARTPOLE}\n")
        self.start("actorq-learner", "--config", f"{self.home}/c.yaml", "--listen", url, "--run",
                   f"{self.home}/run", "--http", "127.0.0.1:0")
        self.start("actorq-replay", "--learner", url, "--listen", f"ipc://{self.home}/replay",
                   "--data", f"{self.home}/data", preexec=preexec)
        return url

    def test_no_actor(self):
        self.start_cluster()
        self.wait_for_verdict("No actor is here: no new experience comes.")

    def test_a_full_disk(self):
        url = self.start_cluster(limit_disk)
        self.start("actorq-actor", "--learner", url)
        self.wait_for_verdict("cannot write to its disk")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
