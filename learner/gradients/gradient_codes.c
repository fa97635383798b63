/*
 * Gradient codes: see gradient_codes.h.
 */
#include "learner/gradients/gradient_codes.h"

#include <math.h>
#include <string.h>

#include "common/experience/finite.h"
#include "common/policy/half.h"

enum { LEVELS = 127 };

/* Below this a bucket is nothing: its unit could not be divided by. */
#define SIZE_MIN 1e-30f

/* A small number that is added to it is whole afterwards, ties to even: vectors can do that. */
#define WHOLE 12582912.0f /* 1.5 * 2^23 */

size_t aq_gradient_code_bytes(enum aq_gradient_format format)
{
    return format == AQ_GRADIENT_INT8   ? sizeof(int8_t)
           : format == AQ_GRADIENT_BF16 ? sizeof(uint16_t)
                                        : sizeof(float);
}

float aq_gradient_greatest(const float *values, size_t count)
{
    uint32_t greatest = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t size = aq_f32_to_bits(fabsf(values[i]));
        greatest = size > greatest ? size : greatest;
    }
    return aq_f32_from_bits(greatest);
}

float aq_gradient_unit(enum aq_gradient_format format, float greatest)
{
    return format == AQ_GRADIENT_BF16 ? 1.0f
           : greatest > SIZE_MIN      ? greatest / (float)LEVELS
                                      : 0.0f;
}

void aq_gradient_bucket_pack(enum aq_gradient_format format, float unit, float *values,
                             size_t count, uint8_t *codes)
{
    float given[AQ_GRADIENT_BUCKET];
    const float per_unit = unit > 0.0f ? 1.0f / unit : 0.0f;
    if (format == AQ_GRADIENT_INT8) {
        for (size_t i = 0; i < count; i++) {
            const float rounded = (values[i] * per_unit + WHOLE) - WHOLE;
            ((int8_t *)codes)[i] = (int8_t)(int32_t)rounded;
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            ((uint16_t *)(void *)codes)[i] = aq_bf16_from_f32(values[i] * per_unit);
        }
    }
    aq_gradient_bucket_unpack(format, unit, codes, count, given);
    for (size_t i = 0; i < count; i++) {
        values[i] -= given[i];
    }
}

void aq_gradient_bucket_unpack(enum aq_gradient_format format, float unit, const uint8_t *codes,
                               size_t count, float *ret_values)
{
    if (format == AQ_GRADIENT_INT8) {
        for (size_t i = 0; i < count; i++) {
            ret_values[i] = (float)((const int8_t *)codes)[i] * unit;
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            ret_values[i] = aq_bf16_to_f32(((const uint16_t *)(const void *)codes)[i]) * unit;
        }
    }
}

/* ---- a whole one ---------------------------------------------------------------------------- */

/* Behind the units. */
static size_t codes_at(enum aq_gradient_format format, size_t count)
{
    return aq_gradient_bytes(format, count) - count * aq_gradient_code_bytes(format);
}

void aq_gradient_pack(enum aq_gradient_format format, const float *gradient, size_t count,
                      float *residual, uint8_t *packed)
{
    if (format == AQ_GRADIENT_FP32) {
        memcpy(packed, gradient, count * sizeof(*gradient));
        return;
    }
    for (size_t b = 0; b < aq_gradient_buckets(count); b++) {
        const size_t first = b * AQ_GRADIENT_BUCKET, values = aq_gradient_bucket_values(count, b);
        uint8_t *codes = packed + codes_at(format, count) + first * aq_gradient_code_bytes(format);
        float *left = residual + first;
        for (size_t i = 0; i < values; i++) {
            left[i] += gradient[first + i];
        }
        const float unit = aq_gradient_unit(format, aq_gradient_greatest(left, values));
        aq_gradient_bucket_pack(format, unit, left, values, codes);
        if (format == AQ_GRADIENT_INT8) {
            ((float *)(void *)packed)[b] = unit;
        }
    }
}

int aq_gradient_unpack(enum aq_gradient_format format, const uint8_t *packed, size_t count,
                       float *gradient)
{
    if (format == AQ_GRADIENT_FP32) {
        memcpy(gradient, packed, count * sizeof(*gradient));
    }
    for (size_t b = 0; format != AQ_GRADIENT_FP32 && b < aq_gradient_buckets(count); b++) {
        const size_t first = b * AQ_GRADIENT_BUCKET, values = aq_gradient_bucket_values(count, b);
        const uint8_t *codes =
            packed + codes_at(format, count) + first * aq_gradient_code_bytes(format);
        const float unit =
            format == AQ_GRADIENT_INT8 ? ((const float *)(const void *)packed)[b] : 1.0f;
        aq_gradient_bucket_unpack(format, unit, codes, values, gradient + first);
    }
    return aq_find_nonfinite((const uint8_t *)gradient, count) == count ? 0 : AQ_E_CORRUPT;
}
