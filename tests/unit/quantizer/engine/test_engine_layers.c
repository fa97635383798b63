/*
 * The engine's kinds of layers in every format, each against the reference forward pass on what the
 * engine itself feeds it, so that the bound is that of one layer; and bit by bit across the rungs.
 */
#include <stdatomic.h>

#include "common/nn/forward.h"
#include "common/sys/cpu.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"
#include "tests/unit/quantizer/random_policy.h"

enum { ROWS = 3, MANY_ROWS = 11, ROWS_MAX = 130 };

static aq_engine *make_engine(aq_snapshot *snapshot, uint32_t cpu_flags)
{
    return quantizer_fixture_engine(snapshot, ROWS_MAX, cpu_flags);
}

static aq_snapshot *make_policy(enum random_policy_net net, uint32_t format, bool is_static)
{
    const aq_net_spec spec = random_policy_spec(net);
    const random_policy_how how = {.seed = 100u * net + format,
                                   .format = format,
                                   .is_static = is_static,
                                   .head = AQ_HEAD_ARGMAX};
    return random_policy_create(&spec, &how);
}

/* ---- within the bound -----------------------------------------------------------------------
 * A layer of weights w, as they are stored, is given x and takes x' for it. Then
 *   |y' - y| <= sum_i |w_i| |x'_i - x_i| + rounding of the size of (sum_i |w_i x_i| + |b|)
 * which is the same layer with the magnitudes of its weights and biases, so the reference computes
 * it too. The activation functions have slopes of at most 1. */

typedef struct one_layer {
    aq_net_spec spec; /* of that layer alone */
    aq_params params, magnitudes;
    const aq_snapshot_layer *stored;
} one_layer;

static void one_layer_init(const aq_snapshot *snapshot, uint32_t index, one_layer *one)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(&snapshot->spec.layers[index]);
    const size_t weights = (size_t)matrix.rows * matrix.columns;
    memset(one, 0, sizeof(*one));
    one->spec.layer_count = 1;
    one->spec.layers[0] = snapshot->spec.layers[index];
    one->stored = &snapshot->layers[index];
    assert_int_equal(aq_params_init(&one->spec, &one->params), 0);
    assert_int_equal(aq_params_init(&one->spec, &one->magnitudes), 0);
    aq_snapshot_layer_weights(snapshot, index, one->params.weight[0]);
    for (size_t i = 0; i < weights; i++) {
        one->magnitudes.weight[0][i] = fabsf(one->params.weight[0][i]);
    }
    for (size_t o = 0; o < matrix.rows; o++) {
        one->params.bias[0][o] = one->stored->bias[o];
        one->magnitudes.bias[0][o] = fabsf(one->stored->bias[o]);
    }
}

static void one_layer_fini(one_layer *one)
{
    aq_params_fini(&one->params);
    aq_params_fini(&one->magnitudes);
}

/* Half a step of the row's quantization. Values beyond a static range become its ends in x. */
static double half_step(const aq_snapshot_layer *stored, float *x, uint32_t count)
{
    double low = 0.0, high = 0.0;
    if (!aq_format_is_integer(stored->format)) {
        return 0.0;
    }
    if (stored->input_scale > 0.0f) {
        const double s = (double)stored->input_scale;
        for (uint32_t i = 0; i < count; i++) {
            const double bottom = -s * stored->input_zero;
            x[i] = (float)fmin(fmax((double)x[i], bottom), bottom + 255.0 * s);
        }
        return s / 2.0;
    }
    for (uint32_t i = 0; i < count; i++) {
        low = fmin(low, (double)x[i]);
        high = fmax(high, (double)x[i]);
    }
    return (high - low) / 255.0 / 2.0;
}

static void check_weighted_row(one_layer *one, float *x, const float *y)
{
    static float exact[NET_WIDTH_MAX], bound[NET_WIDTH_MAX], error[NET_WIDTH_MAX];
    aq_layer_spec *layer = &one->spec.layers[0];
    const uint32_t activation = layer->activation;
    const double rounding = (aq_layer_matrix(layer).columns + 2.0) * 0x1p-23;
    const double step = half_step(one->stored, x, layer->inputs);
    aq_forward_reference(&one->spec, &one->params, x, 1, NULL, exact);
    for (uint32_t i = 0; i < layer->inputs; i++) {
        error[i] = (float)(step / rounding) + fabsf(x[i]);
    }
    layer->activation = AQ_ACTIVATION_NONE;
    aq_forward_reference(&one->spec, &one->magnitudes, error, 1, NULL, bound);
    layer->activation = activation;
    for (uint32_t o = 0; o < layer->outputs; o++) {
        const double off = fabs((double)y[o] - (double)exact[o]);
        assert_true(off <= 1.001 * rounding * (double)bound[o] + 1e-6 * fabs((double)exact[o]));
        assert_true(rounding * (double)bound[o] < 1.0); /* the bound says something */
    }
}

/* Norm and heads; test_float_passes.c has their bounds to the last digit. */
static void check_float_row(const one_layer *one, const float *x, const float *y)
{
    static float exact[NET_WIDTH_MAX];
    aq_forward_reference(&one->spec, &one->params, x, 1, NULL, exact);
    for (uint32_t o = 0; o < one->spec.layers[0].outputs; o++) {
        assert_true(fabs((double)y[o] - (double)exact[o]) <= 2e-5 * (1.0 + fabs((double)exact[o])));
    }
}

/* No layer alone: it takes two values. */
static void check_added_row(const float *x, uint32_t width, const float *y)
{
    for (uint32_t o = 0; o < width; o++) {
        assert_true(y[o] == x[o] + x[width + o]);
    }
}

static void check_layer(const aq_snapshot *snapshot, uint32_t index, float *x, const float *y,
                        size_t rows)
{
    one_layer one;
    one_layer_init(snapshot, index, &one);
    for (size_t row = 0; row < rows; row++) {
        float *in = x + row * one.spec.layers[0].inputs;
        const float *out = y + row * one.spec.layers[0].outputs;
        if (one.spec.layers[0].kind == AQ_LAYER_ADD) {
            check_added_row(in, one.spec.layers[0].outputs, out);
        } else if (aq_layer_is_quantizable(&one.spec.layers[0])) {
            check_weighted_row(&one, in, out);
        } else {
            check_float_row(&one, in, out);
        }
    }
    one_layer_fini(&one);
}

static float values[AQ_NET_VALUES_MAX][MANY_ROWS * NET_WIDTH_MAX];

/* What a layer takes, side by side. */
static void gather_input(const aq_net_spec *spec, uint32_t index, size_t rows, float *x)
{
    const aq_layer_sources sources = aq_net_sources(spec, index);
    for (size_t row = 0; row < rows; row++) {
        for (uint32_t k = 0; k < sources.count; k++) {
            const size_t width = aq_net_value_width(spec, sources.values[k]);
            memcpy(x, values[sources.values[k]] + row * width, width * sizeof(float));
            x += width;
        }
    }
}

/* Layer by layer, and that all of them are what a forward pass is. */
static void check_snapshot(aq_snapshot *snapshot, size_t rows)
{
    static float x[MANY_ROWS * NET_WIDTH_MAX], y[MANY_ROWS * NET_WIDTH_MAX];
    uint32_t flags[QUANTIZER_RUNGS_MAX];
    const uint32_t rungs = quantizer_fixture_rungs(flags);
    const aq_net_spec *spec = &snapshot->spec;
    float *obs = random_policy_observations(spec, 5, rows);
    for (uint32_t r = 0; r < rungs; r++) {
        aq_engine *engine = make_engine(snapshot, flags[r]);
        memcpy(values[0], obs, rows * sizeof(float) * aq_net_spec_inputs(spec));
        for (uint32_t i = 0; i < spec->layer_count; i++) {
            assert_true(spec->layers[i].outputs <= NET_WIDTH_MAX);
            aq_engine_forward_until(engine, obs, rows, i + 1, values[1 + i]);
            gather_input(spec, i, rows, x);
            check_layer(snapshot, i, x, values[1 + i], rows);
        }
        aq_engine_forward(engine, obs, rows, y);
        assert_memory_equal(y, values[spec->layer_count],
                            rows * sizeof(float) * aq_net_spec_outputs(spec));
    }
}

TEST(every_layer_in_every_format_is_within_its_bound)
{
    for (uint32_t net = 0; net < NET_COUNT; net++) {
        for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
            check_snapshot(make_policy(net, format, false), ROWS);
        }
    }
}

TEST(known_input_scales_are_within_their_bound)
{
    for (uint32_t net = 0; net < NET_COUNT; net++) {
        for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
            if (aq_format_is_integer(format)) {
                check_snapshot(make_policy(net, format, true), ROWS);
            }
        }
    }
}

/* Floats are summed in another order for another number of rows; for integers see below. */
TEST(formats_of_floats_are_within_their_bound_for_any_number_of_rows)
{
    for (uint32_t net = 0; net < NET_COUNT; net++) {
        for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
            for (size_t rows = 1; rows <= MANY_ROWS && !aq_format_is_integer(format); rows++) {
                check_snapshot(make_policy(net, format, false), rows);
            }
        }
    }
}

TEST(layers_of_different_formats_work_together)
{
    const uint32_t hidden[] = {64, 64, 0};
    const aq_quantize_plan plan = {.format = AQ_FORMAT_F32,
                                   .layer_formats = {[1] = AQ_FORMAT_INT8_CHANNEL}};
    quantizer_fixture *fixture = quantizer_fixture_of(4, hidden, 2, AQ_ACTIVATION_RELU);
    aq_snapshot *snapshot = quantizer_fixture_planned(fixture, &plan);
    assert_int_equal(snapshot->layers[1].format, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(snapshot->layers[2].format, AQ_FORMAT_F32);
    check_snapshot(snapshot, MANY_ROWS);
}

/* ---- the same bits -------------------------------------------------------------------------- */

/* Numbers that are none, and numbers at the ends of what there is. */
static void spoil(float *obs, uint32_t inputs, size_t rows)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-40f, -0.0f, 1e30f};
    for (size_t row = 1; row < rows; row += 3) {
        obs[row * inputs + row % inputs] = odd[row / 3 % 8];
    }
    memset(obs + 2 * (size_t)inputs, 0, inputs * sizeof(*obs));
}

static void check_bits(enum random_policy_net net, uint32_t format, bool is_static)
{
    static const size_t more[] = {65, 100, 128, ROWS_MAX};
    const size_t stride = test_rounds(64) == 64 ? 1 : 7; /* which leaves every rest of 8 rows */
    uint32_t flags[QUANTIZER_RUNGS_MAX];
    const uint32_t rungs = quantizer_fixture_rungs(flags);
    aq_snapshot *snapshot = make_policy(net, format, is_static);
    const uint32_t inputs = aq_net_spec_inputs(&snapshot->spec);
    const uint32_t outputs = aq_net_spec_outputs(&snapshot->spec);
    float *obs = random_policy_observations(&snapshot->spec, 6, ROWS_MAX);
    float *expected = quantizer_fixture_floats((size_t)ROWS_MAX * outputs);
    float *out = quantizer_fixture_floats((size_t)ROWS_MAX * outputs);
    aq_engine *scalar = make_engine(snapshot, 0);
    assert_string_equal(aq_engine_rung(scalar), "scalar");
    spoil(obs, inputs, ROWS_MAX);
    for (size_t row = 0; row < ROWS_MAX; row++) {
        aq_engine_forward(scalar, obs + row * inputs, 1, expected + row * outputs);
    }
    for (uint32_t r = 0; r < rungs; r++) {
        aq_engine *engine = make_engine(snapshot, flags[r]);
        for (size_t i = 1; i <= 64 + sizeof(more) / sizeof(more[0]); i += i < 64 ? stride : 1) {
            const size_t rows = i <= 64 ? i : more[i - 65];
            aq_engine_forward(engine, obs, rows, out);
            for (size_t k = 0; k < rows * outputs; k++) {
                assert_true(memcmp(&out[k], &expected[k], sizeof(*out)) == 0 ||
                            (isnan(out[k]) && isnan(expected[k])));
            }
        }
    }
}

TEST(every_format_gives_the_same_bits_for_any_rung_and_number_of_rows)
{
    for (uint32_t net = 0; net < NET_COUNT; net++) {
        for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
            check_bits(net, format, false);
            if (aq_format_is_integer(format)) {
                check_bits(net, format, true);
            }
        }
    }
}

/* ---- convolution ---------------------------------------------------------------------------- */

/* A network of this layer alone. */
static void check_alone(aq_layer_spec layer, uint32_t format)
{
    aq_net_spec spec = {0};
    if (layer.outputs > 0) {
        assert_int_equal(aq_net_spec_add(&spec, &layer, NULL), 0);
        const random_policy_how how = {.seed = 9, .format = format, .head = AQ_HEAD_ARGMAX};
        check_snapshot(random_policy_create(&spec, &how), ROWS);
    }
}

TEST(a_single_output_matches_the_reference)
{
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        check_alone(aq_layer_linear(3, 1, AQ_ACTIVATION_NONE), format);
    }
}

static void check_shape(const aq_conv_shape *shape)
{
    check_alone(aq_layer_conv2d(shape, AQ_ACTIVATION_NONE), AQ_FORMAT_F32);
}

TEST(convolutions_of_every_small_shape_match_the_reference)
{
    for (uint32_t kernel = 1; kernel <= 4; kernel++) {
        for (uint32_t stride = 1; stride <= 3; stride++) {
            for (uint32_t padding = 0; padding < kernel; padding++) {
                for (uint32_t side = 1; side <= 5; side++) {
                    const aq_conv_shape shape = {.height = side,
                                                 .width = 6 - side,
                                                 .channels = 1 + side % 3,
                                                 .filters = 1 + kernel,
                                                 .kernel = kernel,
                                                 .stride = stride,
                                                 .padding = padding};
                    check_shape(&shape);
                }
            }
        }
    }
}

TEST(more_patches_than_a_block_match_the_reference)
{
    const aq_conv_shape shape = {.height = 13,
                                 .width = 14,
                                 .channels = 2,
                                 .filters = 4,
                                 .kernel = 3,
                                 .stride = 1,
                                 .padding = 1};
    check_shape(&shape);
}

/* ---- refusals and failures ------------------------------------------------------------------ */

TEST(a_failed_allocation_leaves_nothing_behind)
{
    static const enum random_policy_net nets[] = {NET_CONV, NET_HEADS, NET_NORM};
    for (size_t i = 0; i < 3; i++) {
        aq_snapshot *snapshot = make_policy(nets[i], AQ_FORMAT_INT8_CHANNEL, false);
        aq_engine *engine = NULL;
        int rc;
        EACH_ALLOCATION_FAILS(rc) {
            rc = aq_engine_create(snapshot, ROWS_MAX, aq_cpu_flags(), &engine, NULL);
            assert_int_equal(atomic_load(&snapshot->references), rc == 0 ? 2 : 1);
        }
        aq_engine_destroy(engine);
    }
}

TEST(a_forward_pass_of_any_kind_allocates_nothing)
{
    for (uint32_t i = 0; i < NET_COUNT * AQ_FORMAT_COUNT; i++) {
        aq_snapshot *snapshot = make_policy(i % NET_COUNT, 1 + i / NET_COUNT, false);
        aq_engine *engine = make_engine(snapshot, aq_cpu_flags());
        float *obs = random_policy_observations(&snapshot->spec, 8, ROWS);
        float *out = quantizer_fixture_floats((size_t)ROWS * aq_net_spec_outputs(&snapshot->spec));
        const uint64_t before = aq_memory_allocation_count();
        aq_engine_forward(engine, obs, ROWS, out);
        assert_int_equal(aq_memory_allocation_count(), before);
    }
}

TEST(a_bad_layer_is_refused_in_words)
{
    aq_snapshot *snapshot = make_policy(NET_CONV, AQ_FORMAT_INT8_TENSOR, true);
    aq_engine *engine = NULL;
    snapshot->layers[1].input_zero = 256;
    assert_refused(aq_engine_create(snapshot, 1, 0, &engine, &refusal), AQ_E_CORRUPT, "layer 1");
    snapshot->layers[1].input_zero = 0;
    snapshot->spec.layers[0].conv.stride++;
    assert_refused(aq_engine_create(snapshot, 1, 0, &engine, &refusal), AQ_E_CORRUPT, "layer 0");
    assert_null(engine);
    assert_int_equal(atomic_load(&snapshot->references), 1);
}
