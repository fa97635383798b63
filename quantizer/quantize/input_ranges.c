/*
 * Input ranges: see input_ranges.h.
 */
#include "quantizer/quantize/input_ranges.h"

#include <float.h>
#include <math.h>

/* A larger step could not be multiplied by every level. */
#define INPUT_SCALE_MAX (FLT_MAX / 256.0f)

void aq_input_range_quant(float low, float high, float *ret_scale, int32_t *ret_zero_point)
{
    const float step = 1.0f / 255.0f;
    const float scale = high * step - low * step;
    const bool is_usable = scale >= FLT_MIN && scale <= INPUT_SCALE_MAX;
    *ret_scale = is_usable ? scale : 0.0f;
    *ret_zero_point = is_usable ? (int32_t)lrintf(-low * (1.0f / scale)) : 0;
}
