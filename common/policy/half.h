/*
 * Sixteen-bit floats, for processors of any kind: IEEE half precision and bfloat16, to and from
 * float, ties to even. Vector kernels convert with their own instructions and give the same.
 */
#ifndef AQ_COMMON_POLICY_HALF_H
#define AQ_COMMON_POLICY_HALF_H

#include <stdint.h>
#include <string.h>

static inline float aq_f32_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint32_t aq_f32_to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float aq_bf16_to_f32(uint16_t half)
{
    return aq_f32_from_bits((uint32_t)half << 16);
}

/* NaN stays NaN. */
static inline uint16_t aq_bf16_from_f32(float value)
{
    const uint32_t bits = aq_f32_to_bits(value);
    if (value != value) {
        return (uint16_t)(bits >> 16 | 0x40);
    }
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* Moving the exponent by a multiplication treats subnormal numbers like all others. */
static inline float aq_f16_to_f32(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    const uint32_t magnitude = half & 0x7FFF;
    if (magnitude >= 0x7C00) { /* infinite or NaN */
        return aq_f32_from_bits(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
    }
    const float scaled = aq_f32_from_bits(magnitude << 13) * 0x1p112f;
    return aq_f32_from_bits(sign | aq_f32_to_bits(scaled));
}

/* A magnitude past the largest half becomes infinite. */
static inline uint16_t aq_f16_from_f32(float value)
{
    const uint32_t bits = aq_f32_to_bits(value);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    const uint32_t magnitude = bits & 0x7FFFFFFF;
    if (magnitude > 0x7F800000) {
        return (uint16_t)(sign | 0x7E00);
    }
    if (magnitude >= 0x477FF000) { /* rounds to 2^16 or is beyond */
        return (uint16_t)(sign | 0x7C00);
    }
    if (magnitude < 0x38800000) { /* below 2^-14: a subnormal half counts in units of 2^-24 */
        const float aligned = aq_f32_from_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (aq_f32_to_bits(aligned) - 0x3F000000));
    }
    const uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
    return (uint16_t)(sign | ((rounded - 0x38000000) >> 13));
}

#endif
