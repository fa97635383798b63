/*
 * Every format: what is stored stands for the weights it was made of, and what cannot be stored is
 * refused.
 */
#include <float.h>

#include "common/policy/half.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"

/* Odd sizes: a convolution with 27 columns, a linear layer of 3 groups of which the last is short,
 * a norm, and one more that ends within a group, a block and a byte. */
enum { CONV, WIDE, NORM, LAST, LAYERS };
enum { FILTERS = 18, HIDDEN = 33, OUTPUTS = 5 };

static void quantizer_fixture_setup(quantizer_fixture *fixture)
{
    const aq_conv_shape conv = {
        .height = 5, .width = 5, .channels = 3, .filters = FILTERS, .kernel = 3, .stride = 1};
    const aq_layer_spec layers[] = {
        [CONV] = aq_layer_conv2d(&conv, AQ_ACTIVATION_RELU),
        [WIDE] = aq_layer_linear(3 * 3 * FILTERS, HIDDEN, AQ_ACTIVATION_NONE),
        [NORM] = aq_layer_norm(HIDDEN, AQ_ACTIVATION_ELU),
        [LAST] = aq_layer_linear(HIDDEN, OUTPUTS, AQ_ACTIVATION_NONE),
    };
    aq_net_spec spec = net_of(layers);
    quantizer_fixture_init_spec(fixture, &spec);
}

static aq_layer_matrix_shape matrix_of(const quantizer_fixture *fixture, uint32_t layer)
{
    return aq_layer_matrix(&fixture->spec.layers[layer]);
}

/* What the levels of a layer stand for; aq_free. */
static float *weights_of(const aq_snapshot *snapshot, uint32_t layer)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(&snapshot->spec.layers[layer]);
    float *weights = quantizer_fixture_floats((size_t)matrix.rows * matrix.columns);
    aq_snapshot_layer_weights(snapshot, layer, weights);
    return weights;
}

static bool is_kept(const aq_snapshot_layer *layer, uint32_t row, uint32_t column, uint32_t columns)
{
    return layer->format != AQ_FORMAT_INT8_SPARSE ||
           aq_block_is_stored(layer->mask + row / AQ_BLOCK_ROWS * aq_block_mask_row_bytes(columns),
                              column / AQ_BLOCK_COLUMNS);
}

static float scale_at(const aq_snapshot_layer *layer, uint32_t row, uint32_t column,
                      uint32_t columns)
{
    switch (layer->format) {
    case AQ_FORMAT_INT8_TENSOR:
        return layer->scale[0];
    case AQ_FORMAT_INT4:
    case AQ_FORMAT_INT2:
        return layer->scale[row * aq_format_groups(columns) + column / AQ_FORMAT_GROUP];
    default:
        return layer->scale[row];
    }
}

static void assert_weight_is_near(const aq_snapshot_layer *layer, float weight, float stored,
                                  uint32_t row, uint32_t column, uint32_t columns)
{
    switch (layer->format) {
    case AQ_FORMAT_F32:
        assert_true(stored == weight);
        return;
    case AQ_FORMAT_F16:
        assert_true(stored == aq_f16_to_f32(aq_f16_from_f32(weight)));
        return;
    case AQ_FORMAT_BF16:
        assert_true(stored == aq_bf16_to_f32(aq_bf16_from_f32(weight)));
        return;
    default:
        break;
    }
    if (!is_kept(layer, row, column, columns)) {
        assert_true(stored == 0.0f);
        return;
    }
    const double scale = (double)scale_at(layer, row, column, columns);
    assert_true(fabs((double)weight - (double)stored) <= scale * 0.5 * (1.0 + 128 * FLT_EPSILON));
}

static void assert_layers_are_near(const quantizer_fixture *fixture, const aq_snapshot *snapshot)
{
    for (uint32_t i = 0; i < fixture->spec.layer_count; i++) {
        const aq_layer_matrix_shape matrix = matrix_of(fixture, i);
        float *stored = weights_of(snapshot, i);
        for (uint32_t row = 0; row < matrix.rows; row++) {
            for (uint32_t column = 0; column < matrix.columns; column++) {
                const size_t at = (size_t)row * matrix.columns + column;
                assert_weight_is_near(&snapshot->layers[i], fixture->params.weight[i][at],
                                      stored[at], row, column, matrix.columns);
            }
        }
    }
}

TEST_IN(quantizer_fixture, fixture, every_weight_is_within_half_a_step_in_every_format)
{
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        for (int i = 0; i < 20; i++) {
            aq_params_randomize(&fixture->spec, &fixture->params, &fixture->rng);
            aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, format);
            assert_int_equal(aq_snapshot_validate(snapshot, NULL), 0);
            assert_int_equal(snapshot->layers[WIDE].format, format);
            assert_layers_are_near(fixture, snapshot);
        }
    }
}

TEST_IN(quantizer_fixture, fixture, fewer_bits_mean_fewer_levels)
{
    const uint32_t formats[] = {AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_INT8_TENSOR};
    for (uint32_t bits = 2; bits <= 8; bits++) {
        for (int i = 0; i < 2; i++) {
            const aq_quantize_plan plan = {.format = formats[i], .bits = bits};
            aq_snapshot *snapshot = quantizer_fixture_planned(fixture, &plan);
            const int8_t *q = snapshot->layers[WIDE].weights;
            int greatest = 0;
            for (size_t k = 0; k < snapshot->layers[WIDE].sizes.weights_bytes; k++) {
                greatest = abs(q[k]) > greatest ? abs(q[k]) : greatest;
            }
            assert_int_equal(greatest, (1 << (bits - 1)) - 1);
            assert_layers_are_near(fixture, snapshot);
        }
    }
}

TEST_IN(quantizer_fixture, fixture, what_is_no_matrix_of_weights_stays_fp32)
{
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, format);
        assert_int_equal(snapshot->layers[NORM].format, AQ_FORMAT_F32);
        for (uint32_t i = 0; i < LAYERS; i++) {
            assert_memory_equal(snapshot->layers[i].bias, fixture->params.bias[i],
                                matrix_of(fixture, i).rows * sizeof(float));
        }
    }
}

TEST_IN(quantizer_fixture, fixture, each_layer_may_have_its_own_format)
{
    const aq_quantize_plan plan = {
        .format = AQ_FORMAT_INT4,
        .layer_formats = {[CONV] = AQ_FORMAT_BF16, [NORM] = AQ_FORMAT_F32, [LAST] = AQ_FORMAT_F32}};
    aq_snapshot *snapshot = quantizer_fixture_planned(fixture, &plan);
    assert_int_equal(snapshot->layers[CONV].format, AQ_FORMAT_BF16);
    assert_int_equal(snapshot->layers[WIDE].format, AQ_FORMAT_INT4);
    assert_int_equal(snapshot->layers[LAST].format, AQ_FORMAT_F32);
    assert_layers_are_near(fixture, snapshot);
}

TEST(heads_have_no_parameters_in_any_format)
{
    const aq_head_shape head = {.choices = 3, .atoms = 5, .low = -1.0f, .high = 1.0f};
    const aq_layer_spec layers[] = {aq_layer_linear(7, 4 * 5, AQ_ACTIVATION_NONE),
                                    aq_layer_dueling(3, 5), aq_layer_categorical(&head)};
    aq_net_spec spec = net_of(layers);
    quantizer_fixture *fixture = quantizer_fixture_of_spec(&spec);
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, format);
        assert_int_equal(snapshot->layers[0].format, format);
        assert_int_equal(snapshot->layers[1].format, AQ_FORMAT_F32);
        assert_int_equal(snapshot->layers[2].sizes.weights_bytes, 0);
    }
}

/* ---- groups --------------------------------------------------------------------------------- */

TEST_IN(quantizer_fixture, fixture, a_group_has_its_own_scale)
{
    const uint32_t columns = matrix_of(fixture, WIDE).columns;
    float *row = fixture->params.weight[WIDE] + (size_t)2 * columns;
    row[63] = -1.75f;
    row[64] = 35.0f;
    row[columns - 1] = 3.5f;
    for (uint32_t bits = 2; bits <= 4; bits += 2) {
        aq_snapshot *snapshot =
            quantizer_fixture_snapshot(fixture, bits == 4 ? AQ_FORMAT_INT4 : AQ_FORMAT_INT2);
        const float *scale = snapshot->layers[WIDE].scale + (size_t)2 * 3;
        const float greatest = bits == 4 ? 7.0f : 1.0f;
        assert_true(scale[0] == 1.75f / greatest);
        assert_true(scale[1] == 35.0f / greatest);
        assert_true(scale[2] == 3.5f / greatest);
    }
}

TEST_IN(quantizer_fixture, fixture, a_group_of_zeros_has_scale_1)
{
    const uint32_t formats[] = {AQ_FORMAT_INT4, AQ_FORMAT_INT2};
    const uint32_t columns = matrix_of(fixture, WIDE).columns;
    memset(fixture->params.weight[WIDE], 0, AQ_FORMAT_GROUP * sizeof(float));
    for (uint32_t i = 0; i < AQ_FORMAT_GROUP; i++) { /* another one, too small for a scale */
        fixture->params.weight[WIDE][columns + i] = FLT_MIN / 2.0f;
    }
    for (int i = 0; i < 2; i++) {
        aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, formats[i]);
        float *stored = weights_of(snapshot, WIDE);
        assert_true(snapshot->layers[WIDE].scale[0] == 1.0f);
        assert_true(snapshot->layers[WIDE].scale[3] == 1.0f);
        for (uint32_t k = 0; k < AQ_FORMAT_GROUP; k++) {
            assert_true(stored[k] == 0.0f);
            assert_true(stored[columns + k] == 0.0f);
        }
    }
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void refuse(const quantizer_fixture *fixture, const aq_quantize_plan *plan, int code,
                   const char *words)
{
    aq_snapshot *snapshot = NULL;
    assert_refused(
        aq_quantize(&fixture->spec, &fixture->params, plan, &fixture->meta, &snapshot, &refusal),
        code, words);
    assert_null(snapshot);
}

static void assert_format_refused(const quantizer_fixture *fixture, uint32_t format,
                                  const char *words)
{
    refuse(fixture, &(aq_quantize_plan){.format = format}, AQ_E_CORRUPT, words);
}

TEST_IN(quantizer_fixture, fixture, numbers_that_are_none_are_refused_in_every_format)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        for (int i = 0; i < 3; i++) {
            const float weight = fixture->params.weight[CONV][2 * 27 + 3];
            fixture->params.weight[CONV][2 * 27 + 3] = bad[i];
            assert_format_refused(fixture, format, "layer 0, row 2: a weight is NaN or infinite");
            fixture->params.weight[CONV][2 * 27 + 3] = weight;
            const float bias = fixture->params.bias[NORM][32];
            fixture->params.bias[NORM][32] = bad[i];
            assert_format_refused(fixture, format, "layer 2, row 32: a bias is NaN or infinite");
            fixture->params.bias[NORM][32] = bias;
        }
    }
}

TEST_IN(quantizer_fixture, fixture, a_channel_of_int8_that_is_zero_is_refused)
{
    memset(fixture->params.weight[CONV] + (size_t)17 * 27, 0, 27 * sizeof(float));
    assert_format_refused(fixture, AQ_FORMAT_INT8_CHANNEL,
                          "layer 0, row 17: all its weights are zero");
    fixture->params.weight[CONV][17 * 27 + 5] = 100.0f * FLT_MIN;
    assert_format_refused(fixture, AQ_FORMAT_INT8_CHANNEL,
                          "layer 0, row 17: its weights are too small for a scale");
}

TEST_IN(quantizer_fixture, fixture, a_layer_of_one_scale_that_is_zero_is_refused)
{
    const aq_quantize_plan paper = {.format = AQ_FORMAT_INT8_TENSOR, .paper = true};
    memset(fixture->params.weight[LAST], 0, (size_t)HIDDEN * OUTPUTS * sizeof(float));
    assert_format_refused(fixture, AQ_FORMAT_INT8_TENSOR, "layer 3: its weights, from 0 to 0");
    refuse(fixture, &paper, AQ_E_CORRUPT, "layer 3: its weights, from 0 to 0");
    fixture->params.weight[LAST][40] = -FLT_MIN;
    assert_format_refused(fixture, AQ_FORMAT_INT8_TENSOR, "layer 3: its weights, from -1.1");
    refuse(fixture, &paper, AQ_E_CORRUPT, "layer 3: its weights, from -1.1");
}

TEST_IN(quantizer_fixture, fixture, a_weight_beyond_the_largest_half_is_refused)
{
    const uint32_t columns = matrix_of(fixture, WIDE).columns;
    float *weight = &fixture->params.weight[WIDE][32 * columns + 7];
    *weight = 65519.0f;
    (void)quantizer_fixture_snapshot(fixture, AQ_FORMAT_F16);
    *weight = -65520.0f;
    assert_format_refused(fixture, AQ_FORMAT_F16,
                          "layer 1, row 32: a weight of -65520 is more than fp16 can hold");
    (void)quantizer_fixture_snapshot(fixture, AQ_FORMAT_BF16);
    *weight = FLT_MAX;
    assert_format_refused(fixture, AQ_FORMAT_BF16,
                          "layer 1, row 32: a weight of 3.40282e+38 is more than bf16 can hold");
}

TEST_IN(quantizer_fixture, fixture, a_plan_that_cannot_be_is_refused)
{
    const uint32_t format = AQ_FORMAT_INT8_SPARSE;
    aq_quantize_plan plan = {.format = format, .bits = 1};
    refuse(fixture, &plan, AQ_E_INVALID, "levels of 1 bits; 2 to 8");
    plan = (aq_quantize_plan){.format = format, .bits = 9};
    refuse(fixture, &plan, AQ_E_INVALID, "levels of 9 bits; 2 to 8");
    plan = (aq_quantize_plan){.format = format, .density = -0.1f};
    refuse(fixture, &plan, AQ_E_INVALID, "a density of -0.1");
    plan = (aq_quantize_plan){.format = format, .density = 1.5f};
    refuse(fixture, &plan, AQ_E_INVALID, "a density of 1.5");
    plan = (aq_quantize_plan){.format = format, .density = NAN};
    refuse(fixture, &plan, AQ_E_INVALID, "a density of");
    plan = (aq_quantize_plan){.format = format, .layer_formats = {[WIDE] = 99}};
    refuse(fixture, &plan, AQ_E_UNSUPPORTED, "layer 1: format 99 is not known");
    plan = (aq_quantize_plan){.format = format, .layer_formats = {[NORM] = AQ_FORMAT_INT4}};
    refuse(fixture, &plan, AQ_E_INVALID, "layer 2: a norm layer cannot be int4");
    plan = (aq_quantize_plan){.format = AQ_FORMAT_COUNT + 1};
    refuse(fixture, &plan, AQ_E_UNSUPPORTED, "format 9 is not known");
}

TEST_IN(quantizer_fixture, fixture, a_failed_allocation_is_an_error_in_every_format)
{
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        const aq_quantize_plan plan = {.format = format};
        aq_snapshot *snapshot = NULL;
        int rc;
        EACH_ALLOCATION_FAILS(rc) {
            assert_null(snapshot);
            rc = aq_quantize(&fixture->spec, &fixture->params, &plan, &fixture->meta, &snapshot,
                             &refusal);
            assert_int_equal(refusal.code, rc);
        }
        aq_snapshot_unref(snapshot);
    }
}
