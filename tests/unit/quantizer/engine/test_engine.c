/*
 * One small int8 policy: what the engine takes and refuses, holds and lets go. What it computes is
 * tested layer by layer (test_engine_layers.c).
 */
#include <stdatomic.h>

#include "common/sys/cpu.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"
#include "tests/unit/quantizer/random_policy.h"

enum { ROWS_MAX = 11 };

typedef struct small_policy {
    quantizer_fixture fixture;
    aq_snapshot *snapshot;
    aq_engine *engine;
    float *obs;
    float out[ROWS_MAX * 2];
} small_policy;

static void small_policy_setup(small_policy *policy)
{
    const uint32_t hidden[] = {64, 64, 0};
    quantizer_fixture_init(&policy->fixture, 4, hidden, 2, AQ_ACTIVATION_RELU);
    policy->snapshot = quantizer_fixture_snapshot(&policy->fixture, AQ_FORMAT_INT8_CHANNEL);
    policy->engine = quantizer_fixture_engine(policy->snapshot, ROWS_MAX, aq_cpu_flags());
    policy->obs = quantizer_fixture_observations(&policy->fixture, ROWS_MAX);
}

static void small_policy_teardown(small_policy *policy)
{
    quantizer_fixture_teardown(&policy->fixture);
}

/* Rows of which some numbers are not finite, and the same with zeros there; the last is whole. */
static void check_odd_rows(aq_snapshot *snapshot, uint32_t cpu_flags)
{
    static const float odd[] = {NAN, -INFINITY, INFINITY};
    const aq_net_spec *spec = &snapshot->spec;
    const size_t inputs = aq_net_spec_inputs(spec);
    const size_t outputs_bytes = ROWS_MAX * aq_net_spec_outputs(spec) * sizeof(float);
    float *obs = random_policy_observations(spec, 5, ROWS_MAX);
    float *zero = random_policy_observations(spec, 5, ROWS_MAX);
    float *out = quantizer_fixture_floats(outputs_bytes / sizeof(float));
    float *expected = quantizer_fixture_floats(outputs_bytes / sizeof(float));
    aq_engine *engine = quantizer_fixture_engine(snapshot, ROWS_MAX, cpu_flags);
    for (size_t i = 0; i < (ROWS_MAX - 1) * inputs; i += 3) {
        obs[i] = odd[i / 3 % 3];
        zero[i] = 0.0f;
    }
    aq_engine_forward(engine, zero, ROWS_MAX, expected);
    aq_engine_forward(engine, obs, ROWS_MAX, out);
    assert_memory_equal(out, expected, outputs_bytes);
    assert_true(isnan(obs[0])); /* the caller's are as they were */
}

TEST(a_value_that_is_not_finite_counts_as_zero)
{
    static const struct {
        enum random_policy_net net;
        uint32_t format, last;
    } rows[] = {
        {NET_RELU, AQ_FORMAT_INT8_CHANNEL, 0},
        {NET_RELU, AQ_FORMAT_F32, 0},
        {NET_TANH, AQ_FORMAT_BF16, AQ_FORMAT_INT8_CHANNEL},
        {NET_ELU, AQ_FORMAT_F16, 0},
        {NET_CONV, AQ_FORMAT_F32, 0},
        {NET_SIMBA, AQ_FORMAT_F32, 0},
        {NET_GRU, AQ_FORMAT_BF16, 0},
    };
    uint32_t flags[QUANTIZER_RUNGS_MAX];
    const uint32_t rungs = quantizer_fixture_rungs(flags);
    EACH_ROW(i, rows) {
        const aq_net_spec spec = random_policy_spec(rows[i].net);
        const random_policy_how how = {
            .seed = 9, .format = rows[i].format, .last = rows[i].last, .head = AQ_HEAD_ARGMAX};
        for (uint32_t rung = 0; rung < rungs; rung++) {
            check_odd_rows(random_policy_create(&spec, &how), flags[rung]);
        }
    }
}

TEST_IN(small_policy, policy, no_rows_write_nothing)
{
    policy->out[0] = 42.0f;
    aq_engine_forward(policy->engine, policy->obs, 0, policy->out);
    assert_true(policy->out[0] == 42.0f);
}

TEST_IN(small_policy, policy, the_engine_holds_one_reference_while_it_lives)
{
    aq_engine *engine = NULL;
    assert_int_equal(atomic_load(&policy->snapshot->references), 2);
    assert_succeeds(aq_engine_create(policy->snapshot, ROWS_MAX, aq_cpu_flags(), &engine, NULL));
    assert_int_equal(atomic_load(&policy->snapshot->references), 3);
    assert_ptr_equal(aq_engine_snapshot(engine), policy->snapshot);
    assert_int_equal(aq_engine_rows_max(engine), ROWS_MAX);
    aq_engine_destroy(engine);
    assert_int_equal(atomic_load(&policy->snapshot->references), 2);
    aq_engine_destroy(NULL);
}

/* Refused with `code`; the snapshot is nobody's but the caller's afterwards. */
static void refuse(aq_snapshot *snapshot, int code)
{
    aq_engine *engine = NULL;
    assert_refused(aq_engine_create(snapshot, ROWS_MAX, aq_cpu_flags(), &engine, &refusal), code,
                   "layer 1");
    assert_null(engine);
    assert_int_equal(atomic_load(&snapshot->references), 1);
}

TEST_IN(small_policy, policy, a_bad_snapshot_is_refused)
{
    aq_snapshot_layer_data data;
    aq_snapshot *snapshot = quantizer_fixture_snapshot(&policy->fixture, AQ_FORMAT_INT8_CHANNEL);
    aq_snapshot_layer_edit(snapshot, 1, &data);

    const float bias = data.bias[3];
    data.bias[3] = NAN;
    refuse(snapshot, AQ_E_CORRUPT);
    data.bias[3] = bias;

    const float scale = data.scale[0];
    data.scale[0] = 0.0f;
    refuse(snapshot, AQ_E_CORRUPT);
    data.scale[0] = scale;

    data.sum[5]++;
    refuse(snapshot, AQ_E_CORRUPT);
    data.sum[5]--;

    snapshot->layers[1].format = 77;
    refuse(snapshot, AQ_E_VERSION);
    snapshot->layers[1].format = AQ_FORMAT_INT8_CHANNEL;

    (void)quantizer_fixture_engine(snapshot, ROWS_MAX, aq_cpu_flags());
}

TEST_IN(small_policy, policy, a_number_of_rows_out_of_range_is_refused)
{
    aq_engine *engine = NULL;
    assert_int_equal(aq_engine_create(policy->snapshot, 0, 0, &engine, NULL), AQ_E_INVALID);
    assert_int_equal(
        aq_engine_create(policy->snapshot, (size_t)AQ_ENGINE_ROWS_MAX + 1, 0, &engine, NULL),
        AQ_E_INVALID);
    assert_null(engine);
}

TEST_IN(small_policy, policy, a_failed_allocation_leaves_nothing_behind)
{
    for (int forever = 0; forever < 2; forever++) {
        aq_engine *engine = NULL;
        int rc = AQ_E_NOMEM;
        uint64_t nth = 0;
        while (rc == AQ_E_NOMEM) {
            aq_memory_fail_at(++nth, forever);
            rc = aq_engine_create(policy->snapshot, ROWS_MAX, aq_cpu_flags(), &engine, NULL);
            aq_memory_fail_at(0, 0);
            assert_int_equal(atomic_load(&policy->snapshot->references), rc == 0 ? 3 : 2);
        }
        assert_int_equal(rc, 0);
        assert_int_equal(nth, 1 + 3 + 1 + 1); /* the engine, layers, scratch, and none failing */
        aq_engine_destroy(engine);
    }
}
