/*
 * Scales and levels: the arithmetic that all integer formats share.
 */
#include <float.h>
#include <math.h>

#include "quantizer/quantize/quantize_layer.h"

/* Without their signs, floats have the order of their bits as integers, whose greatest is found by
 * vectors; that of floats is not, for the sake of NaN. */
float aq_greatest_magnitude(const float *values, size_t count)
{
    int32_t greatest = 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t magnitude = (int32_t)(aq_f32_to_bits(values[i]) & 0x7FFFFFFF);
        greatest = magnitude > greatest ? magnitude : greatest;
    }
    return aq_f32_from_bits((uint32_t)greatest);
}

float aq_quantize_scale(float greatest, int32_t level_max, float kept)
{
    const float ideal = greatest / (float)level_max;
    if (ideal < FLT_MIN) {
        return 0.0f;
    }
    if (kept < FLT_MIN || level_max < INT8_MAX) {
        return ideal;
    }
    const bool covers = rintf(greatest / kept) <= (float)level_max;
    if (covers && kept <= ideal * AQ_QUANTIZE_KEEP_MAX) {
        return kept;
    }
    const float roomy = ideal * AQ_QUANTIZE_ROOM;
    return roomy * (float)level_max <= FLT_MAX ? roomy : ideal;
}
