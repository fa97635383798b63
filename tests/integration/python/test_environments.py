"""Environments in Python are those of actors: recordings of the originals, seeds, ends, threads."""

import json
import os
import signal
import types
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np

import actorq

GOLDEN = os.path.join(os.environ["AQ_SOURCE_ROOT"], "tests/golden/recordings")


def recording(name):
    with open(os.path.join(GOLDEN, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def children():
    own = os.getpid()
    with open(f"/proc/{own}/task/{own}/children", encoding="ascii") as file:
        return set(map(int, file.read().split()))


class TestRecordings(unittest.TestCase):
    """test_originals.c compares all of them, and to the bit; here it is the way through Python."""

    def follow(self, task, name):
        env, kept = actorq.make(task), recording(name)
        limit = env.facts["step_limit"]
        starts = {-1: kept["initial_state"]}
        starts.update((reset["after_step"], reset["state"]) for reset in kept["resets"])
        env.reset(seed=1)
        for step, action in enumerate(kept["actions"]):
            if step - 1 in starts:
                env.reset()
                env.put(state=starts[step - 1])
                taken = 0
            obs, reward, terminated, truncated, _ = env.step(
                np.atleast_1d(action) if env.action_space.shape else action)
            taken += 1
            np.testing.assert_allclose(obs, kept["observations"][step], rtol=1e-5, atol=1e-5)
            self.assertAlmostEqual(reward, kept["rewards"][step], places=4)
            self.assertEqual(terminated, kept["terminated"][step])
            self.assertEqual(truncated, kept["truncated"][step] or taken == limit)
            if not terminated and not truncated:
                env.put(state=kept["states"][step])
        self.assertGreater(len(kept["actions"]), 100)

    def test_cart_pole(self):
        self.follow("gym:CartPole-v1", "gym/CartPole-v1_1")

    def test_pendulum(self):
        self.follow("gym:Pendulum-v1", "gym/Pendulum-v1_1")

    def test_mountain_car(self):
        self.follow("gym:MountainCar-v0", "gym/MountainCar-v0_1")

    def test_walker(self):
        if "dmc:walker_walk" not in actorq.tasks():
            self.skipTest("built without MuJoCo: there is no control suite")
        kept, env = recording("dmc/walker_walk_1"), actorq.make("dmc:walker_walk")
        env.reset(seed=1)
        obs = env.put(**{name: kept["initial_" + name]
                         for name in ("qpos", "qvel", "qacc_warmstart")})
        np.testing.assert_allclose(obs, kept["initial_observation"], rtol=1e-5, atol=1e-5)
        for step in range(20):  # then it depends on the last bits of actions
            _, reward, *_ = env.step(kept["actions"][step])
            self.assertAlmostEqual(reward, kept["rewards"][step], places=4)


class TestEnv(unittest.TestCase):
    def test_a_seed_is_an_episode(self):
        env = actorq.make("gym:CartPole-v1")
        first, info = env.reset(seed=3)
        self.assertEqual(info, {})
        again, _ = env.reset(seed=3)
        other, _ = env.reset()
        np.testing.assert_array_equal(first, again)
        self.assertTrue((first != other).any())
        self.assertTrue(env.observation_space.contains(first))

    def test_seeds_are_whole_numbers_of_any_kind(self):
        env, envs = actorq.make("gym:CartPole-v1"), actorq.make_vec("gym:CartPole-v1", 2,
                                                                    seed=np.int64(3))
        first, _ = env.reset(seed=3)
        for seed in (np.int64(3), np.uint32(3), np.array(3)):
            np.testing.assert_array_equal(env.reset(seed=seed)[0], first)
            np.testing.assert_array_equal(envs.reset(seed=seed)[0][0], first)
        for seed in (-1, 2**64):
            for call in (env.reset, envs.reset,
                         lambda seed: actorq.make_vec("gym:CartPole-v1", 2, seed=seed)):
                with self.assertRaisesRegex(OverflowError, "is not from 0 to 18446744073709551615"):
                    call(seed=seed)
        for seed in (3.5, "3"):
            with self.assertRaisesRegex(TypeError, "one whole number"):
                env.reset(seed=seed)

    def test_toy_text_is_seen_as_one_of_many(self):
        env = actorq.make("gym:FrozenLake-v1")
        self.assertEqual((env.task, env.observation_space.shape),
                         ("gym:FrozenLake-v1?one_hot=bytes", (16,)))
        self.assertEqual(env.reset(seed=1)[0].tolist(), [255] + [0] * 15)

    def test_the_end_of_an_episode_is_drawn_until_the_next(self):
        env, envs = actorq.make("gym:CartPole-v1", render_mode="rgb_array"), actorq.make_vec(
            "gym:CartPole-v1", 1)
        env.reset(seed=1)
        envs.reset(seed=1)
        other = actorq.make("gym:CartPole-v1", render_mode="rgb_array")
        other.reset(seed=5)
        for _ in range(3):
            ended = False
            while not ended:
                observation, _, ended, _, _ = env.step(0)
                following = envs.step([0])[0][0]
            other.put(state=observation.astype(float))
            np.testing.assert_array_equal(env.render(), other.render())
            np.testing.assert_array_equal(env.reset()[0], following)  # chance goes on

    def test_an_episode_ends_and_is_begun_again(self):
        env = actorq.make("gym:CartPole-v1?time_limit=5")
        with self.assertRaisesRegex(RuntimeError, "reset"):
            env.step(0)
        env.reset(seed=1)
        ends = [env.step(0)[2:4] for _ in range(5)]
        self.assertEqual(ends, [(False, False)] * 4 + [(False, True)])
        with self.assertRaisesRegex(RuntimeError, "reset"):
            env.step(0)
        self.assertTrue(np.abs(env.reset()[0]).max() <= 0.05)
        env.step(1)
        env.close()
        with self.assertRaisesRegex(RuntimeError, "closed"):
            env.reset()

    def test_it_draws_itself(self):
        env = actorq.make("gym:CartPole-v1", render_mode="rgb_array")
        env.reset(seed=1)
        picture = env.render()
        self.assertEqual((picture.shape, picture.dtype), ((400, 600, 3), np.uint8))
        self.assertGreater(len(np.unique(picture.reshape(-1, 3), axis=0)), 2)
        with self.assertRaisesRegex(ValueError, "'human'"):
            actorq.make("gym:CartPole-v1", render_mode="human")
        self.assertIsNone(actorq.make("gym:CartPole-v1").render())

    def test_wrong_actions_are_said_in_words(self):
        pole, pendulum = actorq.make("gym:CartPole-v1"), actorq.make("gym:Pendulum-v1")
        pair = actorq.make("game:seaquest?actions=pair")
        self.assertIn(pair.action_space.sample(), pair.action_space)
        pair.reset(seed=1)
        pole.reset(seed=1)
        pendulum.reset(seed=1)
        for env, action, kind, words in (
                (pole, 2, ValueError, "choices 0 to 1"),
                (pole, -3, ValueError, "action -3 .* 0 to 1"),
                (pole, 1 << 40, ValueError, str(1 << 40)),
                (pole, 0.5, TypeError, "float64"), (pole, [0, 1], ValueError, "one action"),
                (pendulum, [float("nan")], ValueError, "not a number"),
                (pendulum, 0.5, ValueError, r"\(1,\) is wanted"),
                (pair, 1, ValueError, r"\(2,\) is wanted"), (pair, [1, 2], ValueError, "0 to 1"),
                (pair, [5, 0], ValueError, "0 to 4"), (pole, None, TypeError, "object")):
            with self.assertRaisesRegex(kind, words):
                env.step(action)
        with self.assertRaisesRegex(actorq.Error, "did you mean"):
            actorq.make("gym:CartPoole-v1")
        with self.assertRaisesRegex(ValueError, "no 'state'"):
            pole.put(place=[1])

    def test_gymnasium_is_subclassed_where_it_is(self):
        with mock.patch.dict("sys.modules"):
            env_class = type("Env", (), {"reset": lambda self, seed=None: None})
            vec_class = type("VectorEnv", (), {})
            modes = types.SimpleNamespace(SAME_STEP="the mode")
            from actorq import gym_spaces  # pylint: disable=import-outside-toplevel
            fake = types.ModuleType("gymnasium")
            fake.Env, fake.spaces = env_class, types.ModuleType("gymnasium.spaces")
            fake.vector = types.SimpleNamespace(VectorEnv=vec_class, AutoresetMode=modes)
            for name in ("Box", "Discrete", "MultiDiscrete"):
                setattr(fake.spaces, name, getattr(gym_spaces, name))
            import sys  # pylint: disable=import-outside-toplevel
            sys.modules.update({"gymnasium": fake, "gymnasium.spaces": fake.spaces})
            sys.modules.pop("actorq.envs")
            import importlib  # pylint: disable=import-outside-toplevel
            envs = importlib.import_module("actorq.envs")
            self.assertIsInstance(envs.make("gym:CartPole-v1"), env_class)
            many = envs.make_vec("gym:CartPole-v1", 2)
            self.assertIsInstance(many, vec_class)
            self.assertEqual(many.metadata["autoreset_mode"], "the mode")

    def test_gymnasiums_own_checker_is_content(self):
        try:
            from gymnasium.utils.env_checker import check_env  # pylint: disable=C0415
        except ImportError:
            self.skipTest("gymnasium is not installed: its checker cannot be asked")
        check_env(actorq.make("gym:CartPole-v1"), skip_render_check=True)


class TestInPython(unittest.TestCase):
    """Environments that are Python themselves, in a process of their own."""

    def setUp(self):
        bridge = os.path.join(os.environ["AQ_SOURCE_ROOT"], "tests/integration/bridge")
        patch = mock.patch.dict("os.environ", PYTHONPATH=bridge)
        patch.start()
        self.addCleanup(patch.stop)

    def test_they_are_stepped_as_all_others(self):
        env, many = actorq.make("py:bridge_tasks:CartPole"), actorq.make_vec(
            "py:bridge_tasks:CartPole", 3)
        self.assertEqual((env.observation_space.shape, env.action_space.n), ((4,), 2))
        first, _ = env.reset(seed=3)
        np.testing.assert_array_equal(first, env.reset(seed=3)[0])
        np.testing.assert_array_equal(first, many.reset(seed=3)[0][0])
        for _ in range(10):
            one, several = env.step(1), many.step(np.ones(3, int))
            seen = several[4]["final_obs"] if one[2] else several[0]
            np.testing.assert_array_equal(one[0], seen[0])
            self.assertEqual(one[1:3], (several[1][0], several[2][0]))
            if one[2]:
                break
        self.assertTrue(one[2])  # it falls

    def test_pictures_that_are_seen_are_drawn(self):
        for options in ("", "?frame_stack=2"):
            env = actorq.make("py:bridge_tasks:Picture" + options, render_mode="rgb_array")
            env.reset(seed=1)
            self.assertEqual(env.render().max(), 0)
            env.step(np.zeros(2))
            self.assertGreater(env.render().max(), 200)

    def test_its_own_picture_is_of_the_end(self):
        env = actorq.make("py:bridge_tasks:Painted", render_mode="rgb_array")
        for seed in (1, None):
            env.reset(seed=seed)
            start, ended = env.render(), False
            while not ended:
                ended = env.step(0)[2]
            self.assertTrue((env.render() != start).any())

    def test_an_episode_that_failed_is_over(self):
        env = actorq.make("py:bridge_tasks:Raising")
        env.reset(seed=1)
        with self.assertRaises(ValueError):
            env.step(9)  # which steps nothing
        with self.assertRaisesRegex(actorq.Error, "the gears are jammed"):
            for _ in range(9):
                env.step(0)
        with self.assertRaisesRegex(RuntimeError, "reset"):
            env.step(0)
        env.reset()
        env.step(0)

    def test_a_process_that_died_is_waited_for(self):
        for options in ("", "?frame_stack=2"):
            env = actorq.make("py:bridge_tasks:Dying" + options)
            first, _ = env.reset(seed=1)
            with self.assertRaisesRegex(actorq.Error, "ended with status 3"):
                for _ in range(3):
                    env.step(0)
            np.testing.assert_array_equal(env.reset(seed=1)[0], first)
            with self.assertRaisesRegex(actorq.Error, "ended with status 3"):
                for _ in range(3):
                    env.step(0)
            env.reset()
            env.step(0)
        envs = actorq.make_vec("py:bridge_tasks:Dying", 2)
        with self.assertRaisesRegex(actorq.Error, "ended with status 3"):
            for _ in range(3):
                envs.step(np.zeros(2, int))
        self.assertEqual(envs.reset()[0].shape, (2, 3))

    def test_a_process_that_died_between_two_calls_is_waited_for(self):
        before = children()
        env = actorq.make("py:bridge_tasks:Counter")
        first, _ = env.reset(seed=1)
        env.step(0)
        (worker,) = children() - before
        os.kill(worker, signal.SIGKILL)
        os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)
        np.testing.assert_array_equal(env.reset(seed=1)[0], first)
        env.step(0)

    def test_an_episode_that_cannot_be_begun_is_told_at_once(self):
        envs, actions = actorq.make_vec("py:bridge_tasks:RaisingInReset", 1), np.zeros(1, int)
        for _ in range(4):
            envs.step(actions)
        with self.assertRaisesRegex(actorq.Error, "no second chance"):
            envs.step(actions)  # which ends the first

    def test_an_episode_whose_picture_failed_is_over(self):
        env = actorq.make("py:bridge_tasks:Smudged", render_mode="rgb_array")
        env.reset(seed=1)
        with self.assertRaisesRegex(actorq.Error, "draws itself in text"):
            env.render()
        env.step(0)
        for call in (env.render, lambda: env.step(0)):
            with self.assertRaisesRegex(actorq.Error, "division by zero"):
                call()
        env.reset()
        env.step(0)

    def test_what_is_wrong_is_said_in_words(self):
        for task, words in (("py:bridge_tasks:Nothing", "Nothing"),
                            ("py:no_such_module:Env", "no Python module no_such_module")):
            with self.assertRaisesRegex(actorq.Error, words):
                actorq.make(task)


class TestVecEnv(unittest.TestCase):
    def test_it_is_as_many_environments_alone(self):
        envs = actorq.make_vec("gym:CartPole-v1", 3)
        obs, infos = envs.reset(seed=5)
        self.assertEqual((obs.shape, infos), ((3, 4), {}))
        self.assertTrue(envs.observation_space.contains(obs))
        np.testing.assert_array_equal(obs[0], actorq.make("gym:CartPole-v1").reset(seed=5)[0])
        self.assertTrue((obs[0] != obs[1]).any())

    def test_ends_are_told_in_the_step_in_which_they_are(self):
        envs, ended = actorq.make_vec("gym:CartPole-v1", 8), 0
        obs, _ = envs.reset(seed=1)
        rng, length, total = np.random.default_rng(1), np.zeros(8), np.zeros(8)
        for _ in range(300):
            obs, rewards, terminated, truncated, infos = envs.step(rng.integers(0, 2, 8))
            mask = terminated | truncated
            length += 1
            total += rewards
            self.assertEqual("final_obs" in infos, bool(mask.any()))
            if mask.any():
                ended += mask.sum()
                np.testing.assert_array_equal(infos["_final_obs"], mask)
                self.assertTrue((np.abs(infos["final_obs"][mask]).max(1) > 0.05).all())
                self.assertTrue((np.abs(obs[mask]) <= 0.05).all())
                episode = infos["final_info"]["episode"]
                np.testing.assert_array_equal(episode["l"][mask], length[mask])
                np.testing.assert_array_equal(episode["r"][mask], total[mask])
                length[mask] = total[mask] = 0
        self.assertGreater(ended, 50)

    def test_arrays_are_new_or_the_same(self):
        for copy in (True, False):
            envs = actorq.make_vec("gym:CartPole-v1", 4, copy=copy)
            envs.reset(seed=1)
            first, second = envs.step(np.zeros(4, int)), envs.step(np.ones(4, np.int32))
            for a, b in zip(first[:4], second[:4]):
                self.assertEqual(a is b, not copy)

    def test_wrong_actions_step_nothing(self):
        envs = actorq.make_vec("gym:CartPole-v1", 2, copy=False)
        before = envs.reset(seed=1)[0].copy()
        for actions, kind in (([0, 2], ValueError), ([0], ValueError),
                              (np.zeros(3, int), ValueError),
                              (1, ValueError), ([[0], [1]], ValueError), ([2 ** 40, 0], ValueError),
                              (np.array([2 ** 40, 0]), ValueError), ("ab", TypeError)):
            with self.assertRaises(kind):
                envs.step(actions)
        np.testing.assert_array_equal(envs.reset(seed=1)[0], before)
        with self.assertRaisesRegex(ValueError, "1 to 4096"):
            actorq.make_vec("gym:CartPole-v1", 0)
        with self.assertRaisesRegex(TypeError, "one whole number"):
            envs.reset(seed=[1, 2])
        self.assertEqual(len(envs.render()), 2)

    def test_threads_have_their_own(self):
        def play():
            envs = actorq.make_vec("gym:Pendulum-v1", 16, seed=2)
            envs.reset(seed=2)
            for _ in range(300):
                obs = envs.step(np.full((16, 1), 0.5))[0]
            return obs

        with ThreadPoolExecutor(4) as pool:
            played = [pool.submit(play) for _ in range(4)]
        for one in played:
            np.testing.assert_array_equal(one.result(), played[0].result())

    def test_one_in_two_threads_is_refused_or_right(self):
        task = "dmc:walker_walk" if "dmc:walker_walk" in actorq.tasks() else "gym:Acrobot-v1"
        envs, alone = actorq.make_vec(task, 64), actorq.make_vec(task, 64)
        envs.reset(seed=1)
        alone.reset(seed=1)
        actions = envs.action_space.sample()

        def play():
            taken = 0
            for _ in range(20):
                try:
                    envs.step(actions)
                    taken += 1
                except RuntimeError as error:
                    self.assertIn("another thread", str(error))
            return taken

        with ThreadPoolExecutor(2) as pool:
            played = [pool.submit(play) for _ in range(2)]
        for _ in range(sum(one.result() for one in played)):
            alone.step(actions)
        np.testing.assert_array_equal(envs.step(actions)[0], alone.step(actions)[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
