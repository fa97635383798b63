/*
 * The scalar step in the middle of quantizing a row: from its range to scale, zero point and the
 * factor that the values are multiplied by. Written once, so that the rungs cannot differ in it.
 *
 * Private to the kernels. Static, because each rung's library is compiled with flags of its own.
 */
#ifndef AQ_QUANTIZER_KERNELS_QROW_H
#define AQ_QUANTIZER_KERNELS_QROW_H

#include <float.h>
#include <math.h>

#include "quantizer/kernels/qkernels.h"

/* low <= 0 <= high, both finite. Dividing the two apart keeps the range of the largest floats from
 * overflowing; below FLT_MIN, 1 / s would be infinite or s would have lost its digits. */
static inline aq_row_quant row_quant_from_range(float low, float high, float *ret_inverse)
{
    const float step = 1.0f / 255.0f;
    const float scale = high * step - low * step;

    if (scale < FLT_MIN) {
        *ret_inverse = 0.0f;
        return (aq_row_quant){.scale = 1.0f, .zero_point = 0};
    }
    const float inverse = 1.0f / scale;
    *ret_inverse = inverse;
    return (aq_row_quant){.scale = scale, .zero_point = (int32_t)lrintf(-low * inverse)};
}

#endif
