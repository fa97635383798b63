"""Learners of several ranks, as `actorq train --learners` starts them: a run of two, ranks that die
or stand still, and what is refused. Without Open MPI it says so, with status 77.

    test_ranks.py ACTORQ MODULE [unittest's arguments]

The storm of the long ones kills ranks AQ_STORM times (6), as AQ_SEED says:

    AQ_STORM=200 test_ranks.py B/cli/actorq B/learner/actorq-mpi.so LongTestRanks.test_a_storm
"""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from kill_storm import KillStorm, storms
from train_run import PATIENCE_S, TrainRun, program  # which finds daemons
from daemons import parent_of

STUCK_S = 10  # mpirun, after its ranks have ended
SKIPPED = 77
ACTORQ, MODULE = sys.argv[1:3] if len(sys.argv) > 2 else [""] * 2
SMALL = ("--no-evaluator", "--set", "learner.hidden=16", "--set", "learner.batch_size=16", "--set",
         "evaluator.threshold=1000", "--set", "limits.env_steps=1000000000")


AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
ENVIRONMENT = """
import types
import numpy

class Uneven:
    observation_space = types.SimpleNamespace(shape=(WIDTH,), dtype=numpy.dtype("float32"),
                                              low=-numpy.ones(WIDTH), high=numpy.ones(WIDTH))
    action_space = types.SimpleNamespace(n=2, start=0)
    reset = step = print
"""


def rank_of(pid, run_dir):
    """Of a process of the run's learner, as mpirun told it; None for others."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            found = re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)\0", b"\0" + file.read() + b"\0")
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            command = file.read()
    except OSError:
        return None
    is_learner = b"actorq-learner\0" in command and run_dir.encode() in command
    return int(found[1]) if found and is_learner else None


class RankRun(TrainRun):
    """A run whose learner is two ranks."""

    def start(self, *arguments, task="gym:CartPole-v1"):
        """A rank that only waits for a processor is not given up."""
        self.begin(ACTORQ, "train", task, "--learners", "2", "--no-http", "--json", "--seed", "1",
                   "--set", "net.rank_timeout_ms=60000", *arguments)

    def ranks(self):
        """Processes of this run's learner, by their number."""
        found = {rank_of(pid, self.run_dir): int(pid)
                 for pid in os.listdir("/proc") if pid.isdigit()}
        found.pop(None, None)
        return found

    def trains(self):
        return (self.metric("learner_steps") or 0) > 100 and "checkpoint_written" in self.log()

    def result(self):
        self.assertEqual(self.status(), 0, self.said())
        self.assertEqual(self.ranks(), {})
        return json.loads(self.said()[self.said().index("\n{") + 1:])

    def end(self):
        """Ends the run in order; its result."""
        self.train.send_signal(signal.SIGTERM)
        return self.result()

    def mpirun(self, *words):
        """What came of processes that mpirun has started."""
        return subprocess.run(["mpirun", "--bind-to", "none", "--oversubscribe", *words],
                              env={**os.environ, **AS_ROOT, "TMPDIR": self.home},
                              timeout=2 * PATIENCE_S, capture_output=True, text=True, check=False)

    def goes_on_without(self, number, signal_number, words, *arguments, freezes=False):
        """`freezes`: mpirun does not notice, so that the other rank has to."""
        if freezes or signal_number == signal.SIGSTOP:
            arguments += ("--set", "net.rank_timeout_ms=2000")
        self.start(*SMALL, "--set", "learner.checkpoint_period_s=0.5", *arguments)
        self.wait("steps", self.trains)
        rank = self.ranks()[number]
        if freezes:
            os.kill(parent_of(rank), signal.SIGSTOP)
        os.kill(rank, signal_number)
        self.wait("a new start", lambda: "event=resumed" in self.log())
        self.wait("its ranks", lambda: self.log().count("as a rank of the learner") >= 2)
        before = self.metric("learner_steps")
        self.wait("more steps", lambda: self.metric("learner_steps") > before)
        self.assertIn(words, self.log())
        self.assertNotIn("assertion failed", self.log())
        self.assertIn("all 2 go on from the last checkpoint", self.said())
        self.assertGreaterEqual(self.end()["restarts"], 1)


class TestRanks(RankRun):
    def test_two_ranks_train_together(self):
        self.start(*SMALL, "--set", "learner.gradient_format=int8", "--set",
                   "learner.checkpoint_period_s=0.5")
        self.wait("steps", self.trains)
        self.wait("the exchange's figures", lambda: self.metric("exchange_bytes"))
        self.assertEqual(self.metric("ranks"), 2)
        self.assertEqual(len(glob.glob(f"/tmp/actorq-*/ompi.*/pid.{parent_of(self.ranks()[0])}")),
                         1, "mpirun's files are not in the run's own folder")
        parameters = 4 * 16 + 16 + 16 * 2 + 2
        self.assertLess(self.metric("exchange_bytes"), 2 * parameters)
        self.assertEqual(self.end()["learners"], 2)

    def test_over_tcp_they_outlive_what_peers_of_the_run_may_take(self):
        """Strangers at a port of the run are cut after ten seconds. MPI is none of them."""
        over_tcp = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo"}
        with unittest.mock.patch.dict(os.environ, over_tcp):
            self.start(*SMALL)
        self.wait("steps", self.trains)
        began_s = time.monotonic()
        self.wait("ten seconds and some", lambda: time.monotonic() - began_s > 12)
        before = self.metric("learner_steps")
        self.wait("more steps", lambda: self.metric("learner_steps") > before)
        self.assertEqual(self.end()["restarts"], 0)

    def test_networks_that_are_shared_take_as_many_ranks(self):
        self.start("--set", "learner.model_ranks=3")
        self.assertEqual(self.train.wait(PATIENCE_S), 1)
        self.assertIn("learner.model_ranks is 3, and the learner has 2 rank(s)", self.said())

    def learns(self, task, algorithm, least):
        """Under a sanitizer it trains for a while only; see test_rounds of tests/support."""
        whole = "AQ_ROUNDS_DIVISOR" not in os.environ
        short = () if whole else ("--set", "limits.env_steps=10000")
        self.start("--set", "learner.algorithm=" + algorithm, *short, task=task)
        result = self.result()
        self.assertEqual((result["learners"], result["restarts"]), (2, 0))
        if whole:
            self.assertGreaterEqual(result["return_mean"], least)
        else:
            self.assertTrue(result["solved"] or result["env_steps"] >= 10000, result)

    def test_an_on_policy_algorithm_learns(self):
        self.learns("gym:CartPole-v1", "ppo", 400)

    def test_a_table_learns(self):
        self.learns("gym:FrozenLake-v1", "expected_sarsa", 0.4)

    def test_more_rows_than_ranks_can_have_are_refused(self):
        self.start("--set", "learner.batch_size=40000", "--set", "replay.min_size=40000", "--set",
                   "learner.batches_per_request=1")
        self.assertEqual(self.train.wait(PATIENCE_S), 1)
        self.assertIn("makes more than 65536 rows a step", self.said())
        self.assertFalse(os.path.exists(self.run_dir))

    def test_runs_that_one_mpirun_starts_have_a_learner_each(self):
        words = []
        for seed in (1, 2):
            words += ["-n", "1", ACTORQ, "train", "gym:CartPole-v1", *SMALL, "--no-http", "--set",
                      "limits.env_steps=2000", "--seed", str(seed), "--run",
                      self.run_dir + str(seed), ":"]
        run = self.mpirun(*words[:-1])
        self.assertEqual(run.returncode, 0, run.stderr)
        for seed in (1, 2):
            self.run_dir = f"{self.home}/run{seed}"
            self.assertIn(f"seed={seed} ", self.log())
            self.assertGreaterEqual(self.metric("env_steps"), 2000)

    def test_ranks_below_an_mpirun_are_refused(self):
        refused = self.mpirun("-n", "1", ACTORQ, "train", "gym:CartPole-v1", "--learners", "2",
                              "--run", self.run_dir)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("does not start again below an mpirun", refused.stderr)
        self.assertFalse(os.path.exists(self.run_dir))

    def test_no_mpirun_is_said_before_anything_starts(self):
        refused = subprocess.run([ACTORQ, "train", "gym:CartPole-v1", "--learners", "2"],
                                 env={**os.environ, "PATH": self.home}, capture_output=True,
                                 text=True, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("apt-get install openmpi-bin", refused.stderr)


class TestLostRanks(RankRun):
    def test_a_rank_that_is_killed_costs_a_new_start(self):
        self.goes_on_without(1, signal.SIGKILL, "signal 9")

    def test_ranks_that_share_a_network_go_on_and_leave_a_whole_policy(self):
        self.goes_on_without(1, signal.SIGKILL, "signal 9", "--set", "learner.model_ranks=2",
                             "--set", "learner.hidden=256,256")
        self.assertIn("parameters=34178 of=67586 policy=4-128r-256r-2", self.log())
        played = subprocess.run([ACTORQ, "eval", self.run_dir, "--episodes", "2", "--json"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(played.returncode, 0, played.stderr)
        self.assertGreater(json.loads(played.stdout)["return_mean"], 0)


class LongTestRanks(RankRun):
    """What takes longer than its facts are worth every time."""

    def test_the_first_rank_is_one_like_others(self):
        self.goes_on_without(0, signal.SIGKILL, "signal 9")

    def test_a_rank_that_stands_still_is_given_up_in_words(self):
        self.goes_on_without(1, signal.SIGSTOP, "another rank was silent for 2000 ms")

    def test_ranks_that_stand_still_together_go_on(self):
        """The first one while it waits for the other, which is stopped before it, and goes on after
        it."""
        self.start(*SMALL, "--set", "learner.checkpoint_period_s=0.5", "--set",
                   "net.rank_timeout_ms=3000")
        self.wait("steps", self.trains)
        ranks = self.ranks()
        for number, signal_number, pause_s in ((1, signal.SIGSTOP, 0.5), (0, signal.SIGSTOP, 4),
                                               (0, signal.SIGCONT, 0.5), (1, signal.SIGCONT, 0)):
            os.kill(ranks[number], signal_number)
            time.sleep(pause_s)
        before = self.metric("learner_steps")
        self.wait("more steps", lambda: self.metric("learner_steps") > before)
        self.assertEqual(self.end()["restarts"], 0)

    def test_an_mpirun_that_outlives_its_ranks_is_killed(self):
        self.goes_on_without(1, signal.SIGKILL, "event=resumed", freezes=True)

    def has_time(self, stopped, *arguments):
        """mpirun would give its ranks two seconds."""
        self.start(*SMALL, "--set", "learner.checkpoint_period_s=3600", *arguments)
        self.wait("steps", lambda: (self.metric("learner_steps") or 0) > 100)
        ranks = self.ranks()
        for number in stopped:
            os.kill(ranks[number], signal.SIGSTOP)
        self.train.send_signal(signal.SIGTERM)
        time.sleep(7)
        for number in stopped:
            os.kill(ranks[number], signal.SIGCONT)
        self.result()
        self.assertNotIn("killed", self.said())
        self.assertIn("event=checkpoint_written", self.log())

    def test_ranks_have_time_for_their_last_checkpoint(self):
        self.has_time([0, 1])

    def test_one_that_has_a_slice_of_the_networks_is_waited_for(self):
        self.has_time([1], "--set", "learner.model_ranks=2", "--set", "learner.hidden=256,256")

    def test_a_rank_that_never_comes_is_given_up_in_words(self):
        """MPI would wait for it without end."""
        run = self.mpirun("-n", "1", program(ACTORQ, "learner"), "--run", self.run_dir, ":",
                          "-n", "1", "sh", "-c", "kill -STOP $$")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("another rank did not come", run.stderr)

    def test_a_rank_with_another_network_is_refused(self):
        """The task's code is each host's own, which may be another."""
        for python in ("python3", "/usr/bin/python3"):
            if subprocess.run([python, "-c", "import numpy"], check=False,
                              stderr=subprocess.DEVNULL).returncode == 0:
                break
        else:
            self.skipTest("needs NumPy")
        with open(self.home + "/c.yaml", "w", encoding="utf-8") as file:
            file.write('task: "py:uneven:Uneven"\nlearner: {algorithm: dqn, hidden: [16]}\n')
        words = []
        for width in (3, 4):
            folder = f"{self.home}/{width}"
            os.mkdir(folder)
            with open(folder + "/uneven.py", "w", encoding="utf-8") as file:
                file.write(ENVIRONMENT.replace("WIDTH", str(width)))
            words += ["-n", "1", "env", "PYTHONPATH=" + folder, program(ACTORQ, "learner"),
                      "--config", self.home + "/c.yaml", "--listen", f"ipc://{self.home}/l",
                      "--run", self.run_dir, "--allow-code", ":"]
        run = self.mpirun(*words[:-1])
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("rank 1 made another network than rank 0", run.stdout + run.stderr)

    def test_a_storm(self):
        storms(self, RankStorm, ("ppo", "dqn"))


class RankStorm(KillStorm):
    """Ranks that mpirun's caller starts again, beside a shard and an actor that live through it: it
    is the learner's count and its checkpoints that could be lost."""

    def __init__(self, test, algorithm, rng):
        super().__init__(test, rng, ACTORQ, algorithm,
                         f"algorithm: {algorithm}, hidden: [16]", "net: {rank_timeout_ms: 5000}")
        self.stuck = 0

    def launch(self):
        self.start_member("replay")
        self.start_member("actor")
        self.start_learner()

    def start_learner(self):
        super().start_learner(before=["mpirun", "-n", "2", "--bind-to", "none", "--oversubscribe",
                                      "--mca", "odls_base_sigkill_timeout", "2"],
                              env={**AS_ROOT, "TMPDIR": self.test.home})

    def kill(self):
        if self.rng.random() < 0.7:
            self.trains()
        else:
            self.wait("ranks", lambda: len(self.test.ranks()) == 2)
        time.sleep(self.rng.uniform(0, 0.6))
        ranks = self.test.ranks()
        victims = self.rng.choice([[0], [1], [0], [1], [0, 1]])
        for pid in [ranks[number] for number in victims if number in ranks]:
            os.kill(pid, signal.SIGKILL)
        self.wait("the end of all ranks", lambda: not self.test.ranks())
        learner = self.processes["learner"]
        try:
            learner.wait(STUCK_S)
        except subprocess.TimeoutExpired:  # as `actorq train` does it
            learner.kill()
            learner.wait()
            self.stuck += 1
        self.check_log()
        self.start_learner()

    def said(self):
        return f"{super().said()}; mpirun stuck {self.stuck} times"


if __name__ == "__main__":
    if not MODULE or not shutil.which("mpirun"):
        print("skipped: Open MPI is not installed (libopenmpi-dev at the build, openmpi-bin)")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
