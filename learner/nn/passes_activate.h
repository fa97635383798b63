/*
 * Activations in the passes, and their slopes, for loops that the compiler vectorises.
 *
 * They are polynomials, not libm's: a call per element could not be vectorised, and tanh would take
 * longer than all products together. They are within 3e-7 of the exact value, relative.
 *
 * Private to passes_rung.c. Static, because each rung's library is compiled with flags of its own.
 */
#ifndef AQ_LEARNER_NN_PASSES_ACTIVATE_H
#define AQ_LEARNER_NN_PASSES_ACTIVATE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/policy/layer_spec.h"

#define INLINE static inline __attribute__((always_inline))

typedef float scalar_fn(float);
typedef float derivative_fn(float d, float out);

/*
 * exp(x) - 1 = 2^n * what is returned + (2^n - 1), for -87 <= x <= 20. With n = rint(x / ln 2)
 * and r = x - n ln 2:
 *
 *   exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1),   exp(r) - 1 = r + r^2/2! + ... + r^7/7!
 *
 * |r| <= ln(2)/2, so the series stops 1.5e-8 short, relative. Its terms are added up in pairs, side
 * by side: one by one, each would wait for the one before. n ln 2 is taken off in two parts, of
 * which the first is exact for every n that can occur.
 */
INLINE float exp_parts(float x, float *ret_power)
{
    const float round_bias = 12582912.0f; /* 1.5 * 2^23: the sum's low bits are n */
    float shifted = x * 1.44269504f + round_bias;
    float n = shifted - round_bias;
    float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    float square = r * r;
    float low = r * (1.0f / 6.0f) + 0.5f;
    float middle = r * (1.0f / 120.0f) + (1.0f / 24.0f);
    float high = r * (1.0f / 5040.0f) + (1.0f / 720.0f);
    float series = ((high * square + middle) * square + low) * square + r;
    float power;
    uint32_t bits;

    memcpy(&bits, &shifted, sizeof(bits));
    bits = (bits << 23) + UINT32_C(0x3f800000); /* 2^n: the exponent field of 1.0, plus n */
    memcpy(&power, &bits, sizeof(power));
    *ret_power = power;
    return series;
}

INLINE float exp_minus_1(float x)
{
    float power;
    float series = exp_parts(x, &power);

    return power * series + (power - 1.0f);
}

/* exp(x) for x <= 0; below the smallest normal number it stays there. */
INLINE float exp_below(float x)
{
    float power;
    float series = exp_parts(x < -87.0f ? -87.0f : x, &power);

    return power * series + power;
}

/* Comparisons are written so that a NaN takes the branch that keeps it. */
INLINE float act_none(float z)
{
    return z;
}

INLINE float act_relu(float z)
{
    return z < 0.0f ? 0.0f : z;
}

/* With e = exp(2|z|) - 1: tanh |z| = e / (e + 2), which is 1 in float from |z| = 10 on. */
INLINE float act_tanh(float z)
{
    float twice = 2.0f * fabsf(z);
    float e = exp_minus_1(twice > 20.0f ? 20.0f : twice);

    return copysignf(e / (e + 2.0f), z);
}

/* exp(z) - 1 is -1 in float from z = -20 on; of a positive z nobody wants it, whatever it is. */
INLINE float act_elu(float z)
{
    float e = exp_minus_1(z < -20.0f ? -20.0f : z);

    return z > 0.0f ? z : e;
}

INLINE float back_none(float d, float out)
{
    (void)out;
    return d;
}

INLINE float back_relu(float d, float out)
{
    return out > 0.0f ? d : 0.0f;
}

/* tanh' = 1 - tanh^2 */
INLINE float back_tanh(float d, float out)
{
    return d * (1.0f - out * out);
}

/* elu' = exp(z) = elu + 1 where z <= 0 */
INLINE float back_elu(float d, float out)
{
    return out > 0.0f ? d : d * (out + 1.0f);
}

/* Calls `function`, whose last argument is what is done to a value, with the activation's of that
 * kind, act or back: chosen here, outside of its loops, it becomes part of them. */
#define WITH_ACTIVATION(activation, kind, function, ...)                                           \
    switch (activation) {                                                                          \
    case AQ_ACTIVATION_NONE:                                                                       \
        function(__VA_ARGS__, kind##_none);                                                        \
        break;                                                                                     \
    case AQ_ACTIVATION_RELU:                                                                       \
        function(__VA_ARGS__, kind##_relu);                                                        \
        break;                                                                                     \
    case AQ_ACTIVATION_TANH:                                                                       \
        function(__VA_ARGS__, kind##_tanh);                                                        \
        break;                                                                                     \
    case AQ_ACTIVATION_ELU:                                                                        \
        function(__VA_ARGS__, kind##_elu);                                                         \
        break;                                                                                     \
    default:                                                                                       \
        AQ_ASSERT(!"activation is of enum aq_activation");                                         \
    }

#endif
