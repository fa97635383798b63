/*
 * What changes over a run, at its beginning, on its way and at its end.
 */
#include "common/config/annealing.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

static aq_run_config config_of(double exponent, double end)
{
    aq_run_config config = config_defaults();
    config.limits.env_steps = 1000;
    config.limits.learner_steps = 200;
    config.learner.importance_exponent = exponent;
    config.learner.importance_end = end;
    return config;
}

TEST(a_run_is_as_near_its_end_as_the_limit_that_is_nearer)
{
    aq_run_config config = config_of(0.4, 0);
    assert_near(aq_run_done(&config, 250, 20), 0.25, 1e-12);
    assert_near(aq_run_done(&config, 250, 100), 0.5, 1e-12);
    assert_near(aq_run_done(&config, 9999, 100), 1, 1e-12);
    config.limits.learner_steps = 0;
    assert_near(aq_run_done(&config, 250, 100), 0.25, 1e-12);
}

TEST(importance_goes_to_its_end_in_a_straight_line)
{
    static const struct {
        double exponent, end, at_first, half_way, at_last;
    } cases[] = {
        {0.4, 0, 0.4, 0.4, 0.4}, {0.4, 1, 0.4, 0.7, 1}, {1, 0.5, 1, 0.75, 0.5},
        {0, 1, 0, 0.5, 1},       {0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const aq_run_config config = config_of(cases[i].exponent, cases[i].end);
        const double most = aq_importance_exponent_max(&config);
        assert_near(most * aq_importance_share(&config, 0, 0), cases[i].at_first, 1e-12);
        assert_near(most * aq_importance_share(&config, 500, 0), cases[i].half_way, 1e-12);
        assert_near(most * aq_importance_share(&config, 500, 999), cases[i].at_last, 1e-12);
    }
}
