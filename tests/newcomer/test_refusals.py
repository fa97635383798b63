#!/usr/bin/env python3
"""What will not go away is said in one line, at once, and leaves nothing behind: the command that
is given again, mended, works.

    test_refusals.py ACTORQ SOURCE_ROOT
"""

import fcntl
import os
import shutil
import signal
import socket

from newcomer import ACTORQ, SECONDS_MAX, SHORT, Newcomer, main, training, wait

BROKEN = """\
import types
import numpy as np

def space(**of):
    return types.SimpleNamespace(**of)

class Broken:
    observation_space = space(shape=(2,), dtype=np.float32, low=-1, high=1)
    action_space = space(n=2)

    def reset(self, seed=None, options=None):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        raise ValueError("nowhere to go")

    def close(self):
        pass
"""

# It fails where an evaluator plays it, and there alone.
UNJUDGED = BROKEN.replace("import types", "import os\nimport types").replace("        raise", """\
        with open(f"/proc/{os.getppid()}/cmdline", encoding="ascii") as words:
            if "--evaluate" not in words.read():
                return np.zeros(2, np.float32), 0.0, True, False, {}
        raise""")


def imports(pid):
    """Whether the process has started what imports for long."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            child = int(file.read())
        with open(f"/proc/{child}/cmdline", "rb") as file:
            return file.read().startswith(b"sleep\0")
    except (FileNotFoundError, ProcessLookupError, ValueError):  # or there is none
        return False


class TestRefusals(Newcomer):
    def mend(self, wrong, words, right):
        """The first is refused in one line, and the second works in the same folder."""
        self.refused(f"actorq train --run x {wrong} {SHORT} --quiet", *words)
        self.assertFalse(os.path.exists("x"))
        if right:
            self.works(f"actorq train --run x {right} {SHORT} --quiet")

    def test_options_that_would_count_for_nothing(self):
        for line, said in (
                ("train gym:CartPole-v1 --jobs 2", "--jobs is for the runs of --seeds or --grid"),
                ("train gym:CartPole-v1 --http 127.0.0.1:0 --no-http", "--http or --no-http"),
                ("train gym:CartPole-v1 --grid seed=1,2", "--grid seed: that is what --seeds says"),
                ("train gym:CartPole-v1 --actors 2 --grid actor.count=1,2",
                 "--grid actor.count: that is what --actors says"),
                ("train gym:CartPole-v1 --gradients --grid actor.gradients=true,false",
                 "--grid actor.gradients: that is what --gradients says"),
                ("train gym:CartPole-v1 --preset none --grid preset=any-ppo,any-a2c",
                 "--grid preset: that is what --preset says"),
                ("train gym:CartPole-v1 --actors 2 --set actor.count=4",
                 "--set actor.count: that is what --actors says"),
                ("train --run x --resume --preset none", "leave --preset out"),
                ("train --run x --resume --set preset=none", "leave preset=none out"),
                ("compare gym:CartPole-v1 --set quantizer.format=fp16",
                 "--set quantizer.format: that is what --precisions says"),
                ("compare gym:CartPole-v1 --modes experience --set actor.count=2",
                 "--set actor.count: that is what --parallel says"),
                ("replay import steps.aqds store --parent 1", "the parent, process 1, is gone")):
            self.refused(f"actorq {line}", said)
        actor = os.path.join(os.path.dirname(ACTORQ), "../actor/actorq-actor")
        self.refused(f"'{actor}' --learner tcp://127.0.0.1:1 --evaluate --gradients",
                     "an evaluator sends no gradients: leave --gradients out")
        self.assertEqual(os.listdir(), [])

    def test_a_folder_that_another_command_has_just_taken(self):
        os.mkdir("x")
        folder = os.open("x", os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.refused(f"actorq train gym:CartPole-v1 --run x {SHORT} -q", "x: in use by another")
        os.close(folder)
        self.works(f"actorq train gym:CartPole-v1 --run x {SHORT} -q")

    def test_an_address_that_is_none(self):
        self.mend("gym:CartPole-v1 --http nonsense", ["learner: --http: bad address 'nonsense'"],
                  "gym:CartPole-v1")

    def test_a_port_that_is_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.mend(f"gym:CartPole-v1 --http 127.0.0.1:{port}", [f":{port}", "in use"], None)

    def test_an_algorithm_for_other_actions(self):
        self.mend("gym:Pendulum-v1 --set learner.algorithm=dqn", ["needs discrete actions"], None)

    def test_an_environment_that_always_raises(self):
        with open("broken.py", "w", encoding="ascii") as file:
            file.write(BROKEN)
        done = self.type("actorq train py:broken:Broken --run x --set learner.algorithm=dqn "
                         "--set log.level=error")  # the reason is not taken from a log
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertTrue(done.stderr.endswith(
            "actorq train: the environment fails each time: ValueError: nowhere to go\n"))
        self.assertIn("broken.py", done.stderr)  # where it was raised

    def test_an_environment_that_raises_where_it_is_evaluated(self):
        with open("broken.py", "w", encoding="ascii") as file:
            file.write(UNJUDGED)
        with training("py:broken:Broken", "--run", "x", "--actors", "1",
                      "--set", "learner.algorithm=dqn", "--set", "actor.envs=1", "--set",
                      "limits.env_steps=100000000") as train:
            wait("the failures", lambda: "evaluator 0: " in self.type("actorq status x").stdout)
            said = self.works("actorq status x")
            train.send_signal(signal.SIGINT)
            train.communicate(timeout=SECONDS_MAX)
        self.assertRegex(said, r"failures +evaluator 0: \d+ of steps and resets of its "
                               r"environments, at last ValueError: nowhere to go\n")

    def test_a_data_set_that_cannot_be_imported(self):
        self.works(f"actorq train gym:CartPole-v1 --run a --actors 1 -q {SHORT} "
                   "--set replay.storage=segments")
        self.works("actorq replay export a/replay-0 steps.aqds")
        shutil.rmtree("a")
        with open("steps.aqds", "r+b") as file:
            file.truncate(os.path.getsize("steps.aqds") - 100)
        done = self.type("actorq train --offline steps.aqds --set limits.learner_steps=10")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(os.listdir("."), ["steps.aqds"], done.stderr)

    def test_an_import_that_is_interrupted(self):
        self.works(f"actorq train gym:CartPole-v1 --run a --actors 1 -q {SHORT} "
                   "--set replay.storage=segments")
        self.works("actorq replay export a/replay-0 steps.aqds")
        os.mkdir("bin")
        shutil.copy(ACTORQ, "bin/actorq")
        with open("bin/actorq-data", "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexec sleep 600\n")  # imports for long
        os.chmod("bin/actorq-data", 0o755)
        with training("--offline", "steps.aqds", "--run", "x", "--set", "limits.learner_steps=10",
                      program="bin/actorq") as train:
            wait("the import", lambda: imports(train.pid))
            train.send_signal(signal.SIGINT)
            wrong = train.communicate(timeout=SECONDS_MAX)[1]
        self.assertEqual((train.returncode, wrong),
                         (1, "actorq train: interrupted: there is no run yet\n"))
        self.assertFalse(os.path.exists("x"))

    def test_a_folder_that_is_empty_is_taken(self):
        os.mkdir("x")
        self.works(f"actorq train gym:CartPole-v1 --run x {SHORT} --quiet")

    def test_a_rung_that_is_none_is_said(self):
        done = self.type("env ACTORQ_CPU=nonsense "
                         f"'{ACTORQ}' eval random --env gym:CartPole-v1 --episodes 2")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "actorq: ACTORQ_CPU=nonsense is not a rung; all that the "
                                      "processor can do is used\n")

    def test_a_script_in_the_place_of_a_run_folder(self):
        learner = os.path.join(os.path.dirname(ACTORQ), "../learner/actorq-learner")
        with open("run", "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n")
        done = self.type(f"'{learner}' --listen tcp://127.0.0.1:0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("run is no folder: name that of the run with --run DIR", done.stderr)


if __name__ == "__main__":
    main()
