/*
 * An algorithm on normalized observations: the same as the algorithm alone on rows that were
 * normalized beforehand, and what a checkpoint needs of it.
 */
#include <math.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/nn/forward.h"
#include "learner/nn/obs_normalizer.h"
#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { STEPS = 12 };

typedef struct stand {
    aq_run_config config;
    aq_schema schema;
    aq_agent *algorithm;
    aq_batch *batch;
    aq_rng rng;
} stand;

static void stand_setup(stand *all)
{
    fixture_config(&all->config);
    fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS, &all->schema);
    all->config.learner.normalize_obs = true;
    aq_rng_init(&all->rng, 3, 0);
    all->batch = fixture_batch(&all->schema, FIXTURE_ROWS);
    assert_int_equal(agent_try(&aq_dqn_class, &all->config, &all->schema, 7, &all->algorithm, NULL),
                     0);
}

static void stand_teardown(stand *all)
{
    aq_agent_destroy(all->algorithm);
    aq_batch_destroy(all->batch);
}

/* Rows of sizes from hundredths to hundreds. */
static void draw(stand *all)
{
    fixture_randomize(all->batch, FIXTURE_ACTIONS, &all->rng);
    for (int i = 0; i < FIXTURE_ROWS * FIXTURE_INPUTS; i++) {
        const float size = powf(10.0f, (float)(i % FIXTURE_INPUTS) - 2.0f);
        fixture_obs(all->batch)[i] = size * (fixture_obs(all->batch)[i] + 2.0f);
        fixture_next_obs(all->batch)[i] = size * (fixture_next_obs(all->batch)[i] + 2.0f);
    }
}

static void normalize(const aq_obs_normalizer *normalizer, float *rows)
{
    aq_obs_normalizer_apply(normalizer, rows, FIXTURE_ROWS, rows);
}

TEST_IN(stand, all, it_trains_as_on_rows_that_were_normalized_before)
{
    all->config.learner.normalize_obs = false;
    aq_agent *plain = fixture_algorithm(&all->config, &all->schema, 7);
    aq_obs_normalizer normalizer;
    kept_state mine, its;
    assert_int_equal(aq_obs_normalizer_init(&normalizer, FIXTURE_INPUTS), 0);
    for (int i = 0; i < STEPS; i++) {
        aq_update_report a, b;
        draw(all);
        assert_int_equal(aq_agent_train(all->algorithm, all->batch, &a), 0);
        assert_int_equal(aq_obs_normalizer_see(&normalizer, fixture_obs(all->batch), FIXTURE_ROWS),
                         0);
        normalize(&normalizer, fixture_obs(all->batch));
        normalize(&normalizer, fixture_next_obs(all->batch));
        assert_int_equal(aq_agent_train(plain, all->batch, &b), 0);
        assert_true(a.metrics[METRIC_LOSS] == b.metrics[METRIC_LOSS]);
    }
    mine = agent_state(all->algorithm);
    its = agent_state(plain);
    fixture_assert_same(mine.parameters, its.parameters, its.count);
    assert_int_equal(mine.statistics_count, normalizer.statistics_count);
    assert_memory_equal(mine.statistics, normalizer.statistics,
                        mine.statistics_count * sizeof(double));
    assert_int_equal(its.statistics_count, 0);
    aq_obs_normalizer_fini(&normalizer);
    aq_agent_destroy(plain);
}

TEST_IN(stand, all, its_policy_is_for_observations_as_they_are)
{
    float seen[FIXTURE_ROWS * FIXTURE_INPUTS], scratch[2 * FIXTURE_ROWS * 16];
    float one[FIXTURE_ROWS * FIXTURE_ACTIONS], other[FIXTURE_ROWS * FIXTURE_ACTIONS];
    aq_obs_normalizer normalizer;
    kept_state inside;
    assert_int_equal(aq_obs_normalizer_init(&normalizer, FIXTURE_INPUTS), 0);
    for (int i = 0; i < STEPS; i++) {
        aq_update_report stats;
        draw(all);
        assert_int_equal(aq_agent_train(all->algorithm, all->batch, &stats), 0);
    }
    const aq_net_spec *spec = aq_agent_spec(all->algorithm);
    inside = agent_state(all->algorithm);
    memcpy(normalizer.statistics, inside.statistics, inside.statistics_count * sizeof(double));
    aq_obs_normalizer_restored(&normalizer);
    aq_obs_normalizer_apply(&normalizer, fixture_obs(all->batch), FIXTURE_ROWS, seen);
    const aq_params trained = aq_params_view(spec, inside.parameters);
    aq_forward_reference(spec, &trained, seen, FIXTURE_ROWS, scratch, one);
    aq_forward_reference(spec, aq_agent_policy(all->algorithm), fixture_obs(all->batch),
                         FIXTURE_ROWS, scratch, other);
    for (int i = 0; i < FIXTURE_ROWS * FIXTURE_ACTIONS; i++) {
        assert_true(fabsf(one[i] - other[i]) <= 1e-4f * (1 + fabsf(one[i])));
    }
    aq_obs_normalizer_fini(&normalizer);
}

/* One that trains on parts of its rows. */
static int train_on_a_part(aq_algorithm *algorithm, const aq_batch *rows, aq_update_report *report)
{
    const aq_batch part = aq_batch_slice(rows, 2, 1);
    assert_ptr_equal(part.obs, rows->obs + 2 * (size_t)rows->obs_bytes);
    assert_ptr_equal(part.next_obs, rows->next_obs + 2 * (size_t)rows->obs_bytes);
    return aq_dqn_class.train(algorithm, rows, report);
}

TEST_IN(stand, all, a_part_of_the_rows_is_normalized_as_they_are)
{
    aq_algorithm_class class = aq_dqn_class;
    aq_agent *agent = NULL;
    aq_update_report report;
    class.train = train_on_a_part;
    assert_int_equal(agent_try(&class, &all->config, &all->schema, 7, &agent, NULL), 0);
    draw(all);
    assert_int_equal(aq_agent_train(agent, all->batch, &report), 0);
    aq_agent_destroy(agent);
}

TEST_IN(stand, all, what_was_kept_goes_on_to_the_same_bits)
{
    aq_agent *again = NULL;
    kept_state from, to;
    aq_update_report a, b;
    for (int i = 0; i < STEPS; i++) {
        draw(all);
        assert_int_equal(aq_agent_train(all->algorithm, all->batch, &a), 0);
    }
    assert_int_equal(agent_try(&aq_dqn_class, &all->config, &all->schema, 8, &again, NULL), 0);
    from = agent_state(all->algorithm);
    to = agent_state(again);
    memcpy(to.parameters, from.parameters, from.count * sizeof(float));
    memcpy(to.target, from.target, from.count * sizeof(float));
    memcpy(to.adam_m, from.adam_m, from.count * sizeof(float));
    memcpy(to.adam_v, from.adam_v, from.count * sizeof(float));
    memcpy(to.statistics, from.statistics, from.statistics_count * sizeof(double));
    agent_resume_at(again, from.adam_step);
    draw(all);
    assert_int_equal(aq_agent_train(all->algorithm, all->batch, &a), 0);
    assert_int_equal(aq_agent_train(again, all->batch, &b), 0);
    from = agent_state(all->algorithm);
    to = agent_state(again);
    fixture_assert_same(from.parameters, to.parameters, from.count);
    const aq_params *one = aq_agent_policy(all->algorithm);
    const aq_params *other = aq_agent_policy(again);
    fixture_assert_same(one->block, other->block, one->count);
    aq_agent_destroy(again);
}

TEST_IN(stand, all, a_row_that_is_not_finite_costs_the_step_and_no_more)
{
    kept_state state_of;
    aq_update_report stats;
    draw(all);
    assert_int_equal(aq_agent_train(all->algorithm, all->batch, &stats), 0);
    state_of = agent_state(all->algorithm);
    const double seen = state_of.statistics[0];
    fixture_obs(all->batch)[3] = NAN;
    assert_int_equal(aq_agent_train(all->algorithm, all->batch, &stats), AQ_E_CORRUPT);
    assert_true(state_of.statistics[0] == seen);
    fixture_obs(all->batch)[3] = 0;
    assert_int_equal(aq_agent_train(all->algorithm, all->batch, &stats), 0);
}

TEST_IN(stand, all, observations_in_bytes_are_refused)
{
    aq_error error = {0};
    aq_agent *none = NULL;
    all->schema.obs.dtype = AQ_DTYPE_U8;
    all->schema.obs.low[0] = 0;
    all->schema.obs.high[0] = 255;
    all->schema.obs.bound_count = 1;
    assert_refused(agent_try(&aq_dqn_class, &all->config, &all->schema, 7, &none, &error),
                   AQ_E_UNSUPPORTED, &error, "normalize_obs");
    assert_null(none);
}

TEST_IN(stand, all, sequences_are_refused)
{
    aq_error error = {0};
    aq_agent *none = NULL;
    all->config.replay.sequence_length = 8;
    assert_refused(agent_try(&aq_dqn_class, &all->config, &all->schema, 7, &none, &error),
                   AQ_E_UNSUPPORTED, &error,
                   "learner.normalize_obs is for algorithms that learn from n-step items");
}

TEST_IN(stand, all, create_survives_every_failed_allocation)
{
    aq_agent *made = NULL;
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        rc = agent_try(&aq_dqn_class, &all->config, &all->schema, 7, &made, NULL);
        assert_true(rc == 0 || made == NULL);
    }
    aq_agent_destroy(made);
}

TEST(destroy_takes_null)
{
    aq_agent_destroy(NULL);
}
