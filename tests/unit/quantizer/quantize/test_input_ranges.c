/*
 * Scale and zero point of a range.
 */
#include <float.h>

#include "quantizer/kernels/qkernels.h"
#include "quantizer/quantize/input_ranges.h"
#include "tests/support/test.h"

TEST(a_range_is_quantized_as_a_row_of_that_range_would_be)
{
    aq_rng rng = rng_of(8, 0);
    for (int i = 0; i < 10000; i++) {
        const float size = (float)pow(10.0, aq_rng_range(&rng, -30, 30));
        const float row[] = {-(float)aq_rng_uniform(&rng) * size,
                             (float)aq_rng_uniform(&rng) * size};
        uint8_t q[AQ_QKERNEL_Q_PADDING];
        aq_row_quant quant;
        float scale;
        int32_t zero;
        aq_qkernels_scalar()->quantize_rows(row, 2, 1, 2, q, sizeof(q), &quant);
        aq_input_range_quant(row[0], row[1], &scale, &zero);
        assert_true(scale == quant.scale);
        assert_int_equal(zero, quant.zero_point);
    }
}

TEST(a_range_without_a_usable_scale_is_dynamic)
{
    const float lows[] = {0.0f, -FLT_TRUE_MIN, -FLT_MIN, -FLT_MAX};
    const float highs[] = {0.0f, 0.0f, FLT_MIN, FLT_MAX};
    for (int i = 0; i < 4; i++) {
        float scale = 1.0f;
        int32_t zero = 7;
        aq_input_range_quant(lows[i], highs[i], &scale, &zero);
        assert_true(scale == 0.0f);
        assert_int_equal(zero, 0);
    }
}

TEST(zero_points_reach_from_0_to_255)
{
    float scale;
    int32_t zero;
    aq_input_range_quant(0.0f, 3.7f, &scale, &zero);
    assert_int_equal(zero, 0);
    aq_input_range_quant(-3.7f, 0.0f, &scale, &zero);
    assert_int_equal(zero, 255);
}
