/*
 * Layers of every format against their equations, in numbers small enough to write out, on every
 * rung: what a bit of the weights stands for, before kernels are compared with one another.
 */
#include "common/sys/cpu.h"
#include "quantizer/engine/packed_layer.h"
#include "quantizer/kernels/qkernels.h"
#include "tests/support/test.h"

enum { ROOM = 2 * AQ_QKERNEL_Q_PADDING, OUTPUTS_MAX = 32 };

/* Packs and runs one row on every rung that this processor has, and expects these results. */
static void expect(const aq_layer_spec *spec, const aq_snapshot_layer *layer,
                   const aq_kernel_input *input, const float *expected)
{
    const aq_qkernels *rung;
    for (uint32_t i = 0; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        aq_packed_layer packed;
        float y[OUTPUTS_MAX];
        if ((rung->cpu_flags & ~aq_cpu_flags()) != 0) {
            continue;
        }
        assert_int_equal(aq_packed_layer_init(rung, spec, layer, 1, &packed), 0);
        aq_qkernels_linear(rung, layer->format)->run(&packed, input, y, OUTPUTS_MAX);
        for (uint32_t o = 0; o < spec->outputs; o++) {
            assert_true(y[o] == expected[o]);
        }
        aq_packed_layer_fini(&packed);
    }
}

static void expect_of_floats(uint32_t format, const void *weights, uint32_t inputs,
                             uint32_t outputs, const float *x, const float *expected)
{
    const float bias[] = {1.0f, -1.0f};
    const aq_layer_spec spec = aq_layer_linear(inputs, outputs, AQ_ACTIVATION_NONE);
    const aq_snapshot_layer layer = {
        .format = format,
        .weights = weights,
        .bias = bias,
        .sizes = aq_format_sizes(format, outputs, inputs, 0),
    };
    const aq_kernel_input input = {.x = x, .x_stride = inputs, .rows = 1};
    expect(&spec, &layer, &input, expected);
}

TEST(fp16_weights_are_ieee_halves)
{
    /* 1, -2, 65504, the least subnormal (2^-24) */
    const uint16_t weights[] = {0x3C00, 0xC000, 0x7BFF, 0x0001, 0, 0, 0, 0x8001};
    const float x[] = {3.0f, 4.0f, 0.5f, 0x1p24f};
    const float expected[] = {3.0f - 8.0f + 32752.0f + 1.0f + 1.0f, -2.0f};
    expect_of_floats(AQ_FORMAT_F16, weights, 4, 2, x, expected);
}

TEST(bf16_weights_are_the_upper_halves_of_floats)
{
    /* 1, -3, 2^-126, 2^127 */
    const uint16_t weights[] = {0x3F80, 0xC040, 0x0080, 0, 0, 0, 0, 0x7F00};
    const float x[] = {3.0f, 4.0f, 0x1p126f, 0x1p-126f};
    const float expected[] = {3.0f - 12.0f + 1.0f + 1.0f, 2.0f - 1.0f};
    expect_of_floats(AQ_FORMAT_BF16, weights, 4, 2, x, expected);
}

/* One output whose row is `weights`, with groups of scale 1 and 16, against q - 5 at scale 2. */
static void expect_of_groups(uint32_t format, const uint8_t *weights, uint32_t inputs,
                             const uint8_t *q, float expected)
{
    const float scale[] = {1.0f, 16.0f};
    const float bias[] = {0.5f};
    const aq_row_quant quant = {.scale = 2.0f, .zero_point = 5};
    const aq_layer_spec spec = aq_layer_linear(inputs, 1, AQ_ACTIVATION_NONE);
    const aq_snapshot_layer layer = {
        .format = format,
        .weights = weights,
        .scale = scale,
        .bias = bias,
        .sizes = aq_format_sizes(format, 1, inputs, 0),
    };
    const aq_kernel_input input = {.q = q, .q_stride = ROOM, .quant = &quant, .rows = 1};
    expect(&spec, &layer, &input, &expected);
}

TEST(an_int4_byte_has_its_first_level_in_the_lower_half)
{
    const uint8_t weights[] = {0x92, 0x07}; /* 2, -7, 7 */
    const uint8_t q[ROOM] = {6, 15, 105};
    expect_of_groups(AQ_FORMAT_INT4, weights, 3, q, 2.0f * (2 * 1 - 7 * 10 + 7 * 100) + 0.5f);
}

TEST(an_int2_byte_has_its_first_level_lowest)
{
    const uint8_t weights[] = {0x4D, 0x03}; /* 1, -1, 0, 1; -1 */
    const uint8_t q[ROOM] = {6, 15, 105, 205, 255};
    expect_of_groups(AQ_FORMAT_INT2, weights, 5, q, 2.0f * (1 - 10 + 200 - 250) + 0.5f);
}

TEST(the_second_group_has_its_own_scale)
{
    uint8_t weights[33] = {0};
    uint8_t q[ROOM] = {0};
    weights[31] = 0x10; /* the last level of the first group: 1 */
    weights[32] = 0x23; /* the first two of the second: 3, 2 */
    q[63] = 105;
    q[64] = 6;
    q[65] = 15;
    expect_of_groups(AQ_FORMAT_INT4, weights, 66, q,
                     2.0f * (100.0f + 16.0f * (3 * 1 + 2 * 10)) + 0.5f);
}

TEST(what_lies_past_the_last_input_does_not_count)
{
    const uint8_t weights[] = {0x01};
    uint8_t q[ROOM];
    memset(q, 255, sizeof(q));
    q[0] = 6;
    expect_of_groups(AQ_FORMAT_INT4, weights, 1, q, 2.0f + 0.5f);
    expect_of_groups(AQ_FORMAT_INT2, weights, 1, q, 2.0f + 0.5f);
}

TEST(a_sparse_block_is_four_inputs_of_sixteen_outputs)
{
    enum { INPUTS = 9, OUTPUTS = 18, BLOCKS = 2 };
    /* Of three blocks a row, the second of the first row and the third of the second. */
    const uint8_t mask[] = {0x02, 0x04};
    int8_t weights[BLOCKS * AQ_BLOCK_BYTES] = {0};
    float scale[OUTPUTS];
    int32_t sum[OUTPUTS] = {0};
    float bias[OUTPUTS] = {0.0f};
    float expected[OUTPUTS] = {0.0f};
    uint8_t q[ROOM] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const aq_row_quant quant = {.scale = 2.0f, .zero_point = 1, .offset = 100};
    weights[3 * AQ_BLOCK_COLUMNS + 1] = 10; /* output 3, input 5 */
    sum[3] = 10;
    weights[AQ_BLOCK_BYTES + 1 * AQ_BLOCK_COLUMNS] = -20; /* output 17, input 8 */
    sum[17] = -20;
    bias[17] = 7.0f;
    for (uint32_t o = 0; o < OUTPUTS; o++) {
        scale[o] = 0.5f;
        expected[o] = 100.0f;
    }
    expected[3] = 10.0f * (6 - 1) + 100.0f;
    expected[17] = -20.0f * (9 - 1) + 100.0f + 7.0f;

    const aq_layer_spec spec = aq_layer_linear(INPUTS, OUTPUTS, AQ_ACTIVATION_NONE);
    const aq_snapshot_layer layer = {
        .format = AQ_FORMAT_INT8_SPARSE,
        .weights = weights,
        .scale = scale,
        .sum = sum,
        .mask = mask,
        .bias = bias,
        .sizes = aq_format_sizes(AQ_FORMAT_INT8_SPARSE, OUTPUTS, INPUTS, BLOCKS),
    };
    const aq_kernel_input input = {.q = q, .q_stride = ROOM, .quant = &quant, .rows = 1};
    expect(&spec, &layer, &input, expected);
}

/* The largest sums of a group and of the whole: all inputs 255, all levels 7. */
TEST(the_longest_row_of_groups_is_exact_on_any_rung)
{
    const uint32_t inputs = AQ_QKERNEL_INPUTS_MAX;
    const uint32_t groups = aq_format_groups(inputs);
    uint8_t *weights = aq_alloc(1, inputs / 2);
    uint8_t *q = aq_alloc(1, inputs);
    float *scale = aq_alloc(groups, sizeof(*scale));
    const float bias[] = {0.0f};
    const float expected[] = {255.0f * 7.0f * 65536.0f};
    const aq_row_quant quant = {.scale = 1.0f};
    const aq_layer_spec spec = aq_layer_linear(inputs, 1, AQ_ACTIVATION_NONE);
    const aq_snapshot_layer layer = {
        .format = AQ_FORMAT_INT4,
        .weights = weights,
        .scale = scale,
        .bias = bias,
        .sizes = aq_format_sizes(AQ_FORMAT_INT4, 1, inputs, 0),
    };
    const aq_kernel_input input = {.q = q, .q_stride = inputs, .quant = &quant, .rows = 1};
    assert_non_null(weights);
    assert_non_null(q);
    assert_non_null(scale);
    memset(weights, 0x77, inputs / 2);
    memset(q, 255, inputs);
    for (uint32_t g = 0; g < groups; g++) {
        scale[g] = 1.0f;
    }
    expect(&spec, &layer, &input, expected);
    aq_free(weights);
    aq_free(q);
    aq_free(scale);
}

TEST(every_rung_quantizes_for_integer_formats_alone)
{
    const aq_qkernels *rung;
    for (uint32_t i = 0; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
            const aq_linear_kernel *kernel = aq_qkernels_linear(rung, format);
            assert_non_null(kernel);
            assert_int_equal(kernel->quantizes_input, aq_format_is_integer(format));
        }
    }
}
