/*
 * Policies that keep a state: step by step against the reference, and bit by bit across the rungs.
 */
#include "common/nn/forward.h"
#include "common/sys/cpu.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"
#include "tests/unit/quantizer/random_policy.h"

enum { STEPS = 40, ROWS = 70, STATE = 19 + 8, OUTPUTS = 3, INPUTS = 5 };

static aq_snapshot *make_policy(uint32_t format)
{
    const aq_net_spec spec = random_policy_spec(NET_GRU);
    return random_policy_create(
        &spec, &(random_policy_how){.seed = 3 + format, .format = format, .head = AQ_HEAD_ARGMAX});
}

static aq_engine *make_engine(aq_snapshot *snapshot, uint32_t cpu_flags)
{
    return quantizer_fixture_engine(snapshot, ROWS, cpu_flags);
}

TEST(each_step_goes_on_from_the_state_that_the_one_before_left)
{
    float kept[STATE] = {0}, exact_state[STATE] = {0}, exact[OUTPUTS], scratch[1024];
    aq_params params;
    aq_snapshot *snapshot = make_policy(AQ_FORMAT_F32);
    aq_engine *engine = make_engine(snapshot, aq_cpu_flags());
    const float *obs = random_policy_observations(&snapshot->spec, 7, STEPS);
    assert_int_equal(aq_net_spec_state(&snapshot->spec), STATE);
    assert_true(aq_forward_scratch(&snapshot->spec, 1) <= 1024);
    assert_int_equal(aq_params_init(&snapshot->spec, &params), 0);
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        aq_snapshot_layer_weights(snapshot, i, params.weight[i]);
        memcpy(params.bias[i], snapshot->layers[i].bias,
               aq_layer_matrix(&snapshot->spec.layers[i]).rows * sizeof(float));
    }
    for (size_t step = 0; step < STEPS; step++) {
        const float *out = aq_engine_step(engine, obs + step * INPUTS, kept, 1);
        aq_forward_step(&snapshot->spec, &params, obs + step * INPUTS, exact_state, 1, scratch,
                        exact);
        for (size_t i = 0; i < OUTPUTS; i++) {
            assert_true(fabsf(out[i] - exact[i]) < 1e-5f);
        }
        for (size_t i = 0; i < STATE; i++) {
            assert_true(fabsf(kept[i] - exact_state[i]) < 1e-5f);
        }
    }
    aq_params_fini(&params);
}

TEST(without_a_state_each_row_is_a_first_step)
{
    float kept[2 * STATE] = {0};
    aq_snapshot *snapshot = make_policy(AQ_FORMAT_INT8_CHANNEL);
    aq_engine *engine = make_engine(snapshot, aq_cpu_flags());
    const float *obs = random_policy_observations(&snapshot->spec, 7, 2);
    float first[2 * OUTPUTS], again[2 * OUTPUTS];
    memcpy(first, aq_engine_step(engine, obs, kept, 2), sizeof(first));
    aq_engine_forward(engine, obs, 2, again);
    assert_memory_equal(first, again, sizeof(first));
    aq_engine_forward(engine, obs, 2, again);
    assert_memory_equal(first, again, sizeof(first));
    memcpy(again, aq_engine_step(engine, obs, kept, 2), sizeof(again));
    assert_memory_not_equal(first, again, sizeof(first)); /* it goes on */
}

/* What each row leaves, alone on the scalar rung, is what it leaves among others on any. */
TEST(integers_leave_the_same_state_on_every_rung_and_in_every_row)
{
    uint32_t flags[QUANTIZER_RUNGS_MAX];
    const uint32_t rungs = quantizer_fixture_rungs(flags);
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        if (!aq_format_is_integer(format)) {
            continue;
        }
        aq_snapshot *snapshot = make_policy(format);
        const float *obs = random_policy_observations(&snapshot->spec, 8, ROWS);
        float *expected = quantizer_fixture_floats((size_t)ROWS * STATE);
        aq_engine *scalar = make_engine(snapshot, 0);
        memset(expected, 0, (size_t)ROWS * STATE * sizeof(float));
        for (size_t step = 0; step < 2 * ROWS; step++) {
            const size_t row = step % ROWS;
            (void)aq_engine_step(scalar, obs + row * INPUTS, expected + row * STATE, 1);
        }
        for (uint32_t r = 0; r < rungs; r++) {
            float *kept = quantizer_fixture_floats((size_t)ROWS * STATE);
            aq_engine *engine = make_engine(snapshot, flags[r]);
            memset(kept, 0, (size_t)ROWS * STATE * sizeof(float));
            (void)aq_engine_step(engine, obs, kept, ROWS);
            (void)aq_engine_step(engine, obs, kept, ROWS);
            assert_memory_equal(kept, expected, (size_t)ROWS * STATE * sizeof(float));
        }
    }
}
