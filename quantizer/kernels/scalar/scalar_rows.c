/*
 * Quantizing rows of activations: the reference.
 */
#include <math.h>
#include <string.h>

#include "quantizer/kernels/qrow.h"
#include "quantizer/kernels/scalar/scalar_kernels.h"

static float finite_or_zero(float value)
{
    return isfinite(value) ? value : 0.0f;
}

/* Writes the whole room of the row. Held to [-255, 255] before it is rounded, a level can't leave
 * the range of an integer, and none is changed that would not end up at 0 or 255 all the same. */
static void write_levels(const float *x, uint32_t inputs, int32_t zero_point, float inverse,
                         uint8_t *q)
{
    for (uint32_t i = 0; i < inputs; i++) {
        const float scaled = finite_or_zero(x[i]) * inverse;
        const float held = scaled < -255.0f ? -255.0f : scaled > 255.0f ? 255.0f : scaled;
        const int32_t level = (int32_t)lrintf(held) + zero_point;
        q[i] = (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
    }
    const uint32_t rest =
        (AQ_QKERNEL_Q_PADDING - inputs % AQ_QKERNEL_Q_PADDING) % AQ_QKERNEL_Q_PADDING;
    memset(q + inputs, zero_point, rest);
}

static aq_row_quant quantize_row(const float *x, uint32_t inputs, uint8_t *q)
{
    float low = 0.0f;
    float high = 0.0f;
    for (uint32_t i = 0; i < inputs; i++) {
        const float value = finite_or_zero(x[i]);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }

    float inverse;
    const aq_row_quant quant = row_quant_from_range(low, high, &inverse);
    write_levels(x, inputs, quant.zero_point, inverse, q);
    return quant;
}

void aq_scalar_quantize_rows(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                             uint8_t *q, size_t q_stride, aq_row_quant *ret_quant)
{
    for (size_t row = 0; row < rows; row++) {
        ret_quant[row] = quantize_row(x + row * x_stride, inputs, q + row * q_stride);
    }
}

void aq_scalar_quantize_rows_static(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                                    aq_row_quant quant, uint8_t *q, size_t q_stride,
                                    aq_row_quant *ret_quant)
{
    const float inverse = 1.0f / quant.scale;
    for (size_t row = 0; row < rows; row++) {
        write_levels(x + row * x_stride, inputs, quant.zero_point, inverse, q + row * q_stride);
        ret_quant[row] = quant;
    }
}
