/*
 * The choice of a rung, and the scalar reference against the equations: what the kernel tests
 * compare every other rung with.
 */
#include <float.h>

#include "common/sys/cpu.h"
#include "quantizer/engine/packed_layer.h"
#include "quantizer/kernels/qkernels.h"
#include "tests/support/test.h"

enum { ROOM = AQ_QKERNEL_Q_PADDING };

static aq_row_quant quantize(const float *x, uint32_t inputs, uint8_t *q)
{
    aq_row_quant quant;
    aq_qkernels_scalar()->quantize_rows(x, inputs, 1, inputs, q, ROOM, &quant);
    return quant;
}

TEST(without_flags_the_scalar_reference_is_chosen)
{
    assert_ptr_equal(aq_qkernels_select(0), aq_qkernels_scalar());
    assert_string_equal(aq_qkernels_select(0)->name, "scalar");
    assert_ptr_equal(aq_qkernels_select(AQ_CPU_SSE42), aq_qkernels_scalar());
}

TEST(every_rung_is_chosen_by_its_own_flags)
{
    const aq_qkernels *rung;
    uint32_t i = 0;
    for (; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        assert_ptr_equal(aq_qkernels_select(rung->cpu_flags), rung);
    }
    assert_true(i >= 1);
    assert_ptr_equal(aq_qkernels_rung(i - 1), aq_qkernels_scalar());
    assert_ptr_equal(aq_qkernels_select(UINT32_MAX), aq_qkernels_rung(0));
    assert_null(aq_qkernels_rung(UINT32_MAX));
}

TEST(a_rung_that_lacks_a_flag_is_not_chosen)
{
    const aq_qkernels *rung;
    for (uint32_t i = 0; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        for (uint32_t left = rung->cpu_flags; left != 0; left &= left - 1) {
            const uint32_t flag = left & -left;
            assert_ptr_not_equal(aq_qkernels_select(UINT32_MAX & ~flag), rung);
        }
    }
}

TEST(every_rung_knows_every_format)
{
    const aq_qkernels *rung;
    for (uint32_t i = 0; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        assert_non_null(aq_qkernels_linear(rung, AQ_FORMAT_F32));
        assert_non_null(aq_qkernels_linear(rung, AQ_FORMAT_INT8_CHANNEL));
        assert_false(aq_qkernels_linear(rung, AQ_FORMAT_F32)->quantizes_input);
        assert_true(aq_qkernels_linear(rung, AQ_FORMAT_INT8_CHANNEL)->quantizes_input);
        assert_null(aq_qkernels_linear(rung, 0));
        assert_null(aq_qkernels_linear(rung, AQ_QKERNEL_FORMATS));
        assert_null(aq_qkernels_linear(rung, UINT32_MAX));
    }
}

TEST(every_value_is_within_half_a_step)
{
    aq_rng rng = rng_of(11, 0);
    for (int repeat = 0; repeat < 2000; repeat++) {
        float x[ROOM];
        uint8_t q[ROOM];
        const uint32_t inputs = 1 + (uint32_t)aq_rng_below(&rng, ROOM);
        const double size = exp2(aq_rng_range(&rng, -100.0, 100.0));
        const double shift = aq_rng_range(&rng, -2.0, 2.0);
        for (uint32_t i = 0; i < inputs; i++) {
            x[i] = (float)(size * (aq_rng_normal(&rng) + shift));
        }
        const aq_row_quant quant = quantize(x, inputs, q);
        const double scale = (double)quant.scale;
        for (uint32_t i = 0; i < inputs; i++) {
            const double error = fabs((double)x[i] - scale * (q[i] - quant.zero_point));
            assert_true(error <= scale * (0.5 + 1e-4));
        }
    }
}

TEST(zero_is_exact)
{
    const float x[] = {-1.7f, 0.0f, 3.1f, -0.0f};
    uint8_t q[ROOM];
    const aq_row_quant quant = quantize(x, 4, q);
    assert_true(quant.zero_point > 0);
    assert_int_equal(q[1], quant.zero_point);
    assert_int_equal(q[3], quant.zero_point);
}

TEST(the_ends_of_the_range_are_0_and_255)
{
    const float x[] = {-2.0f, 3.0f, 1.0f};
    const float positive[] = {2.0f, 3.0f};
    const float negative[] = {-2.0f, -3.0f};
    uint8_t q[ROOM];
    quantize(x, 3, q);
    assert_int_equal(q[0], 0);
    assert_int_equal(q[1], 255);
    assert_int_equal(quantize(positive, 2, q).zero_point, 0);
    assert_int_equal(q[1], 255);
    assert_int_equal(quantize(negative, 2, q).zero_point, 255);
    assert_int_equal(q[1], 0);
}

TEST(a_row_of_zeros_has_scale_1_and_no_zero_point)
{
    const float zeros[] = {0.0f, -0.0f, 0.0f};
    const float tiny[] = {200.0f * FLT_MIN, -54.0f * FLT_MIN, FLT_TRUE_MIN};
    const float *rows[] = {zeros, tiny};
    for (int i = 0; i < 2; i++) {
        uint8_t q[ROOM];
        const aq_row_quant quant = quantize(rows[i], 3, q);
        assert_true(quant.scale == 1.0f);
        assert_int_equal(quant.zero_point, 0);
        assert_int_equal(q[0] | q[1] | q[2], 0);
    }
}

TEST(what_is_not_finite_counts_as_zero)
{
    const float bad[] = {1.0f, NAN, -2.0f, INFINITY, -INFINITY};
    const float zeroed[] = {1.0f, 0.0f, -2.0f, 0.0f, 0.0f};
    uint8_t q[ROOM], expected[ROOM];
    const aq_row_quant quant = quantize(bad, 5, q);
    const aq_row_quant wanted = quantize(zeroed, 5, expected);
    assert_true(quant.scale == wanted.scale);
    assert_int_equal(quant.zero_point, wanted.zero_point);
    assert_memory_equal(q, expected, ROOM);
}

TEST(the_largest_floats_do_not_overflow)
{
    const float x[] = {FLT_MAX, -FLT_MAX, 0.0f};
    uint8_t q[ROOM];
    const aq_row_quant quant = quantize(x, 3, q);
    assert_true(isfinite(quant.scale));
    assert_int_equal(q[0], 255);
    assert_int_equal(q[1], 0);
}

TEST(an_int8_layer_is_its_equation)
{
    enum { INPUTS = 3, OUTPUTS = 2 };
    const int8_t weights[] = {127, -127, 1, 10, 20, 30};
    const float scale[] = {0.5f, 0.25f};
    const int32_t sum[] = {1, 60};
    const float bias[] = {1.0f, -100.0f};
    const uint8_t q[ROOM] = {255, 0, 7};
    const aq_row_quant quant = {.scale = 2.0f, .zero_point = 3};
    const aq_layer_spec spec = aq_layer_linear(INPUTS, OUTPUTS, AQ_ACTIVATION_NONE);
    const aq_snapshot_layer layer = {
        .format = AQ_FORMAT_INT8_CHANNEL,
        .weights = weights,
        .scale = scale,
        .sum = sum,
        .bias = bias,
        .sizes = aq_format_sizes(AQ_FORMAT_INT8_CHANNEL, OUTPUTS, INPUTS, 0),
    };
    const aq_kernel_input input = {.q = q, .q_stride = ROOM, .quant = &quant, .rows = 1};
    aq_packed_layer packed;
    float y[OUTPUTS];
    assert_int_equal(aq_packed_layer_init(aq_qkernels_scalar(), &spec, &layer, 1, &packed), 0);
    aq_qkernels_linear(aq_qkernels_scalar(), AQ_FORMAT_INT8_CHANNEL)->run(&packed, &input, y, 2);
    assert_true(y[0] == 2.0f * 0.5f * (255 * 127 + 7 - 3 * 1) + 1.0f);
    assert_true(y[1] == 2.0f * 0.25f * (255 * 10 + 7 * 30 - 3 * 60) - 100.0f);
    aq_packed_layer_fini(&packed);
}

/* The largest sums that 32 bits must hold: all inputs 255, all weights 127, and -127. */
TEST(the_longest_row_does_not_overflow_on_any_rung)
{
    const uint32_t inputs = AQ_QKERNEL_INPUTS_MAX;
    int8_t *weights = aq_alloc(2, inputs);
    uint8_t *q = aq_alloc(1, inputs);
    const int32_t sum[] = {127 * (int32_t)inputs, -127 * (int32_t)inputs};
    const float scale[] = {1.0f, 1.0f};
    const float bias[] = {0.0f, 0.0f};
    const aq_row_quant quant = {.scale = 1.0f, .zero_point = 0};
    const aq_layer_spec spec = aq_layer_linear(inputs, 2, AQ_ACTIVATION_NONE);
    const aq_snapshot_layer layer = {
        .format = AQ_FORMAT_INT8_CHANNEL,
        .weights = weights,
        .scale = scale,
        .sum = sum,
        .bias = bias,
        .sizes = aq_format_sizes(AQ_FORMAT_INT8_CHANNEL, 2, inputs, 0),
    };
    const aq_kernel_input input = {.q = q, .q_stride = inputs, .quant = &quant, .rows = 1};
    const aq_qkernels *rung;
    assert_non_null(weights);
    assert_non_null(q);
    memset(q, 255, inputs);
    memset(weights, 127, inputs);
    memset(weights + inputs, -127, inputs);
    for (uint32_t i = 0; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        aq_packed_layer packed;
        float y[2];
        if ((rung->cpu_flags & ~aq_cpu_flags()) != 0) {
            continue;
        }
        assert_int_equal(aq_packed_layer_init(rung, &spec, &layer, 1, &packed), 0);
        aq_qkernels_linear(rung, AQ_FORMAT_INT8_CHANNEL)->run(&packed, &input, y, 2);
        assert_true(y[0] == 255.0f * 127.0f * 65536.0f);
        assert_true(y[1] == -255.0f * 127.0f * 65536.0f);
        aq_packed_layer_fini(&packed);
    }
    aq_free(weights);
    aq_free(q);
}
