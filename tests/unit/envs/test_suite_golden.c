/*
 * The control suite does what the original did: observations and rewards of episodes, of single
 * steps in contact, and of states placed by hand.
 */
#include "tests/support/test.h"
#include "tests/unit/envs/golden_suite.h"

typedef struct recording {
    const char *file;
    double limit; /* of the error */
} recording;

static void play_all(const recording *recordings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        suite_golden_play(recordings[i].file, recordings[i].limit);
    }
}

TEST(every_body_moves_as_the_original)
{
    const recording episodes[] = {
        {"dmc/acrobot_1.csv", 1e-11},
        {"dmc/ball_in_cup_1.csv", 1e-11},
        {"dmc/cartpole_balance_1.csv", 1e-11},
        {"dmc/cartpole_swingup_1.csv", 1e-11},
        {"dmc/finger_spin_1.csv", 1e-11},
        {"dmc/finger_turn_easy_1.csv", 1e-11},
        {"dmc/finger_turn_hard_1.csv", 1e-11},
        {"dmc/pendulum_1.csv", 1e-11},
        {"dmc/point_mass_1.csv", 1e-11},
        {"dmc/reacher_easy_1.csv", 1e-11},
        {"dmc/reacher_hard_1.csv", 1e-11},
        {"dmc/cheetah_1.csv", 1e-11},
        {"dmc/hopper_1.csv", 1e-11},
        {"dmc/humanoid_1.csv", 1e-7},
        {"dmc/walker_1.csv", 1e-9},
    };
    play_all(episodes, sizeof(episodes) / sizeof(episodes[0]));
}

TEST(each_step_in_contact_is_the_originals)
{
    const recording contacts[] = {
        {"dmc/ball_in_cup_3.csv", 1e-9},
        {"dmc/finger_spin_3.csv", 1e-9},
        {"dmc/cheetah_3.csv", 1e-9},
        {"dmc/walker_3.csv", 1e-9},
    };
    play_all(contacts, sizeof(contacts) / sizeof(contacts[0]));
}

TEST(every_body_sees_and_earns_what_the_original_does)
{
    const recording probes[] = {
        {"dmc/acrobot_probes.csv", 1e-11},  {"dmc/ball_in_cup_probes.csv", 1e-11},
        {"dmc/cartpole_probes.csv", 1e-11}, {"dmc/finger_probes.csv", 1e-11},
        {"dmc/pendulum_probes.csv", 1e-11}, {"dmc/reacher_probes.csv", 1e-11},
        {"dmc/cheetah_probes.csv", 1e-11},  {"dmc/hopper_probes.csv", 1e-11},
        {"dmc/humanoid_probes.csv", 1e-9},  {"dmc/walker_probes.csv", 1e-11},
    };
    play_all(probes, sizeof(probes) / sizeof(probes[0]));
}
