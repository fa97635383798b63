"""What `actorq play` shows of environments in Python, and what `actorq train` makes of pictures.

    test_python_play.py ACTORQ LEARNER
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ACTORQ, LEARNER = map(os.path.abspath, sys.argv[1:3])


def play(name, *options):
    """An episode of five steps of that class."""
    return subprocess.run([ACTORQ, "play", "random", "--env", f"py:bridge_tasks:{name}", "--seed",
                           "1", *options], capture_output=True, text=True, check=False)


class Train(unittest.TestCase):
    def test_a_table_is_learned_of_a_discrete_observation(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([ACTORQ, "train", "py:bridge_tasks:Cell", "--set",
                                   "limits.env_steps=2000", "--run", folder + "/run", "--quiet",
                                   "--json"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = json.loads(done.stdout)
            self.assertEqual((told["algorithm"], told["task"]),
                             ("q", "py:bridge_tasks:Cell?one_hot=bytes"))

    def test_an_actor_learns_from_pictures_of_ataris_sizes(self):
        with tempfile.TemporaryDirectory() as folder:
            run, steps = folder + "/run", folder + "/steps.aqds"
            words = ["train", "py:bridge_tasks:GreyAtari?frame_stack=2", "--actors", "1", "--run",
                     run, "--seed", "1"]
            for setting in ("learner.hidden=4", "learner.batch_size=4", "replay.min_size=100",
                            "replay.capacity=500", "actor.envs=4", "limits.env_steps=400",
                            "evaluator.episodes=1"):
                words += ["--set", setting]
            for done in ([ACTORQ, *words],
                         [ACTORQ, "replay", "export", run + "/replay-0", steps]):
                told = subprocess.run(done, capture_output=True, text=True, check=False)
                self.assertEqual(told.returncode, 0, told)
            told = subprocess.run([ACTORQ, "replay", "inspect", steps], capture_output=True,
                                  text=True, check=False)
            self.assertIn("u8[84,84,2]", told.stdout)


    def test_several_choices_at_once_are_learned(self):
        for name, least in (("Locks", 27), ("Switches", 44)):  # by chance 16 and 32
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                run = folder + "/run"  # keeps its newest policy, as nobody evaluates
                words = ["train", f"py:bridge_tasks:{name}", "--no-evaluator", "--run", run,
                         "--seed", "1"]
                for setting in ("learner.hidden=16", "learner.learning_rate=0.01",
                                "limits.env_steps=8000"):
                    words += ["--set", setting]
                for done in ([ACTORQ, *words], [ACTORQ, "eval", run, "--episodes", "20",
                                                "--precision", "int8", "--json", "--allow-code"]):
                    told = subprocess.run(done, capture_output=True, text=True, check=False)
                    self.assertEqual(told.returncode, 0, told)
                self.assertGreater(json.loads(told.stdout)["return_mean"], least)


class Learner(unittest.TestCase):
    def test_a_workers_process_has_no_secret_of_the_learners(self):
        with tempfile.TemporaryDirectory() as folder:
            config = folder + "/c.yaml"
            with open(config, "w", encoding="utf-8") as file:
                file.write("task: py:bridge_tasks:Telling\n")
            told = subprocess.run(
                [LEARNER, "--config", config, "--run", folder + "/run"], capture_output=True,
                text=True, check=False, env={**os.environ, "ACTORQ_TOKEN": "a secret of sixteen"})
        self.assertEqual(told.returncode, 1, told)
        self.assertIn("the token is None", told.stderr)


class Play(unittest.TestCase):
    def refused(self, done, words):
        self.assertEqual((done.returncode, words in done.stderr), (1, True), done)

    def test_pixels_are_drawn(self):
        done = play("Painted", "--size", "8x8")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = done.stdout.split("episode 1, step")
        self.assertEqual(len(shown), 7)
        self.assertEqual(shown[0].strip(), "")
        self.assertIn("@@@@", shown[-2])  # white at last

    def test_they_are_filmed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.gif")
            self.assertEqual(play("Painted", "--gif", path).returncode, 0)
            with open(path, "rb") as file:
                self.assertEqual(file.read(3), b"GIF")

    def test_text_is_shown_as_it_is_and_not_filmed(self):
        done = play("Written")
        self.assertTrue(done.stdout.startswith("step\n  0\nepisode 1, step 0, "), done)
        self.assertIn("step\n  5\nepisode 1, step 5, ", done.stdout)
        self.refused(play("Written", "--gif", "/tmp/none.gif"), "Written draws itself as text, ")

    def test_what_draws_nothing_is_said(self):
        self.refused(play("Counter"), "there is no picture of py:bridge_tasks:Counter: it does not "
                                      "draw itself")
        self.refused(play("Smudged"), "the picture of py:bridge_tasks:Smudged failed: ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
