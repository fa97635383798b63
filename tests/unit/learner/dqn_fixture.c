/*
 * Small tasks and batches for the tests of DQN.
 */
#include "tests/unit/learner/dqn_fixture.h"
#include "common/base/parse.h"
#include "common/experience/column_catalog.h"
#include "tests/support/test.h"

aq_run_config fixture_config(void)
{
    aq_run_config config = {.learner = {.batch_size = FIXTURE_ROWS,
                                        .learning_rate = 1e-3,
                                        .adam_epsilon = 1e-8,
                                        .huber_delta = 1,
                                        .target_period = 4,
                                        .model_ranks = 1,
                                        .double_q = true}};
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "16,12"), 0);
    return config;
}

aq_schema fixture_schema(uint32_t inputs, uint32_t actions)
{
    float low[AQ_BOUNDS_MAX], high[AQ_BOUNDS_MAX];
    aq_schema schema = {0};
    for (uint32_t i = 0; i < inputs; i++) {
        low[i] = -2;
        high[i] = 2;
    }
    aq_space_init_box(&schema.obs, inputs, low, high);
    aq_space_init_discrete(&schema.action, actions);
    return schema;
}

TEST_ENDING(destroy, aq_batch_destroy);

aq_batch *fixture_remembered(const aq_schema *schema, const char *const *columns, uint32_t state,
                             uint32_t steps, uint32_t rows)
{
    aq_layout layout;
    aq_batch *batch = NULL;
    assert_int_equal(aq_layout_init(schema, 1, steps + 2, &layout, NULL), 0);
    for (const char *const *name = columns; name != NULL && *name != NULL; name++) {
        aq_column column;
        assert_int_equal(aq_column_find(*name, schema, &column), 0);
        if (strcmp(*name, AQ_STATE_COLUMN) == 0) {
            column.bytes = state * (uint32_t)sizeof(float);
        }
        if (column.bytes > 0) {
            assert_int_equal(aq_layout_record(&layout, &column, 1, NULL), 0);
        }
    }
    assert_int_equal(aq_batch_create(&layout, steps, rows, &batch), 0);
    at_end(destroy, batch);
    batch->rows = rows;
    for (uint32_t row = 0; steps > 0 && row < rows; row++) {
        batch->length[row] = steps;
    }
    return batch;
}

aq_batch *fixture_recorded(const aq_schema *schema, const char *const *columns, uint32_t steps,
                           uint32_t rows)
{
    return fixture_remembered(schema, columns, 0, steps, rows);
}

float *fixture_column(aq_batch *batch, const char *name)
{
    uint32_t i = AQ_BATCH_RECORDED;
    while (i < batch->column_count && strcmp(batch->columns[i].is.name, name) != 0) {
        i++;
    }
    assert_true(i < batch->column_count);
    return (float *)(void *)batch->columns[i].bytes;
}

aq_batch *fixture_sequences(const aq_schema *schema, uint32_t steps, uint32_t rows)
{
    return fixture_recorded(schema, NULL, steps, rows);
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

size_t fixture_action(const aq_batch *batch, size_t row)
{
    int32_t action;
    memcpy(&action, batch->action + row * sizeof(action), sizeof(action));
    return (size_t)action;
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

void fixture_show_states(aq_batch *batch, uint32_t states, aq_rng *rng)
{
    const size_t seen = (size_t)batch->rows * (batch->steps + 1);
    memset(batch->obs, 0, seen * batch->obs_bytes);
    for (size_t i = 0; i < seen; i++) {
        fixture_obs(batch)[i * states + aq_rng_below(rng, states)] = 1;
    }
}

void fixture_assert_same(const float *a, const float *b, size_t count)
{
    assert_memory_equal(a, b, count * sizeof(*a));
}
