/*
 * The scalar reference, one file a family of formats. Plain loops over row-major weights: these
 * files define what the rungs must compute, so they are written to be read, and they are what runs
 * where no rung fits. They are compiled without any processor's flags.
 *
 * Private to the kernels. No state; any thread.
 */
#ifndef AQ_QUANTIZER_KERNELS_SCALAR_SCALAR_KERNELS_H
#define AQ_QUANTIZER_KERNELS_SCALAR_SCALAR_KERNELS_H

#include "quantizer/kernels/qkernels.h"

/* As qkernels.h says of a rung's members of these names. */
void aq_scalar_quantize_rows(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                             uint8_t *q, size_t q_stride, aq_row_quant *ret_quant);
void aq_scalar_quantize_rows_static(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                                    aq_row_quant quant, uint8_t *q, size_t q_stride,
                                    aq_row_quant *ret_quant);

extern const aq_linear_kernel aq_scalar_f32;
extern const aq_linear_kernel aq_scalar_f16;
extern const aq_linear_kernel aq_scalar_bf16;
extern const aq_linear_kernel aq_scalar_int8;
extern const aq_linear_kernel aq_scalar_int4;
extern const aq_linear_kernel aq_scalar_int2;
extern const aq_linear_kernel aq_scalar_sparse;

/* NaN stays NaN. */
static inline float relu_if(uint32_t activation, float value)
{
    if (activation != AQ_ACTIVATION_RELU) {
        return value;
    }
    return value < 0.0f ? 0.0f : value;
}

/* The sum over one row of q[i] w[i]. */
static inline int32_t dot_levels(const uint8_t *q, const int8_t *levels, uint32_t inputs)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < inputs; i++) {
        sum += (int32_t)q[i] * (int32_t)levels[i];
    }
    return sum;
}

/* An int8 layer's result from its dot product: dense and sparse. The bracket may wrap around. */
static inline float finish_int8(const aq_packed_layer *layer, uint32_t output,
                                const aq_row_quant *quant, int32_t dot)
{
    const uint32_t shift = (uint32_t)quant->zero_point * (uint32_t)layer->sum[output];
    const int32_t centred = (int32_t)((uint32_t)dot - shift + (uint32_t)quant->offset);
    const float factor = quant->scale * layer->scale[output];
    return relu_if(layer->activation, factor * (float)centred + layer->bias[output]);
}

#endif
