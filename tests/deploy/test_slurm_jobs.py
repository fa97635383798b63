#!/usr/bin/env python3
"""When the jobs of deploy/slurm start a program again, go back to the queue, and end.

    test_slurm_jobs.py ROOT
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PATIENCE_S = 240
JOBS = os.path.join(sys.argv[1], "deploy", "slurm")


class Jobs(unittest.TestCase):
    """The scripts of Slurm's jobs, with programs that are scripts themselves and note what they
    are told."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = place.name
        self.put("learner.url", "tcp://head:5550")
        self.program("actorq", 'mkdir -p "$2/operator"; touch "$2/operator/key.pem"')
        self.job_ends("+30 seconds")

    def put(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def program(self, name, script, first=""):
        self.put(name, f'#!/bin/sh\n{first}\ncd {shlex.quote(self.folder)}\n'
                       f'echo "{name} $*" >>said\n{script}\n')
        os.chmod(os.path.join(self.folder, name), 0o755)

    def job_ends(self, when):
        """What Slurm says of the job; of the first id of an array, of each of its tasks."""
        line = (f"echo '   StartTime=2026-01-01T00:00:00 EndTime='$(date -d '{when}' +%FT%T || "
                "echo Unknown)' Deadline=N/A'")
        self.program("scontrol", f'{line}\n[ "$3" != 5 ] || {line}')

    def said(self, words):
        try:
            with open(os.path.join(self.folder, "said"), encoding="utf-8") as file:
                return sum(line.startswith(words) for line in file)
        except FileNotFoundError:
            return 0

    def wait_for(self, words, count):
        end = time.monotonic() + 120
        while self.said(words) < count and time.monotonic() < end:
            time.sleep(0.05)
        self.assertGreaterEqual(self.said(words), count, words)

    def begin(self, script, *arguments, **environment):
        job = subprocess.Popen(
            ["bash", os.path.join(JOBS, script), self.folder, *arguments],
            env={"PATH": f"{self.folder}:{os.environ['PATH']}", "SLURM_JOB_ID": "7", **environment},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(self.end, job)
        return job

    @staticmethod
    def end(job):
        try:
            os.killpg(job.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        job.wait()

    def waits(self, name, first=""):
        """A program that goes on until it is told to end, or ten minutes; from when it says that
        it was started."""
        self.program(name, f"{first}\nfor _ in $(seq 6000); do sleep 0.1; done",
                     first="trap 'exit 0' TERM")

    def test_a_shard_that_dies_alone_is_started_again_with_its_steps(self):
        self.waits("actorq-learner")
        self.waits("actorq-replay", "[ -e once ] || { touch once; exit 3; }")
        job = self.begin("head.sbatch")
        self.wait_for("actorq-replay", 2)
        with open(os.path.join(self.folder, "said"), encoding="utf-8") as file:
            starts = [line for line in file if line.startswith("actorq-replay")]
        self.assertEqual(starts[0], starts[1])
        self.assertIn(f"--data {self.folder}/replay-0", starts[0])
        self.assertRegex(starts[0], "--advertise tcp://[^ :]+:0 ")  # for ranks on other nodes
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 0)
        self.assertEqual(self.said("actorq-replay"), 2)
        self.assertEqual(self.said("scontrol requeue 7"), 1)

    def test_a_head_whose_shard_will_not_live_goes_back_to_the_queue(self):
        self.waits("actorq-learner")
        self.program("actorq-replay", "exit 3")
        self.assertEqual(self.begin("head.sbatch").wait(PATIENCE_S), 1)
        self.assertEqual(self.said("actorq-replay"), 5)
        self.assertEqual(self.said("scontrol requeue 7"), 1)

    def test_a_head_whose_learner_asks_to_be_started_again_goes_back_to_the_queue(self):
        self.waits("actorq-replay")
        for status, times in ((74, 1), (75, 2), (1, 2)):
            self.program("actorq-learner", f"exit {status}")
            self.assertEqual(self.begin("head.sbatch").wait(PATIENCE_S), status)
            self.assertEqual(self.said("scontrol requeue 7"), times)

    def slowly(self, pause="sleep 0.05"):
        """An environment in which each command of the job takes its time: what it starts may be
        over before it looks."""
        self.put("slowly", f"trap '{pause}' DEBUG; set -T")
        return {"BASH_ENV": os.path.join(self.folder, "slowly")}

    def test_what_dies_before_the_job_looks_has_died(self):
        self.waits("actorq-learner")
        self.waits("actorq-replay", "[ -e once ] || { touch once; exit 3; }")
        job = self.begin("head.sbatch", **self.slowly())
        self.wait_for("actorq-replay", 2)
        self.end(job)
        self.program("actorq-actor", "exit 3")
        self.assertEqual(self.begin("actors.sbatch", **self.slowly()).wait(PATIENCE_S), 3)
        self.program("actorq-learner", "exit 4")
        self.assertEqual(self.begin("head.sbatch", **self.slowly()).wait(PATIENCE_S), 4)

    def test_a_second_head_leaves_the_first_ones_run_alone(self):
        self.waits("actorq-learner")
        self.waits("actorq-replay")
        self.begin("head.sbatch")
        self.wait_for("actorq-replay", 1)
        self.program("flock", 'PATH=/usr/bin:/bin exec flock --nonblock "$3"')  # which waits else
        self.assertEqual(self.begin("head.sbatch").wait(PATIENCE_S), 1)
        self.assertEqual(self.said("actorq-learner"), 1)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "learner.url")))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "ended")))

    def test_a_head_whose_run_is_over_ends(self):
        self.program("actorq-learner", "sleep 0.3")
        self.waits("actorq-replay")
        self.assertEqual(self.begin("head.sbatch").wait(PATIENCE_S), 0)
        self.assertEqual(self.said("scontrol requeue"), 0)
        self.assertEqual(self.begin("actors.sbatch").wait(PATIENCE_S), 0)  # which began too late
        self.assertEqual(self.said("actorq-actor"), 0)
        self.waits("actorq-learner")
        self.waits("actorq-actor")
        self.begin("head.sbatch")
        self.wait_for("actorq-learner", 2)
        self.begin("actors.sbatch")
        self.wait_for("actorq-actor --learner tcp://", 1)

    def test_a_head_whose_run_is_over_before_its_shard_began_ends(self):
        self.program("actorq-learner", "exit 0")
        self.waits("actorq-replay")
        slow_subshells = self.slowly("[ $BASHPID = $$ ] || sleep 0.5")
        self.assertEqual(self.begin("head.sbatch", **slow_subshells).wait(PATIENCE_S), 0)
        self.assertEqual(self.said("actorq-replay"), 0)
        self.assertEqual(self.said("scontrol requeue"), 0)

    def test_a_head_whose_run_was_over_when_its_time_was_ends(self):
        """Its learner says goodbye while it is told to end."""
        self.waits("actorq-replay")
        os.mkdir(os.path.join(self.folder, "run"))
        self.put("run/metrics.jsonl", '{"event":"end","wall_s":1}\n')
        self.waits("actorq-learner")
        job = self.begin("head.sbatch")
        self.wait_for("actorq-learner", 1)
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 0)
        self.program("actorq-learner", "exit 75")  # which would be worth a start, were it not over
        self.assertEqual(self.begin("head.sbatch").wait(PATIENCE_S), 75)
        self.assertEqual(self.said("scontrol requeue"), 0)

    def test_a_head_whose_time_is_over_before_its_shard_was_started_goes_back_to_the_queue(self):
        self.waits("actorq-learner")
        self.waits("actorq-replay")
        job = self.begin("head.sbatch", **self.slowly("[ $BASHPID != $$ ] || sleep 0.05"))
        self.wait_for("actorq-learner", 1)
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 0)
        self.assertEqual(self.said("scontrol requeue 7"), 1)

    def test_actors_that_are_told_to_end_before_they_listen_go_back_to_the_queue(self):
        self.program("actorq-actor", "sleep 600")
        job = self.begin("actors.sbatch")
        self.wait_for("actorq-actor", 1)
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 0)
        self.assertEqual(self.said("scontrol requeue 7"), 1)

    def test_certificates_that_are_there_are_left_alone(self):
        self.program("actorq-learner", "exit 0")
        self.waits("actorq-replay")
        os.mkdir(os.path.join(self.folder, "certs"))  # of somebody who keeps the operator's away
        self.put("certs/ca.pem", "")
        self.assertEqual(self.begin("head.sbatch").wait(PATIENCE_S), 0)
        self.assertEqual(os.listdir(os.path.join(self.folder, "certs")), ["ca.pem"])
        shutil.rmtree(os.path.join(self.folder, "certs"))
        self.assertEqual(self.begin("head.sbatch").wait(PATIENCE_S), 0)
        self.assertEqual(os.listdir(os.path.join(self.folder, "certs")), ["operator"])

    def actor(self, **environment):
        """How often the job of an actor that got SIGTERM went back to the queue, and the job."""
        self.waits("actorq-actor")
        before, job = self.said("actorq-actor"), self.begin("actors.sbatch", **environment)
        self.wait_for("actorq-actor", before + 1)
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 0)
        return self.said("scontrol requeue")

    def test_actors_whose_time_is_over_go_back_to_the_queue_one_by_one(self):
        self.assertEqual(self.actor(ACTORQ_NO_REQUEUE="1"), 0)
        self.assertEqual(self.actor(SLURM_JOB_END_TIME=str(int(time.time()) + 3600)), 0)
        self.assertEqual(self.actor(SLURM_JOB_END_TIME=str(int(time.time()) + 30)), 1)
        self.job_ends("+1 hour")
        self.assertEqual(self.actor(), 1)
        self.job_ends("never")
        self.assertEqual(self.actor(), 1)
        self.job_ends("+30 seconds")
        self.actor(SLURM_JOB_ID="5", SLURM_ARRAY_JOB_ID="5", SLURM_ARRAY_TASK_ID="2")
        self.assertEqual(self.said("scontrol requeue 5_2"), 1)

    def test_actors_whose_run_is_over_end(self):
        self.program("actorq-actor", "exit 0")
        self.assertEqual(self.begin("actors.sbatch").wait(PATIENCE_S), 0)
        self.assertEqual(self.said("scontrol requeue"), 0)

    def test_actors_that_still_wait_for_their_head_go_back_to_the_queue(self):
        os.remove(os.path.join(self.folder, "learner.url"))
        self.program("sleep", f'exec {shlex.quote(shutil.which("sleep"))} "$@"')
        job = self.begin("actors.sbatch")
        self.wait_for("sleep", 1)  # which it does once it listens to signals
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 0)
        self.assertEqual(self.said("scontrol requeue 7"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
