/*
 * Which observations of a batch a version is measured on.
 */
#include "learner/train/measured_obs.h"
#include "tests/support/test.h"

enum { INPUTS = 2, ROWS = 4, STEPS = 5 };

/* Each observation is 100 row + step, twice; behind the end of a sequence it is -1. */
typedef struct sequences {
    float obs[ROWS][STEPS + 1][INPUTS];
    uint32_t length[ROWS];
    aq_batch batch;
    aq_measured_obs measured;
} sequences;

static const uint32_t lengths[ROWS] = {1, 5, 0, 4};

static void sequences_setup(sequences *it)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        it->length[row] = lengths[row];
        for (uint32_t step = 0; step <= STEPS; step++) {
            for (uint32_t i = 0; i < INPUTS; i++) {
                it->obs[row][step][i] = step < lengths[row] ? (float)(100 * row + step) : -1.0f;
            }
        }
    }
    it->batch = (aq_batch){.rows = ROWS,
                           .obs_bytes = INPUTS * sizeof(float),
                           .steps = STEPS,
                           .obs = (uint8_t *)it->obs,
                           .length = it->length};
}

static void sequences_teardown(sequences *it)
{
    aq_measured_obs_fini(&it->measured);
}

static aq_net_spec linear_net(void)
{
    aq_net_spec spec = {.layer_count = 1};
    spec.layers[0] = aq_layer_linear(INPUTS, 3, AQ_ACTIVATION_NONE);
    return spec;
}

static aq_net_spec gru_net(void)
{
    aq_net_spec spec = {.layer_count = 2};
    spec.layers[0] = aq_layer_linear(INPUTS, 9, AQ_ACTIVATION_NONE);
    spec.layers[1] = aq_layer_gru(3);
    return spec;
}

static void assert_measured(sequences *it, aq_net_spec spec, uint32_t rows_max, const float *wanted,
                            size_t count)
{
    size_t rows;
    aq_measured_obs_fini(&it->measured);
    assert_int_equal(aq_measured_obs_init(&it->measured, &spec, rows_max), 0);
    const float *obs = aq_measured_obs_of(&it->measured, &it->batch, &rows);
    assert_int_equal(rows, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(obs[i * INPUTS] == wanted[i]);
        assert_true(obs[i * INPUTS + 1] == wanted[i]);
    }
}

TEST_IN(sequences, it, of_sequences_nothing_behind_their_ends_is_measured)
{
    static const float all[] = {0, 100, 101, 102, 103, 104, 300, 301, 302, 303};
    assert_measured(it, linear_net(), 256, all, 10);
    assert_measured(it, linear_net(), 10, all, 10);
}

TEST_IN(sequences, it, of_more_than_there_is_room_for_all_sequences_have_some)
{
    static const float every_second[] = {0, 101, 103, 300, 302};
    static const float every_third[] = {0, 102, 300, 303};
    static const float one[] = {0};
    assert_measured(it, linear_net(), 9, every_second, 5);
    assert_measured(it, linear_net(), 4, every_third, 4);
    assert_measured(it, linear_net(), 1, one, 1);
}

TEST(the_first_few_are_from_all_over)
{
    enum { LONG = 128, TAKEN = 64 };
    static float values[LONG + 1];
    uint32_t length = LONG;
    size_t rows;
    aq_measured_obs measured;
    aq_net_spec spec = {.layer_count = 1};
    spec.layers[0] = aq_layer_linear(1, 3, AQ_ACTIVATION_NONE);
    for (int i = 0; i <= LONG; i++) {
        values[i] = (float)i;
    }
    const aq_batch batch = {.rows = 1,
                            .obs_bytes = sizeof(float),
                            .steps = LONG,
                            .obs = (uint8_t *)values,
                            .length = &length};
    assert_int_equal(aq_measured_obs_init(&measured, &spec, TAKEN), 0);
    const float *obs = aq_measured_obs_of(&measured, &batch, &rows);
    assert_int_equal(rows, TAKEN);
    for (int i = 0; i < TAKEN; i++) {
        assert_true(obs[i] == (float)(i < TAKEN / 2 ? 4 * i : 4 * (i - TAKEN / 2) + 2));
    }
    aq_measured_obs_fini(&measured);
}

TEST_IN(sequences, it, a_policy_with_a_state_sees_one_sequence_from_its_beginning)
{
    static const float longest[] = {100, 101, 102, 103, 104};
    assert_measured(it, gru_net(), 256, longest, 5);
    assert_measured(it, gru_net(), 3, longest, 3);
}

TEST_IN(sequences, it, n_step_items_are_measured_where_they_are)
{
    const aq_net_spec spec = linear_net();
    size_t rows;
    it->batch.length = NULL;
    assert_int_equal(aq_measured_obs_init(&it->measured, &spec, 2), 0);
    assert_ptr_equal(aq_measured_obs_of(&it->measured, &it->batch, &rows), it->obs);
    assert_int_equal(rows, ROWS);
}

/* 255 is 1 to a network. */
TEST(bytes_are_measured_as_the_network_sees_them)
{
    uint8_t bytes[ROWS][INPUTS] = {{0, 255}, {51, 102}, {255, 0}, {1, 2}};
    const aq_net_spec spec = linear_net();
    aq_batch batch = {.rows = ROWS, .obs_bytes = INPUTS, .obs = (uint8_t *)bytes};
    uint32_t length[] = {2}; /* of one sequence, the rows before */
    aq_measured_obs measured;
    size_t rows;
    assert_int_equal(aq_measured_obs_init(&measured, &spec, ROWS - 1), 0);
    for (int as_sequence = 0; as_sequence <= 1; as_sequence++) {
        const float *obs = aq_measured_obs_of(&measured, &batch, &rows);
        assert_int_equal(rows, as_sequence ? length[0] : ROWS - 1);
        for (size_t i = 0; i < rows * INPUTS; i++) {
            assert_true(obs[i] == (float)bytes[i / INPUTS][i % INPUTS] / 255.0f);
        }
        batch.rows = 1;
        batch.steps = ROWS - 1;
        batch.length = length;
    }
    aq_measured_obs_fini(&measured);
}

TEST_IN(sequences, it, where_there_is_nothing_to_measure_there_is_none)
{
    const aq_net_spec spec = linear_net();
    size_t rows;
    assert_int_equal(aq_measured_obs_init(&it->measured, &spec, 0), 0);
    assert_null(aq_measured_obs_of(&it->measured, &it->batch, &rows));
    assert_int_equal(rows, 0);
    memset(it->length, 0, sizeof(it->length));
    assert_measured(it, spec, 16, NULL, 0);
    assert_measured(it, gru_net(), 16, NULL, 0);
}
