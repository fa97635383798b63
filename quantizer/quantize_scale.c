/*
 * Scales and levels: the arithmetic that all integer formats share.
 */
#include <float.h>
#include <math.h>

#include "quantizer/quantize_layer.h"

float aq_greatest_magnitude(const float *values, size_t count)
{
    float greatest = 0.0f;
    for (size_t i = 0; i < count; i++) {
        const float magnitude = fabsf(values[i]);
        greatest = magnitude > greatest ? magnitude : greatest;
    }
    return greatest;
}

float aq_quantize_scale(float greatest, int32_t level_max, float kept)
{
    const float ideal = greatest / (float)level_max;
    if (ideal < FLT_MIN) {
        return 0.0f;
    }
    if (kept < FLT_MIN) {
        return ideal;
    }
    const bool covers = rintf(greatest / kept) <= (float)level_max;
    if (covers && kept <= ideal * AQ_QUANTIZE_KEEP_MAX) {
        return kept;
    }
    const float roomy = ideal * AQ_QUANTIZE_ROOM;
    return roomy * (float)level_max <= FLT_MAX ? roomy : ideal;
}

int32_t aq_quantize_level(float weight, float scale, int32_t level_min, int32_t level_max)
{
    const long level = lrintf(weight / scale);
    return (int32_t)(level < level_min ? level_min : level > level_max ? level_max : level);
}
