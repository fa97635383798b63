"""What `actorq train` leaves of runs that end badly: what was trained stays, whoever gives up, and
what never began goes. And what a comparison does that is stopped between its runs.

    test_train_ends.py ACTORQ [unittest's arguments]
"""

import collections
import contextlib
import glob
import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from train_run import PATIENCE_S, TrainRun, program, wait_for  # which finds daemons
from daemons import Daemon, has_ended, parent_of

ACTORQ = sys.argv[1] if len(sys.argv) > 1 else ""
ENDLESS = ("--no-evaluator", "--set", "learner.hidden=16", "--set", "evaluator.threshold=1000",
           "--set", "limits.env_steps=1000000000", "--set", "learner.checkpoint_period_s=0.3")

BRIDGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bridge")
# Its file says when it is made, which takes for ever.
SLOW_TASK = """
import os, time
from bridge_tasks import Counter
class Slow(Counter):
    def __init__(self):
        open(os.path.join(os.path.dirname(__file__), "begun"), "w").close()
        time.sleep(600)
        super().__init__()
"""


def children(parent):
    """The processes that it has started, by what they are called; runs by their folder."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if parent_of(pid) == parent:
            try:
                with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
                    words = file.read().split("\0")
            except OSError:  # it has ended since
                continue
            name = words[words.index("--run") + 1] if words[0] == "actorq" else words[0]
            found[os.path.basename(name)] = int(pid)
    return found


def awaits(pid, number):
    """Whether the process, which stands still, has yet to be told of that signal."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        pending = re.search(r"^ShdPnd:\s*(\w+)", file.read(), re.M)[1]
    return int(pending, 16) >> (number - 1) & 1


class EndlessRun(TrainRun):
    def start(self, *arguments):
        self.begin(ACTORQ, "train", "gym:CartPole-v1", *ENDLESS, *arguments)

    def checkpoints(self, run=""):
        return glob.glob(f"{self.run_dir}/{run}/checkpoints/step-*.aqc")

    def begins(self, run=""):
        self.wait("a checkpoint", lambda: self.checkpoints(run))


class TestTrainEnds(EndlessRun):
    def test_seeds_that_left_no_result_keep_what_they_trained(self):
        self.start("--seeds", "2", "--jobs", "2")
        for run in ("seed-1", "seed-2"):
            self.begins(run)
        runs = list(children(self.train.pid).values())
        daemons = [pid for run in runs for pid in children(run).values()]
        for pid in runs:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.train.wait(PATIENCE_S), 1)
        wait_for("their daemons' end", lambda: all(map(has_ended, daemons)))  # they write
        self.assertIn("2 of 2 runs came to nothing", self.said())
        self.assertTrue(self.checkpoints("seed-1") and self.checkpoints("seed-2"))

    def test_a_run_whose_starter_is_killed_is_not_reported_to_nobody(self):
        self.begin("sh", "-c", '"$@" --parent $$ & wait', "sh", ACTORQ, "train", "gym:CartPole-v1",
                   *ENDLESS)
        self.begins()
        pid = children(self.train.pid)["actorq"]
        self.train.kill()
        self.train.wait()
        wait_for("the run's end", lambda: has_ended(pid))
        self.assertIn("interrupted: the process that started it is gone", self.said())
        self.assertNotIn("Try next", self.said())
        self.assertTrue(self.checkpoints())

    def test_seeds_that_are_refused_leave_nothing(self):
        self.start("--seeds", "2", "--jobs", "1", "--set", "learner.model_ranks=3")
        self.assertEqual(self.train.wait(PATIENCE_S), 1)
        self.assertIn("learner.model_ranks is 3", self.said())
        self.assertFalse(os.path.exists(self.run_dir))

    def test_a_learner_that_is_given_up_later_leaves_its_checkpoints(self):
        self.start()
        self.begins()
        os.rename(self.run_dir + "/run.json", self.run_dir + "/hidden")  # which it refuses
        os.kill(children(self.train.pid)["learner"], signal.SIGKILL)
        self.assertEqual(self.train.wait(PATIENCE_S), 1)
        self.assertRegex(self.said(), r"learner: .*run\.json")
        self.assertTrue(self.checkpoints())

    def test_the_newest_policy_is_there_while_nobody_evaluates(self):
        policy = self.run_dir + "/policy.aq"
        self.start()
        self.wait("a policy", lambda: os.path.exists(policy))
        self.train.send_signal(signal.SIGINT)
        self.assertEqual(self.train.wait(PATIENCE_S), 0)
        left_ns = os.stat(policy).st_mtime_ns
        self.start("--resume")
        self.wait("a newer policy", lambda: os.stat(policy).st_mtime_ns > left_ns)

    def test_a_resume_that_is_refused_leaves_what_was_given_before_a_change(self):
        self.start()
        self.begins()
        self.train.send_signal(signal.SIGINT)
        self.assertEqual(self.train.wait(PATIENCE_S), 0)
        given = self.run_dir + "/config.given.yaml"
        shutil.copy(self.run_dir + "/config.yaml", given)
        self.start("--resume", "--set", "learner.hidden=8")
        self.assertEqual(self.train.wait(PATIENCE_S), 1)
        self.assertIn("learner: ", self.said())
        self.assertEqual(glob.glob(given + "*"), [given])


class TestTrainStops(EndlessRun):
    def asks(self):
        """One Ctrl-C, while the learner stands still; its process."""
        learner = children(self.train.pid)["learner"]
        os.kill(learner, signal.SIGSTOP)
        self.train.send_signal(signal.SIGINT)
        self.wait("the end of the others", lambda: list(children(self.train.pid)) == ["learner"])
        return learner

    def newest_step(self):
        return int(re.search(r"step-(\d+)", max(self.checkpoints()))[1])

    def learner_log(self):
        with open(self.run_dir + "/logs/learner.log", encoding="utf-8") as log:
            return log.read()

    def test_a_learner_has_time_for_its_last_checkpoint(self):
        self.start("--set", "learner.checkpoint_period_s=3600")
        self.wait("steps", lambda: (self.metric("learner_steps") or 0) > 100)
        learner = self.asks()
        time.sleep(6)
        os.kill(learner, signal.SIGCONT)
        self.assertEqual(self.train.wait(PATIENCE_S), 0)
        self.assertTrue(self.checkpoints())
        self.assertNotIn("killed", self.said())

    def test_what_a_learner_could_not_keep_is_said(self):
        self.start("--set", "learner.hidden=128,128")
        self.begins()
        learner = children(self.train.pid)["learner"]
        # Larger than its log, smaller than a checkpoint.
        resource.prlimit(learner, resource.RLIMIT_FSIZE, (64 << 10, resource.RLIM_INFINITY))
        self.train.send_signal(signal.SIGINT)
        self.wait("the end of the others", lambda: list(children(self.train.pid)) == ["learner"])
        self.wait("a failure", lambda: "event=checkpoint_failed" in self.learner_log())
        os.kill(learner, signal.SIGTERM)  # it would go on trying for most of a minute
        self.assertEqual(self.train.wait(PATIENCE_S), 0)
        self.assertRegex(self.said(), r"learner: .* what was learned after step \d+ is lost")

    def test_what_a_learner_had_no_room_to_say_is_said_for_it(self):
        self.start()
        self.begins()
        learner = self.asks()
        resource.prlimit(learner, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        os.kill(learner, signal.SIGCONT)

        def has_ended():  # asked once, it would go on trying for most of a minute
            with contextlib.suppress(ProcessLookupError):
                os.kill(learner, signal.SIGTERM)
            return self.train.poll() is not None

        wait_for("the end", has_ended)
        self.assertIn("the learner did not end in order (exit status 74); its newest checkpoint is "
                      f"of step {self.newest_step()}\n", self.said())

    def test_whoever_asks_twice_is_not_kept_waiting(self):
        self.start()
        self.begins()
        self.asks()
        newest = self.newest_step()
        self.train.send_signal(signal.SIGINT)
        self.assertEqual(self.train.wait(PATIENCE_S), 0)
        self.assertEqual(self.newest_step(), newest)
        self.assertIn(f"(killed by signal 9); its newest checkpoint is of step {newest}\n",
                      self.said())


class TestCompareStops(TrainRun):
    def compare(self, precisions, limit):
        shutil.rmtree(self.home + "/compared", ignore_errors=True)
        folder = self.home + "/compared"
        self.run_dir = f"{folder}/{precisions.split(',')[0]}-s1"
        with open(self.home + "/out", "w", encoding="utf-8") as out:
            self.train = subprocess.Popen(
                [ACTORQ, "compare", "gym:CartPole-v1", "--precisions", precisions, "--seeds", "1",
                 "--preset", "none", "--set", "learner.hidden=8", "--set", "actor.count=2", "--set",
                 limit, "--output", folder],
                stdout=out, stderr=subprocess.STDOUT)

    def test_a_signal_that_comes_while_the_daemons_of_a_run_leave_ends_all(self):
        self.compare("fp32,int8", "limits.env_steps=1000000000")
        # One actor stands still, so that they take their time.
        actor = self.wait_for_child("actor-1")
        self.wait("steps", lambda: (self.metric("env_steps") or 0) > 100)
        os.kill(actor, signal.SIGSTOP)
        subprocess.run([ACTORQ, "set", self.run_dir, "limits.env_steps=6000"], check=True,
                       capture_output=True, timeout=PATIENCE_S)
        self.wait("SIGTERM to all actors", lambda: awaits(actor, signal.SIGTERM))
        self.assertEqual(self.metric("state"), "budget")
        self.train.send_signal(signal.SIGINT)
        os.kill(actor, signal.SIGCONT)
        self.assertEqual(self.train.wait(PATIENCE_S), 1)
        self.assertIn("interrupted; ", self.said())
        self.assertNotIn("[2/2]", self.said())
        self.assertEqual(self.result()["outcome"], "finished")

    def test_a_run_that_ended_in_trouble_has_not_finished(self):
        for seconds in (5, 30):  # in the fewer a busy machine may not get to say it
            self.compare("int8", f"limits.wall_s={seconds}")
            self.wait("steps", lambda: (self.metric("env_steps") or 0) > 100)
            shard = self.wait_for_child("replay-0")
            resource.prlimit(shard, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            if self.train.wait(PATIENCE_S) == 1:
                break
        self.assertEqual(self.metric("state"), "budget")
        self.assertEqual(self.result()["outcome"], "failed")
        self.assertIn("replay 0 cannot write: ", self.result()["reason"])

    def result(self):
        with open(self.run_dir + "/result.json", encoding="utf-8") as result:
            return json.load(result)

    def wait_for_child(self, name):
        found = {}

        def is_there():
            found.update(children(self.train.pid))
            return name in found

        self.wait(name, is_there)
        return found[name]


class TestEarlyAndLate(TrainRun):
    """What comes before a run is there, and after it is over."""

    def daemon(self, role, *words):
        daemon = Daemon(self.home, role, [program(ACTORQ, role), *words])
        self.addCleanup(daemon.end)
        return daemon

    def place(self, name):
        return f"ipc://{self.home}/{name}"

    def start_learner(self, settings=""):
        with open(self.home + "/c.yaml", "w", encoding="utf-8") as file:
            file.write("task: gym:CartPole-v1\nlearner: {hidden: '8'}\n"
                       f"replay: {{min_size: 100}}\n{settings}\n")
        return self.daemon("learner", "--config", self.home + "/c.yaml", "--listen",
                           self.place("l"), "--run", self.run_dir)

    def start_members(self):
        return [self.daemon("replay", "--learner", self.place("l"), "--listen", self.place("r"),
                            "--data", self.home + "/data"),
                self.daemon("actor", "--learner", self.place("l"))]

    def test_members_that_look_for_a_run_hear_that_it_was_over(self):
        first = [self.start_learner(settings="limits: {learner_steps: 100}"),
                 *self.start_members()]
        self.assertEqual([each.process.wait(PATIENCE_S) for each in first], [0, 0, 0])
        for each in first:
            os.remove(each.log_path)  # those of the same name are listened to below
        late = self.start_members()
        for each in late:
            each.heard("event=(learner_unreachable)")
        late.append(self.daemon("learner", "--listen", self.place("l"), "--run", self.run_dir,
                                "--resume"))
        self.assertEqual([each.process.wait(PATIENCE_S) for each in late], [0, 0, 0])

    def test_members_hear_of_the_end_though_their_learner_is_told_to_end(self):
        learner, shard, actor = self.start_learner(), *self.start_members()
        wait_for("steps", lambda: (self.metric("learner_steps") or 0) > 100, learner.log)
        actor.process.send_signal(signal.SIGSTOP)  # it can't leave
        subprocess.run([ACTORQ, "stop", self.place("l")], check=True, capture_output=True,
                       timeout=PATIENCE_S)
        learner.heard("event=(run_ended)")
        learner.process.send_signal(signal.SIGTERM)
        learner.heard('event=stopping .*(once members know)')
        actor.process.send_signal(signal.SIGCONT)
        self.assertEqual([each.process.wait(PATIENCE_S) for each in (learner, shard, actor)],
                         [0, 0, 0])

    def test_the_first_process_of_a_container_ends_when_it_is_told_to_before_it_listens(self):
        apart = ["unshare", "--pid", "--fork", "--kill-child"]
        if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("processes cannot be set apart here")
        with open(self.home + "/slow.py", "w", encoding="utf-8") as file:
            file.write(SLOW_TASK)
        container = subprocess.Popen(
            [*apart, program(ACTORQ, "learner"), "--allow-code", "--listen", self.place("l"),
             "--run", self.run_dir, "--set", "task=py:slow:Slow"],
            env={**os.environ, "PYTHONPATH": f"{self.home}:{BRIDGE}"}, stderr=subprocess.DEVNULL)
        self.addCleanup(container.kill)
        wait_for("the task", lambda: os.path.exists(self.home + "/begun"))
        (learner,) = children(container.pid).values()
        os.kill(learner, signal.SIGTERM)
        self.assertEqual(container.wait(PATIENCE_S), 128 + signal.SIGTERM)

    def test_what_is_interrupted_before_there_is_a_run_leaves_nothing(self):
        """The programs of a build whose learner never begins."""
        for role in ("cli", "learner", "replay", "actor"):
            os.mkdir(f"{self.home}/{role}")
            if role != "cli":
                path = f"{self.home}/{role}/actorq-{role}"
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"#!/bin/sh\n>>'{self.home}/began'\nexec sleep 600\n")
                os.chmod(path, 0o755)
        shutil.copy(ACTORQ, self.home + "/cli/actorq")
        for words in ((), ("--seeds", "2", "--jobs", "2")):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.home + "/began")  # of those before, which have ended
            self.begin(self.home + "/cli/actorq", "train", "gym:CartPole-v1", *words)
            self.wait("a daemon", lambda: os.path.exists(self.home + "/began"))
            self.train.send_signal(signal.SIGINT)
            self.assertEqual(self.train.wait(PATIENCE_S), 1)
            self.assertIn("interrupted: there is no run yet", self.said())
            self.assertNotIn("Try next", self.said())
            self.assertFalse(os.path.exists(self.run_dir))


class TestShortRun(TrainRun):
    def test_a_run_of_less_than_a_second_tells_how_it_went(self):
        self.begin(ACTORQ, "train", "gym:CartPole-v1", "--no-evaluator", "--set",
                   "learner.hidden=8", "--set", "replay.min_size=100", "--set",
                   "limits.learner_steps=100")
        self.assertEqual(self.train.wait(PATIENCE_S), 0)
        self.assertIsNotNone(self.metric("env_steps_per_s"))
        if self.metric("wall_s") < 1:  # else there were whole seconds, as on a slow machine
            self.assertIsNotNone(self.metric("loss"))

    def test_a_learner_whose_run_ends_by_itself_says_that_it_stops(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(self.home + "/notify")
            manager.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            with unittest.mock.patch.dict(os.environ, NOTIFY_SOCKET=self.home + "/notify"):
                self.begin(ACTORQ, "train", "gym:CartPole-v1", "--set", "limits.learner_steps=100")
            said = collections.defaultdict(set)
            manager.settimeout(0.2)
            has_ended = False
            while not has_ended:
                has_ended = self.train.poll() is not None
                with contextlib.suppress(TimeoutError):
                    while True:
                        lines, ((_, _, sender),), *_ = manager.recvmsg(1024, socket.CMSG_SPACE(12))
                        for line in lines.decode().splitlines():
                            said[line].add(struct.unpack("iII", sender)[0])
            self.assertEqual(self.train.returncode, 0)
            with open(self.run_dir + "/lock", encoding="utf-8") as lock:
                learner = int(lock.read().split()[1])
            self.assertIn(learner, said["READY=1"])
            self.assertIn(learner, said["STOPPING=1"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
