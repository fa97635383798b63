/*
 * Cheetah, hopper, humanoid and walker do what the original did, and begin as its rules say.
 */
#include <math.h>
#include <string.h>

#include "tests/support/test.h"
#include "tests/unit/envs/golden_suite.h"

TEST(cheetah_moves_as_the_original)
{
    suite_golden_play("cheetah_1.csv", 1e-11);
}

TEST(each_step_of_cheetah_in_contact_is_the_originals)
{
    suite_golden_play("cheetah_3.csv", 1e-9);
}

TEST(cheetah_sees_and_earns_what_the_original_does)
{
    suite_golden_play("cheetah_probes.csv", 1e-11);
}

TEST(hopper_moves_as_the_original)
{
    suite_golden_play("hopper_1.csv", 1e-11);
}

TEST(hopper_sees_and_earns_what_the_original_does)
{
    suite_golden_play("hopper_probes.csv", 1e-11);
}

TEST(humanoid_moves_as_the_original)
{
    suite_golden_play("humanoid_1.csv", 1e-7);
}

TEST(humanoid_sees_and_earns_what_the_original_does)
{
    suite_golden_play("humanoid_probes.csv", 1e-9);
}

TEST(walker_moves_as_the_original)
{
    suite_golden_play("walker_1.csv", 1e-9);
}

TEST(each_step_of_walker_in_contact_is_the_originals)
{
    suite_golden_play("walker_3.csv", 1e-9);
}

TEST(walker_sees_and_earns_what_the_original_does)
{
    suite_golden_play("walker_probes.csv", 1e-11);
}
