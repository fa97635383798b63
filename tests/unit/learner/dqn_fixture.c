/*
 * Small tasks and batches for the tests of DQN.
 */
#include <string.h>

#include "common/base/parse.h"
#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"
#include "tests/unit/learner/dqn_fixture.h"

void fixture_config(aq_run_config *ret_config)
{
    memset(ret_config, 0, sizeof(*ret_config));
    assert_int_equal(aq_text_set(ret_config->learner.hidden, AQ_RUN_TEXT_MAX, "16,12"), 0);
    ret_config->learner.batch_size = FIXTURE_ROWS;
    ret_config->learner.learning_rate = 1e-3;
    ret_config->learner.adam_epsilon = 1e-8;
    ret_config->learner.huber_delta = 1;
    ret_config->learner.target_period = 4;
    ret_config->learner.double_q = true;
}

void fixture_schema(uint32_t inputs, uint32_t actions, aq_schema *ret_schema)
{
    float low[AQ_BOUNDS_MAX], high[AQ_BOUNDS_MAX];

    for (uint32_t i = 0; i < inputs; i++) {
        low[i] = -2;
        high[i] = 2;
    }
    memset(ret_schema, 0, sizeof(*ret_schema));
    aq_space_init_box(&ret_schema->obs, inputs, low, high);
    aq_space_init_discrete(&ret_schema->action, actions);
}

aq_agent *fixture_algorithm(const aq_run_config *config, const aq_schema *schema, uint64_t seed)
{
    return agent_of(&aq_dqn_class, config, schema, seed);
}

aq_batch *fixture_sequences(const aq_schema *schema, uint32_t steps, uint32_t rows)
{
    aq_layout layout;
    aq_batch *batch = NULL;

    assert_int_equal(aq_layout_init(schema, 1, steps + 2, &layout, NULL), 0);
    assert_int_equal(aq_batch_create(&layout, steps, rows, &batch), 0);
    batch->rows = rows;
    for (uint32_t row = 0; steps > 0 && row < rows; row++) {
        batch->length[row] = steps;
    }
    return batch;
}

aq_batch *fixture_batch(const aq_schema *schema, uint32_t rows)
{
    return fixture_sequences(schema, 0, rows);
}

float *fixture_obs(aq_batch *batch)
{
    return (float *)(void *)batch->obs;
}

float *fixture_next_obs(aq_batch *batch)
{
    return (float *)(void *)batch->next_obs;
}

void fixture_set_action(aq_batch *batch, uint32_t row, int32_t action)
{
    memcpy(batch->action + row * sizeof(action), &action, sizeof(action));
}

void fixture_randomize(aq_batch *batch, uint32_t actions, aq_rng *rng)
{
    const uint32_t boundaries = batch->steps + aq_batch_has_sequences(batch);
    const size_t width = batch->obs_bytes / sizeof(float);

    for (size_t i = 0; i < batch->rows * boundaries * width; i++) {
        fixture_obs(batch)[i] = (float)aq_rng_range(rng, -1, 1);
        if (batch->next_obs != NULL) {
            fixture_next_obs(batch)[i] = (float)aq_rng_range(rng, -1, 1);
        }
    }
    for (uint32_t i = 0; i < batch->rows * batch->steps; i++) {
        fixture_set_action(batch, i, (int32_t)aq_rng_below(rng, actions));
        batch->reward[i] = (float)aq_rng_range(rng, -1, 1);
        batch->bootstrap[i] = i % 3 == 0 ? 0.0f : 0.97f;
        batch->weight[i / batch->steps] = (float)aq_rng_range(rng, 0.2, 1);
    }
}

void fixture_assert_same(const float *a, const float *b, size_t count)
{
    assert_memory_equal(a, b, count * sizeof(*a));
}
