/*
 * The suite's small domains do what the original did: observations and rewards of episodes, of
 * single steps in contact, and of states placed by hand.
 */
#include "tests/support/test.h"
#include "tests/unit/envs/golden_suite.h"

TEST(acrobot_moves_as_the_original)
{
    suite_golden_play("acrobot_1.csv", 1e-11);
}

TEST(acrobot_sees_and_earns_what_the_original_does)
{
    suite_golden_play("acrobot_probes.csv", 1e-11);
}

TEST(ball_in_cup_moves_as_the_original)
{
    suite_golden_play("ball_in_cup_1.csv", 1e-11);
}

TEST(each_step_of_ball_in_cup_in_contact_is_the_originals)
{
    suite_golden_play("ball_in_cup_3.csv", 1e-9);
}

TEST(ball_in_cup_sees_and_earns_what_the_original_does)
{
    suite_golden_play("ball_in_cup_probes.csv", 1e-11);
}

TEST(cartpole_to_be_balanced_moves_as_the_original)
{
    suite_golden_play("cartpole_balance_1.csv", 1e-11);
}

TEST(cartpole_to_be_swung_up_moves_as_the_original)
{
    suite_golden_play("cartpole_swingup_1.csv", 1e-11);
}

TEST(cartpole_sees_and_earns_what_the_original_does)
{
    suite_golden_play("cartpole_probes.csv", 1e-11);
}

TEST(finger_that_spins_moves_as_the_original)
{
    suite_golden_play("finger_spin_1.csv", 1e-11);
}

TEST(each_step_of_finger_in_contact_is_the_originals)
{
    suite_golden_play("finger_spin_3.csv", 1e-9);
}

TEST(finger_that_turns_to_a_large_target_moves_as_the_original)
{
    suite_golden_play("finger_turn_easy_1.csv", 1e-11);
}

TEST(finger_that_turns_to_a_small_target_moves_as_the_original)
{
    suite_golden_play("finger_turn_hard_1.csv", 1e-11);
}

TEST(finger_sees_and_earns_what_the_original_does)
{
    suite_golden_play("finger_probes.csv", 1e-11);
}

TEST(pendulum_moves_as_the_original)
{
    suite_golden_play("pendulum_1.csv", 1e-11);
}

TEST(pendulum_sees_and_earns_what_the_original_does)
{
    suite_golden_play("pendulum_probes.csv", 1e-11);
}

TEST(point_mass_moves_as_the_original)
{
    suite_golden_play("point_mass_1.csv", 1e-11);
}

TEST(reacher_with_a_large_target_moves_as_the_original)
{
    suite_golden_play("reacher_easy_1.csv", 1e-11);
}

TEST(reacher_with_a_small_target_moves_as_the_original)
{
    suite_golden_play("reacher_hard_1.csv", 1e-11);
}

TEST(reacher_sees_and_earns_what_the_original_does)
{
    suite_golden_play("reacher_probes.csv", 1e-11);
}
