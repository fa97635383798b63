"""The Python side of the bridge by itself: spaces, names, texts, and a round of work in memory."""

import os
import sys
import unittest
from unittest import mock

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "python"), HERE]

import bridge_tasks  # pylint: disable=wrong-import-position
from actorq_env import (  # pylint: disable=wrong-import-position
    lanes, maker, pictures, protocol, spaces)


class Spaces(unittest.TestCase):
    def fields(self, space):
        return protocol.SPACE.unpack(space.packed())

    def test_floats_of_any_width_become_f32(self):
        for dtype in (np.float16, np.float32, np.float64):
            space = spaces.space_of(bridge_tasks.Box(-1, 1, (2, 3), dtype), "observation")
            self.assertEqual(space.dtype, np.float32)
            self.assertEqual(self.fields(space)[:9], (1, 1, 2, 2, 3, 0, 0, 0, 1))

    def test_a_number_alone_becomes_a_row_of_one(self):
        space = spaces.space_of(bridge_tasks.Box(-1, 1, ()), "observation")
        self.assertEqual(self.fields(space)[2:4], (1, 1))

    def test_bounds_too_large_for_f32_become_infinite(self):
        space = spaces.space_of(bridge_tasks.Box(-1e300, 1e300, (2,), np.float64), "observation")
        self.assertEqual(list(space.high), [np.inf])

    def test_many_different_bounds_become_the_widest(self):
        high = np.arange(1, 201, dtype=np.float32)
        space = spaces.space_of(bridge_tasks.Box(-high, high, (200,)), "observation")
        self.assertEqual((list(space.low), list(space.high)), ([-200.0], [200.0]))

    def test_what_there_is_no_place_for_is_refused_in_words(self):
        for space, words in ((bridge_tasks.Box(0, 9, (2,), np.int32), "box of int32"),
                             (bridge_tasks.Box(0, 1, (1,) * 5), "5 dimensions"),
                             (bridge_tasks.Box(0, np.nan, (2,)), "not a number"),
                             (bridge_tasks.Box(0, 1, (2, 0)), "empty"),
                             (bridge_tasks.Discrete(0), "0 choices"),
                             (bridge_tasks.Discrete(2**40), "1099511627776 choices; 1 to"),
                             (bridge_tasks.OneOf((bridge_tasks.Discrete(3),)), "is a OneOf"),
                             (bridge_tasks.MultiBinary(129), "a MultiBinary of 129"),
                             ({"a": 1}, "dict")):
            with self.assertRaisesRegex(protocol.Refusal, words):
                spaces.space_of(space, "observation")

    def test_several_choices_are_a_row_from_zero(self):
        for space, counts in ((bridge_tasks.MultiDiscrete([3, 5], start=2), [3, 5]),
                              (bridge_tasks.MultiDiscrete([[2, 3], [4, 5]]), [2, 3, 4, 5]),
                              (bridge_tasks.MultiBinary((2, 2)), [2] * 4)):
            made = spaces.space_of(space, "action")
            self.assertEqual(self.fields(made)[:9], (2, 1, 1, len(counts), 0, 0, 0, 0, len(counts)))
            self.assertEqual(list(made.low), [0] * len(counts))
            self.assertEqual(list(made.high), [count - 1 for count in counts])
        for counts in ([], [2, 0], [2] * 129):
            with self.assertRaisesRegex(protocol.Refusal, "1 to 128, each of one or more"):
                spaces.space_of(bridge_tasks.MultiDiscrete(counts), "action")

    def test_parts_become_one_row_in_their_order(self):
        box = bridge_tasks.Box([-1, -2], [1, 2], (2,))
        parts = bridge_tasks.Several({"b": box, "a": bridge_tasks.Several(
            (bridge_tasks.Discrete(3, start=5), bridge_tasks.Box(0, 9, ())))})
        space = spaces.space_of(parts, "observation")
        self.assertEqual(self.fields(space)[:4], (1, 1, 1, 6))
        self.assertEqual(list(space.low), [-1, -2, 0, 0, 0, 0])
        self.assertEqual(list(space.high), [1, 2, 1, 1, 1, 9])
        value = {"a": (6, 7.5), "b": np.array([0.5, -1.5])}
        self.assertEqual(space.flatten(value).tolist(), [0.5, -1.5, 0, 1, 0, 7.5])
        for value, words in (({"a": (8, 1), "b": np.zeros(2)}, "'a/0' is 8"),
                             ({"a": (5, 1), "b": np.zeros(3)}, "'b' of shape")):
            with self.assertRaisesRegex(protocol.Refusal, words):
                space.flatten(value)

    def test_several_choices_are_seen_each_as_one_of_many(self):
        dials = bridge_tasks.MultiDiscrete([[2, 3]], start=[[0, 1]])
        for space, wrap in ((dials, lambda value: value),
                            (bridge_tasks.Several({"dials": dials}), lambda v: {"dials": v})):
            seen = spaces.space_of(space, "observation")
            self.assertEqual(self.fields(seen)[:4], (1, 1, 1, 5))
            self.assertEqual((list(seen.low), list(seen.high)), ([0], [1]))
            self.assertEqual(seen.flatten(wrap(np.array([[1, 3]]))).tolist(), [0, 1, 0, 0, 1])
            for value, words in (([[1, 0]], "outside of"), ([[2, 1]], "outside of"),
                                 ([1, 3], "of shape")):
                with self.assertRaisesRegex(protocol.Refusal, words):
                    seen.flatten(wrap(np.array(value)))
        switches = spaces.space_of(bridge_tasks.MultiBinary(2), "observation")
        self.assertEqual(switches.flatten(np.array([1, 0], np.int8)).tolist(), [0, 1, 1, 0])

    def test_parts_that_do_not_go_together_are_refused_by_name(self):
        picture = bridge_tasks.Box(0, 255, (4, 4, 3), np.uint8)
        for part, words in ((picture, "'eye' space is a box of uint8"),
                            (bridge_tasks.OneOf((picture,)), "'eye' space is a OneOf"),
                            (bridge_tasks.MultiBinary(129), "'eye' space is a MultiBinary of")):
            with self.assertRaisesRegex(protocol.Refusal, words):
                spaces.space_of(bridge_tasks.Several({"eye": part}), "observation")
        with self.assertRaisesRegex(protocol.Refusal, "no parts"):
            spaces.space_of(bridge_tasks.Several({}), "observation")
        with self.assertRaisesRegex(protocol.Refusal, "action space is a Several"):
            spaces.space_of(bridge_tasks.Several((bridge_tasks.Discrete(2),)), "action")

    def test_pictures_are_seen_and_not_done(self):
        box = bridge_tasks.Box(0, 255, (4, 4, 3), np.uint8)
        self.assertEqual(spaces.space_of(box, "observation").dtype, np.uint8)
        with self.assertRaisesRegex(protocol.Refusal, "box of uint8"):
            spaces.space_of(box, "action")


class Names(unittest.TestCase):
    def test_a_class_of_a_module_is_found(self):
        self.assertIs(maker.maker_of("bridge_tasks:Counter"), bridge_tasks.Counter)

    def test_a_module_with_make_is_asked(self):
        self.assertIsInstance(maker.maker_of("bridge_tasks:CartPole-v1")(), bridge_tasks.CartPole)

    def test_a_module_that_lacks_one_itself_says_so(self):
        with self.assertRaisesRegex(protocol.Refusal, "no Python module absent_module"):
            maker.maker_of("absent_module:X")

    def test_a_name_without_a_module_is_refused(self):
        for name in ("", ":", "bridge_tasks", "bridge_tasks:", ":Counter"):
            with self.assertRaises(protocol.Refusal):
                maker.maker_of(name)


class Texts(unittest.TestCase):
    def test_short_texts_stay(self):
        self.assertEqual(lanes.clipped("jammed", 20), b"jammed")

    def test_long_texts_keep_both_ends(self):
        data = lanes.clipped("first" + "x" * 5000 + "last")
        self.assertLessEqual(len(data), protocol.TEXT_MAX - 1)
        self.assertTrue(data.startswith(b"first") and data.endswith(b"last"))

    def test_a_cut_character_is_left_out(self):
        lanes.clipped("\u00fc" * 3000).decode()

    def test_zeros_do_not_end_a_text(self):
        self.assertEqual(lanes.clipped("a\0b"), b"a?b")


class Rounds(unittest.TestCase):
    SLOTS = 4

    def lanes_of(self, name):
        """Lanes with memory of their own, each at the beginning of an episode."""
        made = self.idle_lanes_of(name)
        made.lanes[:] = range(self.SLOTS)
        made.seeds[:] = range(self.SLOTS)
        made.works[:] = protocol.RESET
        made.work(0, self.SLOTS)
        return made

    def idle_lanes_of(self, name):
        task = maker.Task("bridge_tasks:" + name)
        row = task.observation.dtype.itemsize * int(np.prod(task.observation.shape))
        action = 4 * max(4, int(np.prod(task.action.shape)))
        sizes = (4, 1, 8, action, 1, 1, 4, row, row, protocol.TEXT_MAX, 256)
        offsets, used = [], 0
        for size in sizes:
            offsets.append(used)
            used += (size * self.SLOTS + 63) // 64 * 64
        memory = os.memfd_create("rounds")
        os.ftruncate(memory, used)
        layout = protocol.LAYOUT.pack(protocol.MAGIC, self.SLOTS, used, *offsets)
        made = lanes.Lanes(task, layout, memory)
        os.close(memory)
        return made

    def test_whatever_was_made_is_closed(self):
        closed = []
        with mock.patch.object(bridge_tasks.Counter, "close", lambda env: closed.append(type(env)),
                               create=True):
            made = self.lanes_of("Counter")
            made.close()
            self.assertEqual(closed, [bridge_tasks.Counter] * self.SLOTS)
            made = self.idle_lanes_of("Truncating")
            made.close()
            self.assertEqual(closed[self.SLOTS:], [bridge_tasks.Truncating])
            made.made()
            made.task.make = bridge_tasks.Parts
            with self.assertRaisesRegex(protocol.Refusal, "another observation space"):
                made.made()
            self.assertIs(closed[-1], bridge_tasks.Parts)

    def test_parts_go_through_memory_as_a_row(self):
        made = self.lanes_of("Parts")
        self.assertEqual(made.observations.tolist(),
                         [[0, seed, 1, 0, 0, 0, 0.5] for seed in range(self.SLOTS)])
        made.works[:] = protocol.STEP
        made.actions[:] = 2
        made.work(0, self.SLOTS)
        self.assertEqual(made.observations[3].tolist(), [1, 3, 0, 0, 0, 1, 0.5])

    def test_several_choices_come_as_the_space_says(self):
        for name, right in (("Locks", lambda seen: np.stack([seen[:, :3].argmax(1),
                                                             seen[:, 3:5].argmax(1)], 1)),
                            ("Switches", lambda seen: seen)):
            made = self.lanes_of(name)
            made.actions[:] = right(made.observations).reshape(made.actions.shape)
            made.works[:] = protocol.STEP
            made.work(0, self.SLOTS)
            self.assertEqual(made.rewards.tolist(), [3 if name == "Locks" else 4] * self.SLOTS)

    def test_actions_lie_within_the_bounds_of_the_space_itself(self):
        made = self.lanes_of("Narrow")
        made.actions[:] = [[sign * bound] for sign, bound in
                           ((1, made.task.action.high[0]), (-1, np.float32(0.3)), (1, 0), (1, 9))]
        made.works[:] = protocol.STEP
        made.work(0, self.SLOTS)
        self.assertEqual(made.rewards.tolist(), [1] * self.SLOTS)

    def test_a_step_on_begins_the_next_episode_and_a_step_does_not(self):
        made = self.lanes_of("Counter")
        made.works[:] = protocol.STEP
        made.works[1] = protocol.STEP_ON
        for _ in range(bridge_tasks.Counter.length):
            self.assertFalse(made.readies.any())
            made.work(0, self.SLOTS)
        self.assertTrue((made.ends == protocol.TERMINATED).all())
        self.assertEqual(made.readies.tolist(), [0, 1, 0, 0])
        self.assertEqual(made.first_observations[1].tolist(), [0.0, 1.0, 0.0])
        self.assertEqual(made.observations[1][0], bridge_tasks.Counter.length)

    def test_one_that_raises_leaves_the_others_alone(self):
        made = self.lanes_of("Raising")
        made.works[:] = protocol.STEP
        made.works[1:] = protocol.NOTHING
        made.work(0, self.SLOTS)
        made.work(0, self.SLOTS)
        made.works[:] = protocol.STEP
        made.work(0, self.SLOTS)
        self.assertEqual(made.ends.tolist(), [protocol.FAILED] + [protocol.GOES_ON] * 3)
        text = bytes(made.failures[0]).split(b"\0")[0].decode()
        self.assertTrue(text.startswith("Traceback"))
        self.assertTrue(text.endswith("ValueError: the gears are jammed"))
        self.assertNotIn("lanes.py", text)

    def test_a_picture_lies_behind_its_size(self):
        made = self.lanes_of("Painted")
        made.works[0] = protocol.DRAW
        made.work(0, 1)
        self.assertEqual(made.ends[0], protocol.GOES_ON)
        at = made.picture_at
        self.assertEqual(made.map[at:at + 20], protocol.PICTURE.pack(2, 2) + b"\0" * 12)

    def test_what_is_no_picture_is_refused_in_words(self):
        for drawn, words in ((None, "render gives NoneType; an array"),
                             (np.zeros((2, 2), np.uint8), r"uint8 of shape \(2, 2\)"),
                             (np.zeros((2, 2, 3)), "float64 of shape"),
                             (np.zeros((0, 2, 3), np.uint8), r"shape \(0, 2, 3\)"),
                             ("x" * protocol.PICTURE_MAX, "8388609 bytes; 8388608 can be shown")):
            env = bridge_tasks.Painted()
            env.render = lambda drawn=drawn: drawn
            with self.assertRaisesRegex(protocol.Refusal, words):
                pictures.packed(env)

    def test_a_mode_is_chosen_where_none_is(self):
        for modes, mode in ((["human", "rgb_array"], "rgb_array"), (["human", "ansi"], "ansi"),
                            (["ansi", "rgb_array"], "rgb_array")):
            env = bridge_tasks.Painted()
            env.render_mode, env.metadata = None, {"render_modes": modes}
            pictures.packed(env)
            self.assertEqual(env.render_mode, mode)
        self.assertFalse(maker.draws(bridge_tasks.Counter()))
        self.assertTrue(maker.draws(bridge_tasks.Painted()))

    def test_a_row_keeps_what_an_environment_may_change(self):
        made = self.lanes_of("Picture")
        made.actions[:] = 0.5
        rows = made.actions_of(0, self.SLOTS)
        rows[:] = 9.0
        self.assertTrue((made.actions == 0.5).all())
        self.assertEqual(rows.dtype, np.float64)


if __name__ == "__main__":
    unittest.main()
