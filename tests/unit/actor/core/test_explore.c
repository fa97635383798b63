/*
 * The exploration ladder against numbers worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "actor/core/explore.h"

static aq_run_settings ladder(uint32_t actors, uint32_t envs, double base, double alpha)
{
    return (aq_run_settings){
        .actor_count = actors,
        .actor_envs = envs,
        .epsilon_base = base,
        .epsilon_alpha = alpha,
    };
}

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) <= 1e-12 * fmax(1.0, fabs(expected)));
}

static void test_the_first_rung_is_the_base_and_the_last_its_highest_power(void **state)
{
    aq_run_settings settings = ladder(2, 8, 0.4, 7.0);
    (void)state;
    assert_near(aq_explore_rate(&settings, 0, 0), 0.4);
    assert_near(aq_explore_rate(&settings, 1, 7), pow(0.4, 8.0)); /* 0.00065536 */
    assert_near(aq_explore_rate(&settings, 1, 7), 0.00065536);
}

static void test_rungs_are_dealt_to_actors_in_turn(void **state)
{
    aq_run_settings settings = ladder(2, 2, 0.5, 3.0); /* rungs 0 to 3: powers 1, 2, 3, 4 */
    (void)state;
    assert_near(aq_explore_rate(&settings, 0, 0), 0.5);
    assert_near(aq_explore_rate(&settings, 1, 0), 0.25);
    assert_near(aq_explore_rate(&settings, 0, 1), 0.125);
    assert_near(aq_explore_rate(&settings, 1, 1), 0.0625);
}

static void test_a_single_environment_explores_at_the_base(void **state)
{
    aq_run_settings settings = ladder(1, 1, 0.3, 7.0);
    (void)state;
    assert_near(aq_explore_rate(&settings, 0, 0), 0.3);
}

static void test_an_actor_too_many_takes_the_rungs_of_another(void **state)
{
    aq_run_settings settings = ladder(3, 4, 0.4, 7.0);
    (void)state;
    for (uint32_t env = 0; env < 4; env++) {
        assert_near(aq_explore_rate(&settings, 4, env), aq_explore_rate(&settings, 1, env));
    }
}

static void test_no_exploration_and_nothing_but_exploration_are_possible(void **state)
{
    aq_run_settings none = ladder(2, 2, 0.0, 7.0);
    aq_run_settings all = ladder(2, 2, 1.0, 7.0);
    (void)state;
    assert_near(aq_explore_rate(&none, 1, 1), 0.0);
    assert_near(aq_explore_rate(&all, 1, 1), 1.0);
}

static void test_alpha_zero_makes_all_equal(void **state)
{
    aq_run_settings settings = ladder(4, 4, 0.4, 0.0);
    (void)state;
    assert_near(aq_explore_rate(&settings, 3, 3), 0.4);
}

static void test_constant_noise_is_the_same_everywhere(void **state)
{
    aq_run_settings settings = ladder(4, 2, 0.4, 7.0);
    (void)state;
    settings.noise = 0.2;
    settings.noise_ladder = AQ_NOISE_CONSTANT;
    for (uint32_t slot = 0; slot < 4; slot++) {
        assert_near(aq_explore_noise(&settings, slot, slot % 2), 0.2);
    }
}

static void test_uniform_noise_rises_in_even_steps_from_none_to_all(void **state)
{
    aq_run_settings settings = ladder(5, 1, 0.4, 7.0);
    (void)state;
    settings.noise = 0.2;
    settings.noise_ladder = AQ_NOISE_UNIFORM;
    for (uint32_t slot = 0; slot < 5; slot++) {
        assert_near(aq_explore_noise(&settings, slot, 0), 0.05 * slot);
    }
    assert_near(aq_explore_noise(&settings, 6, 0), 0.05); /* one too many takes another's */
}

static void test_a_single_environment_has_all_of_the_noise(void **state)
{
    aq_run_settings settings = ladder(1, 1, 0.4, 7.0);
    (void)state;
    settings.noise = 0.2;
    settings.noise_ladder = AQ_NOISE_UNIFORM;
    assert_near(aq_explore_noise(&settings, 0, 0), 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_rung_is_the_base_and_the_last_its_highest_power),
        cmocka_unit_test(test_rungs_are_dealt_to_actors_in_turn),
        cmocka_unit_test(test_a_single_environment_explores_at_the_base),
        cmocka_unit_test(test_an_actor_too_many_takes_the_rungs_of_another),
        cmocka_unit_test(test_no_exploration_and_nothing_but_exploration_are_possible),
        cmocka_unit_test(test_alpha_zero_makes_all_equal),
        cmocka_unit_test(test_constant_noise_is_the_same_everywhere),
        cmocka_unit_test(test_uniform_noise_rises_in_even_steps_from_none_to_all),
        cmocka_unit_test(test_a_single_environment_has_all_of_the_noise),
    };
    return cmocka_run_group_tests_name("explore", tests, NULL, NULL);
}
