#!/usr/bin/env python3
"""Every line that `actorq train` prints under "Try next" is typed as it stands, and does what it
seems to: for algorithms, ways of giving settings, and ways of ending.

    test_suggestions.py ACTORQ SOURCE_ROOT
"""

import json
import os
import re

from newcomer import DIVERGING, SECONDS_MAX, SHORT, SOURCE, Newcomer, main, training, wait


DIFFERS = re.compile(r"  (format|qat_bits|(env|learner)_steps|wall_s): ")


def folder_of(said):
    """The run's folder, as its summary names it."""
    return re.search(r"^  run +(.*)$", said, re.MULTILINE).group(1)


def settings_of(run):
    """The lines of its configuration but for those that may differ: formats, and limits, which a
    run that was gone on with has higher."""
    with open(os.path.join(run, "config.yaml"), encoding="utf-8") as file:
        return [line for line in file if not DIFFERS.match(line)]


def end_of(run):
    """The learner's last words."""
    with open(os.path.join(run, "metrics.jsonl"), encoding="utf-8") as file:
        return json.loads(file.readlines()[-1])


class Suggestions(Newcomer):
    """Runs, and what they suggest."""

    def try_next(self, said, verdict, formats=("int8", "fp32"), more=""):
        """Types each line; what to go on with takes `more`."""
        run = folder_of(said)
        lines = said.split("\nTry next:\n")[1].replace("\\\n", "").splitlines()
        self.assertIn(verdict, said)
        kinds = []
        before = end_of(run)
        for line in lines:
            if " --resume" in line:
                resumed = self.works(line + more)
                self.assertEqual(folder_of(resumed), run)
                kinds.append("resume")
                if not more:
                    self.assertGreater(end_of(run)["learner_steps"], before["learner_steps"])
            elif " train " in line:
                other = folder_of(self.works(line))
                self.assertEqual(settings_of(other), settings_of(run))
                kinds.append("compare")
                for path, name in zip((run, other), formats):
                    with open(os.path.join(path, "config.yaml"), encoding="utf-8") as file:
                        self.assertIn(f"\n  format: {name}\n", file.read())
            else:
                self.works(line)
                kinds.append("look")
        return kinds

    def train(self, arguments):
        return self.works(f"actorq train {arguments} --quiet")

    def config(self, name, **settings):
        """A file of configs/, cut short."""
        more = " ".join(f"--set {key.replace('__', '.')}={value}"
                        for key, value in settings.items())
        return f"--config '{SOURCE}/configs/{name}.yaml' {SHORT} {more}"


class TestSuggestions(Suggestions):
    """The ends that most runs come to."""

    def test_settings_that_a_page_shows_are_taken(self):
        with open(f"{SOURCE}/docs/replay.md", encoding="utf-8") as file:
            shown = re.search(r"^```yaml\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
        with open("shown.yaml", "w", encoding="utf-8") as file:
            file.write(shown.group(1))
        self.train(f"gym:CartPole-v1 --config shown.yaml {SHORT}")

    def test_dqn_in_a_folder_with_a_blank_and_a_limit_of_steps(self):
        # Actors may not run ahead so far that a learner has no turn in what is left of the steps.
        said = self.train(f"gym:CartPole-v1 --run 'my run' --actors 1 --seed 3 {SHORT} "
                          "--set replay.tolerance=300")
        self.assertEqual(self.try_next(said, "ended at limits.env_steps=1500, not solved, after "),
                         ["look"] * 4 + ["resume", "compare"])

    def test_a_run_that_was_stopped(self):
        with training("gym:CartPole-v1", "--run", "x", "--no-http", "--set",
                      "evaluator.threshold=1e9") as run:
            wait("a policy", lambda: '"policy"' in self.type("actorq inspect x --json").stdout or
                 self.assertIsNone(run.poll()))
            self.works("actorq stop x")
            said = run.communicate(timeout=SECONDS_MAX)[0]
        steps = end_of("x")["learner_steps"]
        kinds = self.try_next(said.replace("quantizer.format=fp32",
                                           "quantizer.format=fp32 --set limits.env_steps=1500"),
                              ": stopped after ", more=f" --set limits.learner_steps={steps + 50}")
        self.assertEqual(kinds, ["look"] * 4 + ["resume", "compare"])

    def test_a_run_that_solved_its_task(self):
        said = self.train(f"gym:CartPole-v1 {SHORT} --set evaluator.threshold=1 "
                          "--set limits.env_steps=1000000000")
        self.assertEqual(self.try_next(said, ": solved after "), ["look"] * 4 + ["compare"])


class TestMoreSuggestions(Suggestions):
    """Those of other algorithms, and the other ends."""

    def test_c51_by_its_file_and_a_limit_of_training(self):
        said = self.train("gym:CartPole-v1 " + self.config("cartpole-c51", limits__env_steps=10**6,
                                      limits__learner_steps=30))
        self.assertEqual(self.try_next(said, "ended at limits.learner_steps=30, "),
                         ["look"] * 4 + ["resume", "compare"])

    def test_d4pg_by_its_file_in_fp32_and_a_limit_of_time(self):
        said = self.train(self.config("pendulum-d4pg", limits__env_steps=10**9,
                                      limits__wall_s=2, quantizer__format="fp32",
                                      evaluator__threshold=1e9))
        self.assertEqual(self.try_next(said, "ended at limits.wall_s=2, ", ("fp32", "int8")),
                         ["look"] * 4 + ["resume", "compare"])

    def test_td3_with_training_for_its_bits(self):
        said = self.train(self.config("pendulum-td3", learner__qat_bits=4))
        self.assertEqual(self.try_next(said, "ended at limits.env_steps=1500, "),
                         ["look"] * 4 + ["resume", "compare"])

    def test_a_run_that_diverged(self):
        done = self.type("actorq train " + DIVERGING)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(self.try_next(done.stdout, ": diverged ",
                                       more=" --set limits.wall_s=0.001"),
                         ["look"] * 4 + ["resume"])
        look = re.search("'(.* --level error)'", done.stderr).group(1)
        self.assertIn(" diverged ", self.works(look))


if __name__ == "__main__":
    main()
