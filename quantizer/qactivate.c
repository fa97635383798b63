/*
 * tanh and ELU over exp(x) - 1.
 *
 *   x = n ln 2 + r, |r| <= ln 2 / 2
 *   expm1(x) = 2^n expm1(r) + (2^n - 1), expm1(r) its series to r^8 / 8!
 *   tanh(x) = sign(x) t / (t + 2), t = expm1(2 |x|)
 *
 * Nothing branches, so the loops vectorize. Comparisons are written so that NaN passes through.
 */
#include "quantizer/qactivate.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/rl/netspec.h"

/* For -20 <= x <= 20; beyond, both functions here are constants in fp32. */
#define EXPONENT_MAX 20.0f

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline float exp_minus_1(float x)
{
    const float log2_e = 1.44269504f;
    const float ln2_high = 0.693145752f; /* 16 bits, so that n * ln2_high is exact */
    const float ln2_low = 1.42860677e-6f;
    const float round = 12582912.0f; /* 1.5 * 2^23: adding it leaves an integer in the low bits */

    const float shifted = x * log2_e + round;
    const float n = shifted - round;
    const float r = (x - n * ln2_high) - n * ln2_low;
    const float power = from_bits((bits_of(shifted) << 23) + (UINT32_C(127) << 23)); /* 2^n */

    float tail = 1.0f / 40320;
    tail = tail * r + 1.0f / 5040;
    tail = tail * r + 1.0f / 720;
    tail = tail * r + 1.0f / 120;
    tail = tail * r + 1.0f / 24;
    tail = tail * r + 1.0f / 6;
    tail = tail * r + 0.5f;
    const float series = r + r * r * tail;
    return power * series + (power - 1.0f);
}

static inline float tanh_one(float x)
{
    const float magnitude = from_bits(bits_of(x) & UINT32_C(0x7FFFFFFF));
    const float twice = magnitude * 2.0f;
    const float t = exp_minus_1(twice > EXPONENT_MAX ? EXPONENT_MAX : twice);
    const float result = t / (t + 2.0f);
    return from_bits(bits_of(result) | (bits_of(x) & UINT32_C(0x80000000)));
}

static inline float elu_one(float x)
{
    const float negative = x < -EXPONENT_MAX ? -EXPONENT_MAX : x > 0.0f ? 0.0f : x;
    const float below = exp_minus_1(negative);
    return x > 0.0f ? x : below;
}

void aq_qactivate(uint32_t activation, float *values, size_t rows, size_t count, size_t stride)
{
    AQ_ASSERT(activation >= AQ_ACTIVATION_NONE && activation <= AQ_ACTIVATION_ELU);
    for (size_t row = 0; row < rows; row++) {
        float *value = values + row * stride;
        if (activation == AQ_ACTIVATION_TANH) {
            for (size_t i = 0; i < count; i++) {
                value[i] = tanh_one(value[i]);
            }
        } else if (activation == AQ_ACTIVATION_ELU) {
            for (size_t i = 0; i < count; i++) {
                value[i] = elu_one(value[i]);
            }
        }
    }
}
