/*
 * What is left of the step sizes as a run goes on.
 */
#include "learner/algorithms/learning_rate.h"
#include "tests/support/test.h"

#define NEAR 1e-12

static aq_run_config config_of(uint64_t env_steps, uint64_t learner_steps, double end)
{
    aq_run_config config = {0};
    config.limits.env_steps = env_steps;
    config.limits.learner_steps = learner_steps;
    config.learner.learning_rate_end = end;
    return config;
}

TEST(rates_stay_by_default)
{
    const aq_run_config config = config_of(1000, 0, 1);
    assert_float_equal(aq_learning_rate_share(&config, 0, 0), 1, NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 999, 5), 1, NEAR);
}

TEST(rates_fall_in_a_straight_line)
{
    const aq_run_config config = config_of(1000, 0, 0.2);
    assert_float_equal(aq_learning_rate_share(&config, 0, 70), 1, NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 250, 70), 0.8, NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 500, 70), 0.6, NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 1000, 70), 0.2, NEAR);
}

TEST(rates_never_fall_below_the_end)
{
    const aq_run_config config = config_of(1000, 0, 0);
    assert_float_equal(aq_learning_rate_share(&config, 5000, 0), 0, NEAR);
}

TEST(the_limit_that_is_nearer_counts)
{
    const aq_run_config config = config_of(1000, 400, 0);
    assert_float_equal(aq_learning_rate_share(&config, 500, 100), 0.5, NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 500, 300), 0.25, NEAR);
}

TEST(a_cosine_is_slow_at_both_ends)
{
    aq_run_config config = config_of(1000, 0, 0.2);
    config.learner.learning_rate_schedule = AQ_RATE_COSINE;
    assert_float_equal(aq_learning_rate_share(&config, 0, 70), 1, NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 250, 70), 0.2 + 0.4 * (1 + sqrt(0.5)), NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 500, 70), 0.6, NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 1000, 70), 0.2, NEAR);
}

TEST(rates_warm_up_step_by_step_to_where_the_schedule_is)
{
    aq_run_config config = config_of(1000, 0, 0);
    config.learner.learning_rate_warmup = 10;
    assert_float_equal(aq_learning_rate_share(&config, 0, 0), 0.1, NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 0, 8), 0.9, NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 0, 9), 1, NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 500, 4), 0.25, NEAR);
    assert_float_equal(aq_learning_rate_share(&config, 500, 10), 0.5, NEAR);
}
