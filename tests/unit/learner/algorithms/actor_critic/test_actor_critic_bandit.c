/*
 * A small problem whose answer is known: one step, an action between -2 and 6, and a reward that is
 * greatest where the action is the observation's sine. From several seeds, every algorithm for
 * continuous actions must find it from actions that were taken at random.
 */
#include "common/base/parse.h"
#include "common/nn/forward.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { ROWS = 64, STEPS = 1500, SEEDS = 3, PROBES = 41 };

static const float LOW = -2.0f, HIGH = 6.0f;

/* What is best to do, within +-1. */
static float best_at(float x)
{
    return 0.8f * sinf(2.0f * x);
}

static aq_schema make_schema(void)
{
    aq_schema schema = {0};
    aq_space_init_box(&schema.obs, 1, (const float[]){-1}, (const float[]){1});
    aq_space_init_box(&schema.action, 1, &LOW, &HIGH);
    return schema;
}

static void fill_batch(aq_batch *batch, aq_rng *rng)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        const float x = (float)aq_rng_range(rng, -1, 1), unit = (float)aq_rng_range(rng, -1, 1);
        const float error = unit - best_at(x);
        ((float *)(void *)batch->obs)[i] = x;
        ((float *)(void *)batch->next_obs)[i] = x; /* where d4pg and ddpg improve their policy */
        ((float *)(void *)batch->action)[i] = LOW + (unit + 1.0f) / 2.0f * (HIGH - LOW);
        batch->reward[i] = -error * error;
        batch->bootstrap[i] = 0.0f;
        batch->weight[i] = 1.0f;
    }
}

/* Mean distance of the policy's action from the best. */
static float distance(aq_agent *algorithm)
{
    float sum = 0.0f, scratch[2 * 64], out[2];
    const bool is_drawn = aq_net_spec_outputs(aq_agent_spec(algorithm)) > 1;
    for (int i = 0; i < PROBES; i++) {
        const float x = -1.0f + 2.0f * (float)i / (PROBES - 1);
        aq_forward_reference(aq_agent_spec(algorithm), aq_agent_policy(algorithm), &x, 1, scratch,
                             out);
        sum += fabsf((is_drawn ? tanhf(out[0]) : out[0]) - best_at(x));
    }
    return sum / PROBES;
}

static void check(enum aq_algorithm which, uint64_t seed)
{
    const aq_algorithm_class *class = aq_algorithm_at(which);
    const aq_schema schema = make_schema();
    aq_run_config config;
    aq_settings_init(aq_run_config_table(), &config);
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "32,32"), 0);
    config.learner.batch_size = ROWS;
    config.learner.learning_rate = 2e-3;
    config.learner.target_period = 100;
    config.learner.value_min = -4;
    config.learner.value_max = 0.5;
    config.learner.temperature = 0.1;
    config.learner.bc_weight = 0.01; /* what was done at random is not to be imitated */
    config.learner.expectile = 0.95;
    config.learner.inverse_temperature = 30;
    config.learner.conservative_weight = 0.02;
    aq_agent *algorithm = agent_of(class, &config, &schema, seed);
    aq_batch *batch = fixture_batch(&schema, ROWS);
    aq_rng rng = rng_of(seed, 1);
    assert_true(distance(algorithm) > 0.3f);
    for (int step = 0; step < STEPS; step++) {
        fill_batch(batch, &rng);
        agent_train(algorithm, batch);
    }
    const float left = distance(algorithm);
    if (!(left < 0.1f)) {
        fail_msg("%s, seed %d: still %g from the best", class->name, (int)seed, (double)left);
    }
}

TEST(each_finds_the_best_actions)
{
    const enum aq_algorithm algorithms[] = {
        AQ_ALGORITHM_D4PG, AQ_ALGORITHM_DDPG,   AQ_ALGORITHM_TD3, AQ_ALGORITHM_SAC,
        AQ_ALGORITHM_DSAC, AQ_ALGORITHM_TD3_BC, AQ_ALGORITHM_IQL, AQ_ALGORITHM_CQL};
    EACH_ROW(i, algorithms) {
        for (uint64_t seed = 1; seed <= test_rounds(SEEDS); seed++) {
            check(algorithms[i], seed);
        }
    }
}

/* The middle of the range is far from what anything is worth. */
TEST(values_of_distributions_that_draw_begin_near_zero)
{
    const aq_schema schema = make_schema();
    aq_run_config config;
    aq_settings_init(aq_run_config_table(), &config);
    config.learner.batch_size = ROWS;
    config.learner.value_min = -20;
    config.learner.value_max = 200;
    aq_agent *agent = agent_of(aq_algorithm_at(AQ_ALGORITHM_DSAC), &config, &schema, 1);
    aq_batch *batch = fixture_batch(&schema, ROWS);
    aq_rng rng = rng_of(1, 1);
    fill_batch(batch, &rng);
    const aq_update_report report = agent_train(agent, batch);
    assert_near(report.metrics[AQ_VALUE_LEAST], 0, 5);
    assert_near(report.metrics[AQ_VALUE_GREATEST], 0, 5);
}
