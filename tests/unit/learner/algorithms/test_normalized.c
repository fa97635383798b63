/*
 * An algorithm on normalized observations: the same as the algorithm alone on rows that were
 * normalized beforehand, and what a checkpoint needs of it.
 */
#include "common/nn/forward.h"
#include "common/nn/obs_normalizer.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { STEPS = 12 };

typedef struct stand {
    aq_run_config config;
    aq_schema schema;
    aq_agent *algorithm;
    aq_batch *batch;
    aq_rng rng;
} stand;

static stand make(void)
{
    stand all = {.config = fixture_config(),
                 .schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS),
                 .rng = rng_of(3, 0)};
    all.config.learner.normalize_obs = true;
    all.batch = fixture_batch(&all.schema, FIXTURE_ROWS);
    all.algorithm = agent_of(&aq_dqn_class, &all.config, &all.schema, 7);
    return all;
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

static void train(stand *all)
{
    for (int i = 0; i < STEPS; i++) {
        draw(all);
        agent_train(all->algorithm, all->batch);
    }
}

static void normalize(const aq_obs_normalizer *normalizer, float *rows)
{
    aq_obs_normalizer_apply(normalizer, rows, FIXTURE_ROWS, rows);
}

TEST(it_trains_as_on_rows_that_were_normalized_before)
{
    aq_obs_normalizer normalizer;
    stand all = make();
    all.config.learner.normalize_obs = false;
    aq_agent *plain = agent_of(&aq_dqn_class, &all.config, &all.schema, 7);
    assert_int_equal(aq_obs_normalizer_init(&normalizer, FIXTURE_INPUTS), 0);
    for (int i = 0; i < STEPS; i++) {
        draw(&all);
        const aq_update_report a = agent_train(all.algorithm, all.batch);
        assert_succeeds(aq_obs_normalizer_see(&normalizer, fixture_obs(all.batch), FIXTURE_ROWS));
        normalize(&normalizer, fixture_obs(all.batch));
        normalize(&normalizer, fixture_next_obs(all.batch));
        const aq_update_report b = agent_train(plain, all.batch);
        assert_true(a.metrics[METRIC_LOSS] == b.metrics[METRIC_LOSS]);
    }
    const kept_state mine = agent_state(all.algorithm), its = agent_state(plain);
    fixture_assert_same(mine.parameters, its.parameters, its.count);
    assert_int_equal(mine.statistics_count, normalizer.statistics_count);
    assert_memory_equal(mine.statistics, normalizer.statistics,
                        mine.statistics_count * sizeof(double));
    assert_int_equal(its.statistics_count, 0);
    aq_obs_normalizer_fini(&normalizer);
}

TEST(its_policy_is_for_observations_as_they_are)
{
    float seen[FIXTURE_ROWS * FIXTURE_INPUTS], scratch[2 * FIXTURE_ROWS * 16];
    float one[FIXTURE_ROWS * FIXTURE_ACTIONS], other[FIXTURE_ROWS * FIXTURE_ACTIONS];
    aq_obs_normalizer normalizer;
    stand all = make();
    assert_int_equal(aq_obs_normalizer_init(&normalizer, FIXTURE_INPUTS), 0);
    train(&all);
    const aq_net_spec *spec = aq_agent_spec(all.algorithm);
    const kept_state inside = agent_state(all.algorithm);
    memcpy(normalizer.statistics, inside.statistics, inside.statistics_count * sizeof(double));
    aq_obs_normalizer_restored(&normalizer);
    aq_obs_normalizer_apply(&normalizer, fixture_obs(all.batch), FIXTURE_ROWS, seen);
    const aq_params trained = aq_params_view(spec, inside.parameters);
    aq_forward_reference(spec, &trained, seen, FIXTURE_ROWS, scratch, one);
    aq_forward_reference(spec, aq_agent_policy(all.algorithm), fixture_obs(all.batch), FIXTURE_ROWS,
                         scratch, other);
    for (int i = 0; i < FIXTURE_ROWS * FIXTURE_ACTIONS; i++) {
        assert_near(other[i], one[i], 1e-4 * (1 + fabs(one[i])));
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

TEST(a_part_of_the_rows_is_normalized_as_they_are)
{
    static aq_algorithm_class class;
    stand all = make();
    class = aq_dqn_class;
    class.train = train_on_a_part;
    draw(&all);
    agent_train(agent_of(&class, &all.config, &all.schema, 7), all.batch);
}

TEST(what_was_kept_goes_on_to_the_same_bits)
{
    stand all = make();
    train(&all);
    aq_agent *again = agent_of(&aq_dqn_class, &all.config, &all.schema, 8);
    const kept_copy kept = agent_copy(all.algorithm);
    agent_take_up(again, &kept);
    const aq_params *policy = aq_agent_policy(all.algorithm);
    fixture_assert_same(policy->block, aq_agent_policy(again)->block, policy->count);
    draw(&all);
    agent_train(all.algorithm, all.batch);
    agent_train(again, all.batch);
    agent_assert_same(all.algorithm, again);
    policy = aq_agent_policy(all.algorithm);
    fixture_assert_same(policy->block, aq_agent_policy(again)->block, policy->count);
}

TEST(a_row_that_is_not_finite_costs_the_step_and_no_more)
{
    aq_update_report stats;
    stand all = make();
    draw(&all);
    agent_train(all.algorithm, all.batch);
    const kept_state kept = agent_state(all.algorithm);
    const double seen = kept.statistics[0];
    fixture_obs(all.batch)[3] = NAN;
    assert_int_equal(aq_agent_train(all.algorithm, all.batch, &stats), AQ_E_CORRUPT);
    assert_true(kept.statistics[0] == seen);
    fixture_obs(all.batch)[3] = 0;
    agent_train(all.algorithm, all.batch);
}

TEST(a_network_that_begins_with_a_convolution_is_refused_with_what_works)
{
    stand all = make();
    aq_agent *agent;
    all.schema.obs.rank = 2;
    all.schema.obs.shape[1] = 1;
    (void)snprintf(all.config.learner.torso, AQ_RUN_TEXT_MAX, "conv:2x1/1");
    assert_refused(agent_try(&aq_dqn_class, &all.config, &all.schema, 7, &agent, &refusal),
                   AQ_E_UNSUPPORTED, "learner.normalize_obs=false works");
}

TEST(a_network_that_begins_with_a_noisy_layer_is_refused_with_what_works)
{
    stand all = make();
    aq_agent *agent;
    all.config.learner.noisy_deviation = 0.5;
    all.config.learner.noisy = 3; /* all layers */
    assert_refused(agent_try(&aq_dqn_class, &all.config, &all.schema, 7, &agent, &refusal),
                   AQ_E_UNSUPPORTED, "not noisy (fewer layers of learner.noisy)");
    all.config.learner.noisy = 2;
    (void)agent_of(&aq_dqn_class, &all.config, &all.schema, 7);
}

TEST(create_survives_every_failed_allocation)
{
    const stand all = make();
    aq_agent *made;
    assert_made_despite_failures(
        made, agent_try(&aq_dqn_class, &all.config, &all.schema, 7, &made, NULL));
    aq_agent_destroy(made);
    aq_agent_destroy(NULL);
}
