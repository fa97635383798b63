/*
 * An agent takes up what a checkpoint kept, or refuses it in words and stays as it was.
 */
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

typedef struct stand {
    aq_agent *agent;
    aq_named_arrays own, kept; /* kept: a copy */
} stand;

static void stand_setup(stand *all)
{
    aq_run_config config = fixture_config();
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    config.learner.discount = 0.99;
    all->agent = agent_of(&aq_dqn_class, &config, &schema, 1);
    aq_agent_arrays(all->agent, &all->own);
    assert_int_equal(aq_named_arrays_like(&all->own, &all->kept), 0);
    aq_named_arrays_copy(&all->own, &all->kept);
}

static void stand_teardown(stand *all)
{
    aq_named_arrays_fini(&all->kept);
}

static float *kept_values(stand *all, const char *name)
{
    return aq_named_arrays_find(&all->kept, name)->values;
}

TEST_IN(stand, all, what_was_kept_is_taken_up)
{
    kept_values(all, "parameters")[3] = 0.75f;
    kept_values(all, "adam_v")[5] = 0.5f;
    assert_int_equal(aq_agent_restore(all->agent, &all->kept, NULL), 0);
    assert_true(agent_state(all->agent).parameters[3] == 0.75f);
    assert_true(agent_state(all->agent).adam_v[5] == 0.5f);
    assert_true(aq_agent_policy(all->agent)->block[3] == 0.75f);
}

static void check_refused(stand *all, int code, const char *words)
{
    const float before = agent_state(all->agent).parameters[0];
    kept_values(all, "parameters")[0] = before + 1;
    assert_refused(aq_agent_restore(all->agent, &all->kept, &refusal), code, words);
    assert_true(agent_state(all->agent).parameters[0] == before);
}

TEST_IN(stand, all, the_rewards_of_the_rows_are_told)
{
    static const float rewards[] = {1, 1, 0, -2, 0, 0, 0, 1};
    static const float bootstraps[] = {0.9f, 0.5f, 0.9f, 0, 0.9f, 0.9f, 0, 1};
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    const aq_metric_list *metrics = aq_agent_metrics(all->agent);
    const size_t own = aq_dqn_class.metrics.count;
    aq_batch *batch = fixture_batch(&schema, FIXTURE_ROWS);
    aq_rng rng = rng_of(1, 0);
    fixture_randomize(batch, FIXTURE_ACTIONS, &rng);
    memcpy(batch->reward, rewards, sizeof(rewards));
    memcpy(batch->bootstrap, bootstraps, sizeof(bootstraps));
    aq_agent_set_exploration(all->agent, 0.25, 0.1);
    const aq_update_report report = agent_train(all->agent, batch);
    assert_int_equal(metrics->count, own + AQ_AGENT_METRICS);
    assert_string_equal(metrics->rows[0].name, "loss");
    assert_string_equal(metrics->rows[own].name, "reward_size");
    assert_near(report.metrics[own + AQ_AGENT_REWARD_SIZE], 5.0 / 8, 1e-12);
    assert_near(report.metrics[own + AQ_AGENT_REWARDED], 4.0 / 8, 1e-12);
    assert_near(report.metrics[own + AQ_AGENT_ENDED], 2.0 / 8, 1e-12);
    assert_near(report.metrics[own + AQ_AGENT_VALUE_FLOOR], -2, 1e-12);
    assert_near(report.metrics[own + AQ_AGENT_VALUE_CEILING], 10, 1e-5); /* 1 / (1 - 0.9) */
    assert_true(report.metrics[own + AQ_AGENT_EXPLORATION] == 0.25);
}

TEST(without_a_discount_no_end_is_seen)
{
    const aq_run_config config = fixture_config(); /* has none */
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    aq_agent *agent = agent_of(&aq_dqn_class, &config, &schema, 1);
    aq_batch *batch = fixture_batch(&schema, FIXTURE_ROWS);
    aq_rng rng = rng_of(1, 0);
    fixture_randomize(batch, FIXTURE_ACTIONS, &rng);
    const aq_update_report report = agent_train(agent, batch);
    assert_true(isnan(report.metrics[aq_dqn_class.metrics.count + AQ_AGENT_ENDED]));
}

/* Of those that end an episode alone nothing would follow for the others. */
TEST(at_a_discount_of_1_what_comes_for_ever_has_no_bound)
{
    aq_run_config config = fixture_config();
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    config.learner.discount = 1;
    aq_agent *agent = agent_of(&aq_dqn_class, &config, &schema, 1);
    aq_batch *batch = fixture_batch(&schema, FIXTURE_ROWS);
    aq_rng rng = rng_of(1, 0);
    fixture_randomize(batch, FIXTURE_ACTIONS, &rng);
    const aq_update_report report = agent_train(agent, batch);
    const double *own = report.metrics + aq_dqn_class.metrics.count;
    assert_true(own[AQ_AGENT_ENDED] > 0);
    assert_true(isnan(own[AQ_AGENT_VALUE_FLOOR]));
    assert_true(isnan(own[AQ_AGENT_VALUE_CEILING]));
}

TEST_IN(stand, all, numbers_that_can_not_be_are_refused)
{
    kept_values(all, "target")[2] = NAN;
    check_refused(all, AQ_E_CORRUPT, "target: number 2 is NaN");
    kept_values(all, "parameters")[2] = INFINITY; /* it comes first */
    check_refused(all, AQ_E_CORRUPT, "parameters: number 2 is ");
}

TEST_IN(stand, all, what_only_its_owner_knows_can_not_be_negative_is_refused)
{
    kept_values(all, "adam_v")[1] = -1;
    check_refused(all, AQ_E_CORRUPT, "adam_v: number 1 is -1, less than 0");
}

TEST_IN(stand, all, another_networks_arrays_are_refused)
{
    all->kept.arrays[1].count--;
    check_refused(all, AQ_E_INVALID,
                  "the checkpoint is of other networks than these settings make: its array");
}

TEST_IN(stand, all, another_way_with_observations_is_refused)
{
    double statistics[9] = {0};
    aq_named_arrays_add(&all->kept, "statistics", AQ_ARRAY_F64, 9, statistics);
    check_refused(all, AQ_E_INVALID,
                  "the checkpoint was trained with learner.normalize_obs true, the "
                  "configuration says otherwise");
}
