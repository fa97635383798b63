/*
 * R2D2: what was seen once is remembered; gradients are those of its loss; a sequence that ends
 * while it is burned in teaches nothing. That whole updates are right, with states that are burned
 * in, is in test_golden_steps.c.
 *
 * The problem: the first observation of an episode is -1 or 1, and the others are 0. From the
 * second step on the right choice is that of the first observation's sign.
 */
#include "common/base/parse.h"
#include "common/experience/column_catalog.h"
#include "common/nn/forward.h"
#include "common/nn/obs_normalizer.h"
#include "common/policy/head.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { ROWS = 16, STEPS = 5, WIDTH = 6, CHOICES = 2, SCRATCH = 1024, STEP_VALUES = ROWS * STEPS };

extern const aq_algorithm_class aq_r2d2_class;

typedef struct stand {
    aq_run_config config;
    aq_schema schema;
    aq_agent *agent;
    aq_batch *batch;
    aq_rng rng;
} stand;

static void stand_setup(stand *s)
{
    s->rng = rng_of(5, 0);
    aq_settings_init(aq_run_config_table(), &s->config);
    assert_int_equal(aq_text_set(s->config.learner.hidden, AQ_RUN_TEXT_MAX, "8"), 0);
    assert_int_equal(aq_text_set(s->config.learner.torso, AQ_RUN_TEXT_MAX, "gru:6"), 0);
    s->config.learner.activation = 1; /* tanh, of the table's choices */
    s->config.learner.batch_size = ROWS;
    s->config.learner.learning_rate = 0.01;
    s->config.learner.target_period = 20;
    s->config.learner.burn_in = 1;
    s->config.replay.sequence_length = STEPS;
    s->config.replay.sequence_period = STEPS;
    s->schema = fixture_schema(1, CHOICES);
    s->agent = agent_of(&aq_r2d2_class, &s->config, &s->schema, 7);
    s->batch = fixture_remembered(&s->schema, aq_r2d2_class.needs.columns, WIDTH, STEPS, ROWS);
}

static void stand_teardown(stand *s)
{
    (void)s; /* the kits end their own */
}

/* Whole episodes, of choices by chance. */
static void fill(stand *s)
{
    fixture_randomize(s->batch, CHOICES, &s->rng);
    memset(fixture_column(s->batch, AQ_STATE_COLUMN), 0,
           (size_t)ROWS * (STEPS + 1) * WIDTH * sizeof(float));
    for (uint32_t i = 0; i < STEP_VALUES; i++) {
        const uint32_t row = i / STEPS, t = i % STEPS;
        float *obs = fixture_obs(s->batch) + (size_t)row * (STEPS + 1);
        int32_t action;
        memcpy(&action, s->batch->action + i * sizeof(action), sizeof(action));
        s->batch->length[row] = 2 + row % (STEPS - 1);
        obs[0] = t == 0 ? (aq_rng_below(&s->rng, 2) == 1 ? 1.0f : -1.0f) : obs[0];
        obs[t + 1] = 0;
        s->batch->reward[i] = t > 0 && action == (obs[0] > 0) ? 1.0f : 0.0f;
        s->batch->bootstrap[i] = t + 1 == s->batch->length[row] ? 0.0f : 0.5f;
    }
}

static void fill_states(stand *s, float value)
{
    float *states = fixture_column(s->batch, AQ_STATE_COLUMN);
    for (size_t i = 0; i < (size_t)ROWS * (STEPS + 1) * WIDTH; i++) {
        states[i] = value;
    }
}

TEST_IN(stand, s, what_was_seen_once_is_remembered)
{
    const float signs[] = {-1, 1};
    for (int i = 0; i < 250; i++) {
        fill(s);
        assert_int_equal(agent_train(s->agent, s->batch).steps, 1);
    }
    EACH_ROW(i, signs) {
        float state[WIDTH] = {0}, scratch[SCRATCH], q[CHOICES];
        assert_true(aq_forward_scratch(aq_agent_spec(s->agent), 1) <= SCRATCH);
        for (uint32_t t = 0; t < STEPS; t++) {
            const float obs = t == 0 ? signs[i] : 0;
            aq_forward_step(aq_agent_spec(s->agent), aq_agent_policy(s->agent), &obs, state, 1,
                            scratch, q);
            assert_true(t == 0 || aq_argmax(q, CHOICES) == i);
        }
    }
}

TEST_IN(stand, s, rewards_beyond_an_end_are_not_told)
{
    fill(s);
    for (uint32_t i = 0; i < STEP_VALUES; i++) {
        s->batch->reward[i] = i % STEPS < s->batch->length[i / STEPS] ? 2.0f : 1e6f;
    }
    const aq_update_report report = agent_train(s->agent, s->batch);
    const double *own = report.metrics + aq_r2d2_class.metrics.count;
    assert_near(own[AQ_AGENT_REWARD_SIZE], 2, 1e-12);
    assert_near(own[AQ_AGENT_REWARDED], 1, 1e-12);
}

/* By what was seen before; the observation that a sequence ends with is seen by nobody. */
TEST_IN(stand, s, sequences_are_normalized_up_to_their_ends)
{
    aq_obs_normalizer normalizer;
    float first[ROWS * (STEPS + 1)];
    s->config.learner.normalize_obs = true;
    aq_agent *normalized = agent_of(&aq_r2d2_class, &s->config, &s->schema, 7);
    assert_int_equal(aq_obs_normalizer_init(&normalizer, 1), 0);
    for (int step = 0; step < 4; step++) {
        fill(s);
        float *obs = fixture_obs(s->batch);
        for (uint32_t row = 0; row < ROWS; row++) {
            obs[row * (STEPS + 1) + s->batch->length[row]] = 9.0f;
            s->batch->bootstrap[row * STEPS + s->batch->length[row] - 1] = 0.5f; /* cut off */
        }
        const aq_update_report its = agent_train(normalized, s->batch);
        memcpy(first, obs, sizeof(first));
        for (uint32_t row = 0; row < ROWS; row++) {
            float *own = obs + row * (STEPS + 1);
            aq_obs_normalizer_apply(&normalizer, own, s->batch->length[row] + 1, own);
        }
        assert_true(agent_train(s->agent, s->batch).metrics[METRIC_LOSS] ==
                    its.metrics[METRIC_LOSS]);
        for (uint32_t row = 0; row < ROWS; row++) {
            assert_succeeds(aq_obs_normalizer_see(&normalizer, first + row * (STEPS + 1),
                                                  s->batch->length[row]));
        }
    }
    aq_obs_normalizer_fini(&normalizer);
}

/* After one step of Adam m is a tenth of the gradient. */
TEST_IN(stand, s, its_gradients_are_those_of_its_loss)
{
    fill(s);
    s->config.learner.gradient_clip = 0;
    s->config.learner.double_q = false;
    s->config.learner.rescale_values = true;
    aq_agent *agent = agent_of(&aq_r2d2_class, &s->config, &s->schema, 7);
    const kept_copy before = agent_copy(agent);
    const kept_state kept = agent_state(agent);
    agent_train(agent, s->batch);
    float *m = aq_alloc(kept.count, sizeof(*m));
    double greatest = 0;
    assert_non_null(m);
    at_end(aq_free, m);
    memcpy(m, kept.adam_m, kept.count * sizeof(*m));
    for (size_t i = 0; i < kept.count; i++) {
        greatest = fmax(greatest, fabs((double)m[i]) * 10);
    }
    for (size_t i = 0; i < kept.count; i += 3) {
        double loss[2];
        for (int side = 0; side < 2; side++) {
            agent_take_up(agent, &before);
            kept.parameters[i] += side == 0 ? 5e-3f : -5e-3f;
            loss[side] = agent_train(agent, s->batch).metrics[METRIC_LOSS];
        }
        assert_true(fabs((loss[0] - loss[1]) / 1e-2 - 10 * (double)m[i]) < 3e-3 * greatest);
    }
}

TEST_IN(stand, s, a_sequence_that_ends_while_it_is_burned_in_teaches_nothing)
{
    const kept_copy before = agent_copy(s->agent);
    fill(s);
    fill_states(s, 0.1f);
    for (uint32_t row = 0; row < ROWS; row++) {
        s->batch->length[row] = 1;
        s->batch->priority[row] = 1;
    }
    const aq_update_report untold = agent_train(s->agent, s->batch);
    assert_int_equal(untold.steps, 0);
    for (int i = 0; i < AQ_VALUE_METRICS; i++) {
        assert_true(isnan(untold.metrics[i]));
    }
    assert_float_equal(s->batch->priority[3], 0, 0);
    agent_assert_as(s->agent, &before);
    s->batch->length[3] = 2;
    assert_int_equal(agent_train(s->agent, s->batch).steps, 1);
    assert_true(s->batch->priority[3] > 0 && !(s->batch->priority[4] > 0));
}

TEST_IN(stand, s, a_restored_one_goes_on_with_the_same_bits)
{
    aq_agent *other = agent_of(&aq_r2d2_class, &s->config, &s->schema, 8);
    for (int i = 0; i < 6; i++) {
        fill(s);
        fill_states(s, (float)(i % 2)); /* burned in or not */
        agent_train(s->agent, s->batch);
        if (i == 2) {
            const kept_copy copy = agent_copy(s->agent);
            agent_take_up(other, &copy);
        } else if (i > 2) {
            agent_train(other, s->batch);
        }
    }
    agent_assert_same(s->agent, other);
}

TEST_IN(stand, s, what_it_cannot_learn_from_changes_nothing)
{
    const int32_t wrong[] = {-1, CHOICES, INT32_MIN, INT32_MAX};
    const kept_copy before = agent_copy(s->agent);
    aq_update_report report;
    EACH_ROW(i, wrong) {
        fill(s);
        fixture_set_action(s->batch, 0, wrong[i]);
        assert_int_equal(aq_agent_train(s->agent, s->batch, &report), AQ_E_CORRUPT);
    }
    fill(s);
    s->batch->reward[0] = NAN;
    assert_int_equal(aq_agent_train(s->agent, s->batch, &report), AQ_E_CORRUPT);
    agent_assert_as(s->agent, &before);
}

TEST_IN(stand, s, what_it_does_not_do_is_refused_in_words)
{
    aq_agent *agent = NULL;
    s->config.learner.burn_in = STEPS;
    assert_refused(agent_try(&aq_r2d2_class, &s->config, &s->schema, 1, &agent, &refusal),
                   AQ_E_INVALID, "learner.burn_in is 5, which leaves nothing to learn");
    s->config.learner.qat_bits = 8;
    assert_refused(agent_try(&aq_r2d2_class, &s->config, &s->schema, 1, &agent, &refusal),
                   AQ_E_UNSUPPORTED, "qat_bits=0");
}

TEST_IN(stand, s, create_survives_the_failure_of_each_allocation)
{
    aq_agent *agent;
    assert_made_despite_failures(
        agent, agent_try(&aq_r2d2_class, &s->config, &s->schema, 1, &agent, NULL));
    aq_agent_destroy(agent);
}
