/*
 * The engine against the reference forward pass: int8 within the bound that its own scales imply,
 * fp32 within rounding, on every rung that this processor has.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/nn/forward.h"
#include "common/sys/cpu.h"
#include "quantizer/engine/engine.h"
#include "quantizer/kernels/qkernels.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"

enum { ROWS_MAX = 11, RUNGS_MAX = 8, WIDTH_MAX = 128 };
static const uint32_t small[] = {64, 64, 0};
static const uint32_t odd[] = {37, 65, 0};

/* Flags that select each rung in turn; returns how many. */
static uint32_t rung_flags(uint32_t flags[RUNGS_MAX])
{
    const aq_qkernels *rung;
    uint32_t count = 0;
    for (uint32_t i = 0; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        if ((rung->cpu_flags & ~aq_cpu_flags()) == 0) {
            assert_true(count < RUNGS_MAX);
            flags[count++] = rung->cpu_flags;
        }
    }
    return count;
}

static void destroy_engine(void *engine)
{
    aq_engine_destroy(engine);
}

static aq_engine *make_engine(aq_snapshot *snapshot, uint32_t cpu_flags)
{
    aq_engine *engine = NULL;
    aq_error error = {0};
    assert_succeeds(aq_engine_create(snapshot, ROWS_MAX, cpu_flags, &engine, &error), &error);
    at_end(destroy_engine, engine);
    return engine;
}

/* --- the bound ---
 * A layer is given x' for x, |x' - x| <= e. It quantizes x' with step s, and its weights w are
 * known within scale / 2. So with |x'| <= |x| + e and every activation function of slope <= 1,
 *   |y' - y| <= sum_i |w_i| (e_i + s/2) + (|x_i| + e_i + s/2) scale / 2
 * and a little for rounding in fp32. */
typedef struct bounded_row {
    double value[WIDTH_MAX];
    double error[WIDTH_MAX];
} bounded_row;

static double activated(uint32_t activation, double value)
{
    switch (activation) {
    case AQ_ACTIVATION_RELU:
        return value > 0.0 ? value : 0.0;
    case AQ_ACTIVATION_TANH:
        return tanh(value);
    case AQ_ACTIVATION_ELU:
        return value > 0.0 ? value : expm1(value);
    default:
        return value;
    }
}

static void bound_layer(const quantizer_fixture *fixture, const aq_snapshot *snapshot, uint32_t i,
                        const bounded_row *x, bounded_row *y)
{
    const aq_layer_spec *layer = &fixture->spec.layers[i];
    double low = 0.0;
    double high = 0.0;
    for (uint32_t k = 0; k < layer->inputs; k++) {
        low = fmin(low, x->value[k] - x->error[k]);
        high = fmax(high, x->value[k] + x->error[k]);
    }
    const double half_step = (high - low) / 255.0 / 2.0;
    for (uint32_t o = 0; o < layer->outputs; o++) {
        const float *w = fixture->params.weight[i] + (size_t)o * layer->inputs;
        const double half_scale = (double)snapshot->layers[i].scale[o] / 2.0;
        double value = fixture->params.bias[i][o];
        double error = 0.0;
        for (uint32_t k = 0; k < layer->inputs; k++) {
            const double magnitude = fabs((double)w[k]);
            value += (double)w[k] * x->value[k];
            error += magnitude * (x->error[k] + half_step) +
                     (fabs(x->value[k]) + x->error[k] + half_step) * half_scale;
        }
        y->value[o] = activated(layer->activation, value);
        y->error[o] = error * 1.001 + 1e-6 * (1.0 + fabs(value));
    }
}

static void assert_within_bound(const quantizer_fixture *fixture, const aq_snapshot *snapshot,
                                const float *obs, const float *out, size_t rows)
{
    static bounded_row x, y;
    const uint32_t inputs = aq_net_spec_inputs(&fixture->spec);
    const uint32_t outputs = aq_net_spec_outputs(&fixture->spec);
    for (size_t row = 0; row < rows; row++) {
        memset(&x, 0, sizeof(x));
        for (uint32_t k = 0; k < inputs; k++) {
            x.value[k] = obs[row * inputs + k];
        }
        for (uint32_t i = 0; i < fixture->spec.layer_count; i++) {
            bound_layer(fixture, snapshot, i, &x, &y);
            x = y;
        }
        for (uint32_t o = 0; o < outputs; o++) {
            assert_true(fabs((double)out[row * outputs + o] - y.value[o]) <= y.error[o]);
            assert_true(y.error[o] < 1.0); /* the bound says something */
        }
    }
}

static void check_int8(uint32_t inputs, const uint32_t *hidden, uint32_t outputs,
                       enum aq_activation activation)
{
    uint32_t flags[RUNGS_MAX];
    quantizer_fixture *fixture = quantizer_fixture_of(inputs, hidden, outputs, activation);
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT8_CHANNEL);
    float *obs = quantizer_fixture_observations(fixture, ROWS_MAX);
    float *out = quantizer_fixture_floats((size_t)ROWS_MAX * outputs);
    const uint32_t rungs = rung_flags(flags);
    for (uint32_t r = 0; r < rungs; r++) {
        aq_engine *engine = make_engine(snapshot, flags[r]);
        for (size_t rows = 1; rows <= ROWS_MAX; rows++) {
            aq_engine_forward(engine, obs, rows, out);
            assert_within_bound(fixture, snapshot, obs, out, rows);
        }
    }
}

TEST(int8_stays_within_the_bound_of_its_scales)
{
    check_int8(4, small, 2, AQ_ACTIVATION_RELU);
    check_int8(17, odd, 5, AQ_ACTIVATION_RELU);
    check_int8(3, NULL, 1, AQ_ACTIVATION_NONE);
}

TEST(int8_stays_within_the_bound_with_tanh_and_elu)
{
    check_int8(17, odd, 5, AQ_ACTIVATION_TANH);
    check_int8(17, odd, 5, AQ_ACTIVATION_ELU);
}

static void check_f32(uint32_t inputs, const uint32_t *hidden, uint32_t outputs,
                      enum aq_activation activation)
{
    uint32_t flags[RUNGS_MAX];
    quantizer_fixture *fixture = quantizer_fixture_of(inputs, hidden, outputs, activation);
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_F32);
    const size_t width = aq_net_spec_width_max(&fixture->spec);
    float *obs = quantizer_fixture_observations(fixture, ROWS_MAX);
    float *out = quantizer_fixture_floats((size_t)ROWS_MAX * outputs);
    float *exact = quantizer_fixture_floats((size_t)ROWS_MAX * outputs);
    float *scratch = quantizer_fixture_floats(2 * ROWS_MAX * width);
    const uint32_t rungs = rung_flags(flags);
    aq_forward_reference(&fixture->spec, &fixture->params, obs, ROWS_MAX, scratch, exact);
    for (uint32_t r = 0; r < rungs; r++) {
        aq_engine *engine = make_engine(snapshot, flags[r]);
        for (size_t rows = 1; rows <= ROWS_MAX; rows++) {
            aq_engine_forward(engine, obs, rows, out);
            for (size_t i = 0; i < rows * outputs; i++) {
                assert_true(fabsf(out[i] - exact[i]) <= 5e-6f);
            }
        }
    }
}

TEST(fp32_matches_the_reference_within_rounding)
{
    check_f32(4, small, 2, AQ_ACTIVATION_RELU);
    check_f32(17, odd, 5, AQ_ACTIVATION_TANH);
    check_f32(17, odd, 5, AQ_ACTIVATION_ELU);
    check_f32(3, NULL, 1, AQ_ACTIVATION_NONE);
}

TEST(every_rung_gives_the_same_bits)
{
    static const enum aq_activation activations[] = {AQ_ACTIVATION_RELU, AQ_ACTIVATION_TANH,
                                                     AQ_ACTIVATION_ELU};
    uint32_t flags[RUNGS_MAX];
    const uint32_t rungs = rung_flags(flags);
    for (int a = 0; a < 3; a++) {
        quantizer_fixture *fixture = quantizer_fixture_of(17, odd, 5, activations[a]);
        aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT8_CHANNEL);
        float *obs = quantizer_fixture_observations(fixture, ROWS_MAX);
        float expected[ROWS_MAX * 5];
        float out[ROWS_MAX * 5];
        obs[20] = NAN;
        aq_engine *scalar = make_engine(snapshot, 0);
        assert_string_equal(aq_engine_rung(scalar), "scalar");
        aq_engine_forward(scalar, obs, ROWS_MAX, expected);
        for (uint32_t r = 0; r < rungs; r++) {
            aq_engine *engine = make_engine(snapshot, flags[r]);
            aq_engine_forward(engine, obs, ROWS_MAX, out);
            assert_memory_equal(out, expected, sizeof(out));
        }
    }
}

/* --- one small int8 policy --- */

typedef struct small_policy {
    quantizer_fixture fixture;
    aq_snapshot *snapshot;
    aq_engine *engine;
    float *obs;
    float out[ROWS_MAX * 2];
} small_policy;

static void small_policy_setup(small_policy *policy)
{
    quantizer_fixture_init(&policy->fixture, 4, small, 2, AQ_ACTIVATION_RELU);
    policy->snapshot = quantizer_fixture_snapshot(&policy->fixture, AQ_FORMAT_INT8_CHANNEL);
    policy->engine = make_engine(policy->snapshot, aq_cpu_flags());
    policy->obs = quantizer_fixture_observations(&policy->fixture, ROWS_MAX);
}

static void small_policy_teardown(small_policy *policy)
{
    quantizer_fixture_fini(&policy->fixture);
}

TEST_IN(small_policy, policy, a_row_does_not_depend_on_the_rows_beside_it)
{
    aq_engine_forward(policy->engine, policy->obs, ROWS_MAX, policy->out);
    for (size_t row = 0; row < ROWS_MAX; row++) {
        float alone[2];
        aq_engine_forward(policy->engine, policy->obs + row * 4, 1, alone);
        assert_memory_equal(alone, policy->out + row * 2, sizeof(alone));
    }
}

TEST_IN(small_policy, policy, a_value_that_is_not_finite_counts_as_zero)
{
    float zero[2];
    policy->obs[2] = 0.0f;
    aq_engine_forward(policy->engine, policy->obs, 1, zero);
    policy->obs[2] = -INFINITY;
    aq_engine_forward(policy->engine, policy->obs, 1, policy->out);
    assert_memory_equal(policy->out, zero, sizeof(zero));
    policy->obs[2] = NAN;
    aq_engine_forward(policy->engine, policy->obs, 1, policy->out);
    assert_memory_equal(policy->out, zero, sizeof(zero));
}

TEST_IN(small_policy, policy, a_forward_pass_allocates_nothing)
{
    const uint64_t before = aq_memory_allocation_count();
    aq_engine_forward(policy->engine, policy->obs, ROWS_MAX, policy->out);
    assert_int_equal(aq_memory_allocation_count(), before);
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
    assert_succeeds(aq_engine_create(policy->snapshot, ROWS_MAX, aq_cpu_flags(), &engine, NULL),
                    NULL);
    assert_int_equal(atomic_load(&policy->snapshot->references), 3);
    assert_ptr_equal(aq_engine_snapshot(engine), policy->snapshot);
    assert_int_equal(aq_engine_rows_max(engine), ROWS_MAX);
    aq_engine_destroy(engine);
    assert_int_equal(atomic_load(&policy->snapshot->references), 2);
    aq_engine_destroy(NULL);
}

TEST_IN(small_policy, policy, layers_of_different_formats_work_together)
{
    const quantizer_fixture *fixture = &policy->fixture;
    const uint32_t formats[] = {AQ_FORMAT_F32, AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_F32};
    aq_snapshot *exact = quantizer_fixture_snapshot(fixture, AQ_FORMAT_F32);
    aq_snapshot *mixed = NULL;
    assert_int_equal(aq_snapshot_create(&fixture->spec, formats, &mixed), 0);
    for (uint32_t i = 0; i < 3; i++) {
        const aq_snapshot *from = formats[i] == AQ_FORMAT_F32 ? exact : policy->snapshot;
        const aq_snapshot_layer *layer = &from->layers[i];
        const size_t outputs = fixture->spec.layers[i].outputs;
        aq_snapshot_layer_data to;
        aq_snapshot_layer_edit(mixed, i, &to);
        memcpy(to.weights, layer->weights, layer->weights_bytes);
        memcpy(to.bias, layer->bias, outputs * sizeof(float));
        if (layer->scale != NULL) {
            memcpy(to.scale, layer->scale, outputs * sizeof(float));
            memcpy(to.sum, layer->sum, outputs * sizeof(int32_t));
        }
    }
    mixed->version = 1;
    mixed->schema = fixture->schema;
    mixed->head = AQ_HEAD_ARGMAX;
    memcpy(mixed->task, "mixed", sizeof("mixed"));
    aq_engine *engine = make_engine(mixed, aq_cpu_flags());
    aq_engine_forward(engine, policy->obs, ROWS_MAX, policy->out);
    assert_within_bound(fixture, policy->snapshot, policy->obs, policy->out, ROWS_MAX);
    aq_snapshot_unref(mixed);
}

/* Refused with `code`; the snapshot is nobody's but the caller's afterwards. */
static void refuse(aq_snapshot *snapshot, int code)
{
    aq_engine *engine = NULL;
    aq_error error = {0};
    assert_refused(aq_engine_create(snapshot, ROWS_MAX, aq_cpu_flags(), &engine, &error), code,
                   &error, "layer 1");
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

    (void)make_engine(snapshot, aq_cpu_flags());
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
