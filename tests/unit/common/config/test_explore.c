/*
 * The exploration ladder against numbers worked out by hand.
 */
#include "common/config/explore.h"
#include "common/policy/exploration.h"
#include "tests/support/test.h"

static aq_run_config ladder(uint64_t actors, uint64_t envs, double base, double alpha)
{
    return (aq_run_config){
        .actor = {.count = actors, .envs = envs, .epsilon_base = base, .epsilon_alpha = alpha}};
}

static void near(double value, double expected)
{
    assert_true(fabs(value - expected) <= 1e-12 * fmax(1.0, fabs(expected)));
}

TEST(the_first_rung_is_the_base_and_the_last_its_highest_power)
{
    aq_run_config config = ladder(2, 8, 0.4, 7.0);
    near(aq_explore_rate(&config, 0, 0), 0.4);
    near(aq_explore_rate(&config, 1, 7), pow(0.4, 8.0)); /* 0.00065536 */
    near(aq_explore_rate(&config, 1, 7), 0.00065536);
}

TEST(rungs_are_dealt_to_actors_in_turn)
{
    aq_run_config config = ladder(2, 2, 0.5, 3.0); /* rungs 0 to 3: powers 1, 2, 3, 4 */
    near(aq_explore_rate(&config, 0, 0), 0.5);
    near(aq_explore_rate(&config, 1, 0), 0.25);
    near(aq_explore_rate(&config, 0, 1), 0.125);
    near(aq_explore_rate(&config, 1, 1), 0.0625);
}

TEST(a_single_environment_explores_at_the_base)
{
    aq_run_config config = ladder(1, 1, 0.3, 7.0);
    near(aq_explore_rate(&config, 0, 0), 0.3);
}

TEST(actors_too_many_stand_between_the_rungs)
{
    enum { ACTORS = 16, ENVS = 2 };
    aq_run_config config = ladder(2, ENVS, 0.5, 3.0);
    double rates[ACTORS * ENVS];
    for (uint32_t i = 0; i < ACTORS * ENVS; i++) {
        rates[i] = aq_explore_rate(&config, i / ENVS, i % ENVS);
        assert_true(rates[i] <= 0.5 && rates[i] >= 0.0625);
        for (uint32_t k = 0; k < i; k++) {
            assert_true(fabs(rates[k] - rates[i]) > 1e-6);
        }
    }
    near(aq_explore_rate(&config, 2, 0), pow(0.5, 1.0 + 3.0 * 0.5 / 4.0));
}

TEST(no_exploration_and_nothing_but_exploration_are_possible)
{
    aq_run_config none = ladder(2, 2, 0.0, 7.0);
    aq_run_config all = ladder(2, 2, 1.0, 7.0);
    near(aq_explore_rate(&none, 1, 1), 0.0);
    near(aq_explore_rate(&all, 1, 1), 1.0);
}

TEST(alpha_zero_makes_all_equal)
{
    aq_run_config config = ladder(4, 4, 0.4, 0.0);
    near(aq_explore_rate(&config, 3, 3), 0.4);
}

TEST(constant_noise_is_the_same_everywhere)
{
    aq_run_config config = ladder(4, 2, 0.4, 7.0);
    config.actor.noise = 0.2;
    config.actor.noise_ladder = AQ_NOISE_CONSTANT;
    for (uint32_t slot = 0; slot < 4; slot++) {
        near(aq_explore_noise(&config, slot, slot % 2), 0.2);
    }
}

TEST(uniform_noise_rises_in_even_steps_from_none_to_all)
{
    aq_run_config config = ladder(5, 1, 0.4, 7.0);
    config.actor.noise = 0.2;
    config.actor.noise_ladder = AQ_NOISE_UNIFORM;
    for (uint32_t slot = 0; slot < 5; slot++) {
        near(aq_explore_noise(&config, slot, 0), 0.05 * slot);
    }
    near(aq_explore_noise(&config, 6, 0), 0.2 * 1.5 / 5.0); /* one too many stands between two */
}

TEST(a_single_environment_has_all_of_the_noise)
{
    aq_run_config config = ladder(1, 1, 0.4, 7.0);
    config.actor.noise = 0.2;
    config.actor.noise_ladder = AQ_NOISE_UNIFORM;
    near(aq_explore_noise(&config, 0, 0), 0.2);
}

/* ---- entropy -------------------------------------------------------------------------------- */

TEST(the_entropy_of_a_way_to_explore_is_that_of_its_distribution)
{
    static const struct {
        uint32_t choices, elements; /* one of them */
        double epsilon, sigma, entropy;
    } ways[] = {
        {4, 0, 0.0, 9.0, 0.0},
        {4, 0, 1.0, 9.0, 1.3862943611198906},  /* ln 4 */
        {2, 0, 0.5, 9.0, 0.5623351446188083},  /* of 3/4 and 1/4 */
        {0, 1, 0.9, 1.0, 1.4189385332046727},  /* ln(2 pi e) / 2 */
        {0, 3, 0.9, 0.2, -0.5714981376882829}, /* 3 times that less ln 5 */
    };
    EACH_ROW(i, ways) {
        aq_space space;
        aq_space_init_discrete(&space, ways[i].choices);
        if (ways[i].elements > 0) {
            space = (aq_space){.kind = AQ_SPACE_BOX,
                               .dtype = AQ_DTYPE_F32,
                               .rank = 1,
                               .shape = {ways[i].elements}};
        }
        const aq_exploration how = {ways[i].epsilon, ways[i].sigma};
        near(aq_exploration_entropy(&space, &how), ways[i].entropy);
    }
}

TEST(actors_act_at_random_as_often_as_the_mean_of_their_rates)
{
    aq_run_config config = ladder(2, 2, 0.5, 3.0); /* 1/2, 1/4, 1/8, 1/16 */
    near(aq_explore_mean_rate(&config), 0.234375);
    config = ladder(1, 1, 0.5, 3.0);
    near(aq_explore_mean_rate(&config), 0.5);
    config = ladder(100000, 4096, 0.1, 0.0);
    near(aq_explore_mean_rate(&config), 0.1);
}

TEST(the_entropy_of_all_is_the_mean_of_those_that_explore)
{
    aq_space choices, box = {.kind = AQ_SPACE_BOX, .rank = 1, .shape = {2}};
    aq_space_init_discrete(&choices, 3);
    const aq_exploration first = {0.5, 0.2}, last = {0.25, 0.1};
    aq_run_config config = ladder(2, 1, 0.5, 1.0); /* rates 1/2 and 1/4 */
    near(aq_explore_entropy(&config, 1.0, &choices),
         0.5 *
             (aq_exploration_entropy(&choices, &first) + aq_exploration_entropy(&choices, &last)));
    config.actor.count = 3; /* noise 0, 0.1 and 0.2 */
    config.actor.noise = 0.2;
    config.actor.noise_ladder = AQ_NOISE_UNIFORM;
    near(aq_explore_entropy(&config, 1.0, &box),
         0.5 * (aq_exploration_entropy(&box, &first) + aq_exploration_entropy(&box, &last)));
    near(aq_explore_entropy(&config, 0.5, &box), /* half of the noise: ln 2 less for each of two */
         aq_explore_entropy(&config, 1.0, &box) - 2 * log(2.0));
    config.actor.noise = 0.0;
    assert_true(isnan(aq_explore_entropy(&config, 1.0, &box)));
    config.actor.noise = 0.2;
    config.learner.algorithm = AQ_ALGORITHM_SAC; /* explores by what it draws */
    assert_true(isnan(aq_explore_entropy(&config, 1.0, &box)));
    config = ladder(100000, 4096, 0.5, 0.0); /* in no time */
    near(aq_explore_entropy(&config, 1.0, &choices), aq_exploration_entropy(&choices, &first));
}

TEST(exploration_falls_to_its_end_in_a_straight_line)
{
    static const struct {
        uint64_t steps, learner_step;
        double end, share;
    } rows[] = {{0, 0, 1, 1},         {0, 70, 1, 1},         {100, 0, 0.2, 1}, {100, 50, 0.2, 0.6},
                {100, 100, 0.2, 0.2}, {100, 1000, 0.2, 0.2}, {0, 0, 0.3, 0.3}};
    EACH_ROW(i, rows) {
        aq_run_config config = ladder(2, 1, 0.5, 1.0);
        config.actor.explore_steps = rows[i].steps;
        config.actor.explore_end = rows[i].end;
        near(aq_explore_share(&config, rows[i].learner_step), rows[i].share);
    }
    aq_space choices;
    aq_space_init_discrete(&choices, 3);
    const aq_run_config whole = ladder(1, 1, 0.5, 1.0), half = ladder(1, 1, 0.25, 1.0);
    near(aq_explore_entropy(&whole, 0.5, &choices), aq_explore_entropy(&half, 1.0, &choices));
}
