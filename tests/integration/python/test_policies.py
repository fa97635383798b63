"""Policies act in Python as actors did: to the bit, in any shape, and refuse in words."""

import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from python_kit import RunKit

import actorq


class TestActors(RunKit):
    """Actors that do not explore recorded what they did by which version."""

    def compare(self, task, precision, played=None, **settings):
        # Steps that take a while, or all of them may be over before the actor has a policy.
        run = self.train(task + "?sleep_us=100", quantizer__format=precision, no_evaluator=True,
                         quantizer__publish_period=1_000_000, limits__env_steps=8_000,
                         actor__random_first=False, **settings)
        steps = actorq.DataSet(self.export(run)).arrays()
        policy = run.policy()
        self.assertEqual(policy.facts["precision"], played or precision)
        acted = steps["version"] == policy.facts["version"]
        self.assertGreater(acted.sum(), 0)
        np.testing.assert_array_equal(policy.act(steps["obs"][acted]), steps["action"][acted])

    def test_choices_in_int8(self):
        self.compare("gym:CartPole-v1", "int8", **self.calm)

    def test_choices_in_fp32(self):
        self.compare("gym:CartPole-v1", "fp32", **self.calm)

    def test_several_choices_in_int8(self):
        run = self.train("game:seaquest?actions=pair", limits__env_steps=2000)
        policy = run.policy()
        self.assertEqual(policy.action_space.nvec.tolist(), [5, 2])
        envs = actorq.make_vec("game:seaquest?actions=pair", 3, seed=1)
        obs, _ = envs.reset(seed=1)
        for _ in range(20):
            actions = policy.act(obs)
            self.assertEqual((actions.shape, actions.dtype), ((3, 2), np.int32))
            parts = np.split(policy.outputs(obs), [5], axis=1)
            np.testing.assert_array_equal(actions.T, [part.argmax(1) for part in parts])
            obs = envs.step(actions.astype(np.int64))[0]
        actions, log_probs = policy.draw(obs, 1, 2)
        self.assertEqual((actions.shape, log_probs.shape), ((3, 2), (3,)))

    def test_numbers_in_int8(self):
        self.compare("gym:Pendulum-v1", "int8", actor__noise=0, quantizer__layer_formats="0:int8")

    def test_numbers_with_a_first_layer_in_bf16(self):
        self.compare("gym:Pendulum-v1", "int8", "mixed", actor__noise=0)


def unaligned(array):
    """The same, as messages have it in which something of one byte stands before."""
    return np.frombuffer(b"." + array.tobytes(), array.dtype, offset=1).reshape(array.shape)


class TestPolicy(RunKit):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_made = cls.train("gym:CartPole-v1")
        cls.drawn_run = cls.train("gym:CartPole-v1", learner__algorithm="ppo")
        cls.policy = cls.run_made.policy()
        cls.obs = np.random.default_rng(1).normal(size=(300, 4)).astype(np.float32)

    def test_a_row_alone_is_what_it_is_among_others(self):
        together = self.policy.act(self.obs)
        self.assertEqual((together.shape, together.dtype), ((300,), np.int32))
        alone = [self.policy.act(row) for row in self.obs]
        self.assertEqual(alone[0].shape, ())
        np.testing.assert_array_equal(together, np.stack(alone))
        np.testing.assert_array_equal(self.policy.outputs(self.obs).argmax(1), together)

    def test_other_types_and_orders_are_converted(self):
        wanted = self.policy.act(self.obs)
        for obs in (self.obs.astype(np.float64), np.asfortranarray(self.obs), self.obs.tolist(),
                    self.obs[::-1][::-1], unaligned(self.obs)):
            np.testing.assert_array_equal(self.policy.act(obs), wanted)
        self.assertEqual(self.policy.act(np.zeros((0, 4))).shape, (0,))

    def test_wrong_shapes_and_types_are_said_in_words(self):
        for obs, kind, words in ((np.zeros(5), ValueError, r"the shape \(5,\); \(4,\) is wanted"),
                                 (np.zeros((2, 2, 4)), ValueError, r"\(N, 4\)"),
                                 ("text", TypeError, "type <U4"),
                                 (np.zeros(4, complex), TypeError, "complex128"),
                                 ([[1, 2], [3]], ValueError, "no array"),
                                 (None, TypeError, "object")):
            with self.assertRaisesRegex(kind, words):
                self.policy.act(obs)
        with self.assertRaisesRegex(actorq.Error, "draws nothing"):
            self.policy.draw(self.obs, 1, 2)
        for path, words in (("nowhere", "nowhere"), (__file__, "neither a policy"),
                            (b"nowhere-\xff", "nowhere-\N{REPLACEMENT CHARACTER}")):
            with self.assertRaisesRegex(actorq.Error, words):
                actorq.load(path)
        with self.assertRaisesRegex(ValueError, "'int9' is no format"):
            actorq.load(self.run_made.folder, "int9")

    def test_a_path_need_not_be_text(self):
        path = self.home + "/run-\udcff"  # a byte that is no UTF-8
        os.symlink(self.run_made.folder, path)
        self.assertTrue(actorq.load(path).facts["path"].startswith(path))

    def test_predict_is_as_in_stable_baselines(self):
        actions, state = self.policy.predict(self.obs, deterministic=True)
        np.testing.assert_array_equal(actions, self.policy.act(self.obs))
        self.assertIsNone(state)
        self.assertEqual(self.policy.predict(self.obs[0])[0].shape, ())

    def test_a_policy_with_a_memory_is_handed_its_state(self):
        policy = self.train("gym:CartPole-v1?mask=velocity", learner__algorithm="ppo").policy()
        width, obs = policy.facts["state_count"], self.obs[:5, :policy.observation_space.shape[0]]
        actions, state = policy.predict(obs, deterministic=True)
        self.assertEqual((actions.shape, state.shape), ((5,), (5, width)))
        again, behind = policy.act_from(obs, np.zeros((5, width)))
        np.testing.assert_array_equal(again, actions)
        np.testing.assert_array_equal(behind, state)
        _, second = policy.predict(obs, state, np.arange(5) == 2, deterministic=True)
        np.testing.assert_array_equal(second[2], state[2])  # its episode began anew
        self.assertTrue((second != state).any(1)[[0, 1, 3, 4]].all())
        for row in range(5):  # a row alone
            action, alone = policy.predict(obs[row], deterministic=True)
            self.assertEqual((action, alone.shape), (actions[row], (width,)))
            np.testing.assert_array_equal(alone, state[row])
            _, begun = policy.predict(obs[row], alone, True, deterministic=True)
            np.testing.assert_array_equal(begun, alone)
        policy.seed(5)
        first = policy.predict(obs, state)
        policy.seed(5)
        for one, other in zip(first, policy.predict(obs, state)):
            np.testing.assert_array_equal(one, other)
        with self.assertRaisesRegex(actorq.Error, "keeps a state.*act_from"):
            policy.act(obs)
        with self.assertRaisesRegex(ValueError, "states of 4 rows, and observations of 5"):
            policy.act_from(obs, state[:4])
        with self.assertRaisesRegex(ValueError, "keeps no state"):
            self.policy.act_from(self.obs, state)

    def test_draws_follow_from_their_numbers(self):
        policy = self.drawn_run.policy()
        actions, log_probs = policy.draw(self.obs, 7, 3)
        again, _ = policy.draw(self.obs, 7, 3)
        other, _ = policy.draw(self.obs, 7, 4)
        np.testing.assert_array_equal(actions, again)
        self.assertTrue((actions != other).any())
        self.assertTrue((log_probs <= 0).all() and np.isfinite(log_probs).all())
        policy.seed(5)
        first = [policy.predict(self.obs)[0] for _ in range(3)]
        policy.seed(5)
        np.testing.assert_array_equal(first, [policy.predict(self.obs)[0] for _ in range(3)])
        np.testing.assert_array_equal(policy.predict(self.obs, deterministic=True)[0],
                                      policy.act(self.obs))

    def test_numbers_that_do_not_fit_are_refused(self):
        policy = self.drawn_run.policy()
        last, _ = policy.draw(self.obs, 2**64 - 1, np.uint64(2**64 - 1))
        self.assertEqual(len(last), len(self.obs))
        policy.seed(2**64 - 1)
        for call in (lambda: policy.draw(self.obs, 2**64, 0), lambda: policy.draw(self.obs, -1, 0),
                     lambda: policy.draw(self.obs, 0, 2**64), lambda: policy.seed(2**70),
                     lambda: policy.seed(-1), lambda: policy.evaluate(5, seed=2**64),
                     lambda: policy.evaluate(5, seed=-1), lambda: policy.evaluate(5, seed=2**53),
                     lambda: policy.evaluate(2**32 + 1, seed=1)):
            with self.assertRaisesRegex(OverflowError, r"-?\d+ is not from 0 to \d+"):
                call()

    def test_it_comes_from_files_runs_and_checkpoints(self):
        run = self.run_made
        self.assertEqual(actorq.load(run.folder + "/policy.aq").facts["precision"], "int8")
        checkpoint = actorq.load(run.checkpoints[-1])
        self.assertEqual(checkpoint.facts["precision"], "fp32")
        self.assertEqual(actorq.load(run.checkpoints[-1], "int8").facts["precision"], "int8")
        self.assertEqual(checkpoint.task, "gym:CartPole-v1")
        self.assertEqual(checkpoint.observation_space.shape, (4,))
        self.assertEqual(checkpoint.action_space.n, 2)

    def test_its_worth_is_what_the_command_says(self):
        said = self.command("eval", self.run_made.folder, "--episodes", "20", "--seed", "7")
        worth = self.policy.evaluate(20, seed=7)
        self.assertEqual(worth["return_mean"], said["return_mean"])
        self.assertEqual(worth["episodes"], 20)

    def test_code_that_a_file_names_is_run_where_it_is_allowed(self):
        bridge = os.path.join(os.environ["AQ_SOURCE_ROOT"], "tests/integration/bridge")
        script = """
import sys
import actorq
actorq.train("py:bridge_tasks:Switches", run=sys.argv[1], seed=1, actors=1, no_http=True,
             limits__env_steps=500, evaluator__episodes=1).wait()
policy = actorq.load(sys.argv[1])
try:
    policy.evaluate(2)
except actorq.Error as error:
    print(error)
actorq.make("py:bridge_tasks:Switches").close()
actorq.make("gym:CartPole-v1").close()
print(policy.evaluate(2)["episodes"], "of what was opened")
actorq.allow_code()
print(policy.evaluate(2)["episodes"], "episodes")
"""
        path = os.pathsep.join([bridge, os.environ["PYTHONPATH"]])
        done = subprocess.run([sys.executable, "-c", script, os.path.join(self.home, "code")],
                              check=False, capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": path})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"code that you have not named: .* actorq.allow_code\(\)")
        self.assertIn("\n2 of what was opened\n", done.stdout)
        self.assertTrue(done.stdout.endswith("\n2 episodes\n"), done.stdout)

    def test_threads_have_copies(self):
        wanted = self.policy.act(self.obs)

        def act(policy):
            for _ in range(50):
                np.testing.assert_array_equal(policy.act(self.obs), wanted)

        with ThreadPoolExecutor(4) as pool:
            for acts in [pool.submit(act, self.policy.copy()) for _ in range(4)]:
                acts.result()


if __name__ == "__main__":
    unittest.main()
