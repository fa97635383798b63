/*
 * One table of the float passes: plain loops for the compiler to vectorize, built once for each
 * width of vector. Nothing here is specific to one; the build says what the table is called
 * (AQ_FLOAT_PASSES_TABLE and AQ_FLOAT_PASSES_NAME) and what it needs (AQ_FLOAT_PASSES_CPU_FLAGS).
 *
 * tanh, ELU and the exponential are one function, exp(x) - 1:
 *
 *   x = n ln 2 + r, |r| <= ln 2 / 2
 *   exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), exp(r) - 1 its series to r^8 / 8!
 *   tanh(x) = sign(x) t / (t + 2), t = exp(2 |x|) - 1
 *
 * Nothing branches, and comparisons are written so that NaN passes through. The exported C file has
 * the same operations in the same order (export_runtime.c, layers/); a change here is a change
 * there.
 */
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/sys/cpu.h"
#include "quantizer/kernels/float_passes_rungs.h"
#include "quantizer/kernels/pool_walk.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANES = AQ_FLOAT_LANES };

/* For -20 <= x <= 20 tanh and ELU have values of their own; beyond, they are constants in fp32. */
#define EXPONENT_MAX 20.0f
/* exp(-80) is nothing beside the 1 that every softmax sums, and still a normal number. */
#define LOGIT_MIN (-80.0f)

INLINE uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

INLINE float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* -86 <= x <= 86. Returns exp(r) - 1, and 2^n. */
INLINE float exp_parts(float x, float *ret_power)
{
    const float log2_e = 1.44269504f;
    const float ln2_high = 0.693145752f; /* 16 bits, so that n * ln2_high is exact */
    const float ln2_low = 1.42860677e-6f;
    const float round = 12582912.0f; /* 1.5 * 2^23: adding it leaves an integer in the low bits */

    const float shifted = x * log2_e + round;
    const float n = shifted - round;
    const float r = (x - n * ln2_high) - n * ln2_low;
    *ret_power = from_bits((bits_of(shifted) << 23) + (UINT32_C(127) << 23));

    float tail = 1.0f / 40320;
    tail = tail * r + 1.0f / 5040;
    tail = tail * r + 1.0f / 720;
    tail = tail * r + 1.0f / 120;
    tail = tail * r + 1.0f / 24;
    tail = tail * r + 1.0f / 6;
    tail = tail * r + 0.5f;
    return r + r * r * tail;
}

INLINE float exp_minus_1(float x)
{
    float power;
    const float series = exp_parts(x, &power);
    return power * series + (power - 1.0f);
}

/* exp(x) for x <= 0, as a softmax needs it. */
INLINE float exp_below_0(float x)
{
    float power;
    const float series = exp_parts(x < LOGIT_MIN ? LOGIT_MIN : x, &power);
    return power * series + power;
}

INLINE float tanh_one(float x)
{
    const float magnitude = from_bits(bits_of(x) & UINT32_C(0x7FFFFFFF));
    const float twice = magnitude * 2.0f;
    const float t = exp_minus_1(twice > EXPONENT_MAX ? EXPONENT_MAX : twice);
    const float result = t / (t + 2.0f);
    return from_bits(bits_of(result) | (bits_of(x) & UINT32_C(0x80000000)));
}

INLINE float elu_one(float x)
{
    const float negative = x < -EXPONENT_MAX ? -EXPONENT_MAX : x > 0.0f ? 0.0f : x;
    const float below = exp_minus_1(negative);
    return x > 0.0f ? x : below;
}

INLINE float relu_one(float x)
{
    return x < 0.0f ? 0.0f : x;
}

/* ---- activation functions ------------------------------------------------------------------- */

typedef float scalar_function(float x);

INLINE void map_rows(const aq_float_rows *y, size_t width, scalar_function *function)
{
    for (size_t row = 0; row < y->rows; row++) {
        float *value = y->values + row * y->stride;
        for (size_t i = 0; i < width; i++) {
            value[i] = function(value[i]);
        }
    }
}

static void activate(uint32_t activation, const aq_float_rows *y, size_t width)
{
    switch (activation) {
    case AQ_ACTIVATION_NONE:
        return;
    case AQ_ACTIVATION_RELU:
        map_rows(y, width, relu_one);
        return;
    case AQ_ACTIVATION_TANH:
        map_rows(y, width, tanh_one);
        return;
    case AQ_ACTIVATION_ELU:
        map_rows(y, width, elu_one);
        return;
    default:
        AQ_ASSERT(!"activation is of enum aq_activation");
    }
}

/* ---- layers --------------------------------------------------------------------------------- */

INLINE float add_lanes(float lanes[LANES])
{
    for (size_t half = LANES / 2; half > 0; half /= 2) {
        for (size_t j = 0; j < half; j++) {
            lanes[j] = lanes[j] + lanes[j + half];
        }
    }
    return lanes[0];
}

INLINE float sum_of(const float *x, size_t count)
{
    float lanes[LANES] = {0};
    const size_t whole = count - count % LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t j = 0; j < LANES; j++) {
            lanes[j] += x[i + j];
        }
    }
    for (size_t i = whole; i < count; i++) {
        lanes[i - whole] += x[i];
    }
    return add_lanes(lanes);
}

INLINE float squares_around(const float *x, float mean, size_t count)
{
    float lanes[LANES] = {0};
    const size_t whole = count - count % LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t j = 0; j < LANES; j++) {
            const float off = x[i + j] - mean;
            lanes[j] += off * off;
        }
    }
    for (size_t i = whole; i < count; i++) {
        const float off = x[i] - mean;
        lanes[i - whole] += off * off;
    }
    return add_lanes(lanes);
}

static void norm(const aq_const_rows *x, size_t width, const float *restrict gain,
                 const float *restrict bias, const aq_float_rows *y)
{
    for (size_t row = 0; row < y->rows; row++) {
        const float *restrict in = x->values + row * x->stride;
        float *restrict out = y->values + row * y->stride;
        const float mean = sum_of(in, width) / (float)width;
        const float variance = squares_around(in, mean, width) / (float)width;
        const float inverse = 1.0f / sqrtf(variance + AQ_NORM_EPSILON);
        for (size_t i = 0; i < width; i++) {
            out[i] = (in[i] - mean) * inverse * gain[i] + bias[i];
        }
    }
}

INLINE void dueling_row(const float *restrict x, uint32_t choices, uint32_t atoms,
                        float *restrict y)
{
    float mean[AQ_NET_ATOMS_MAX];
    const float *advantage = x + atoms;
    memset(mean, 0, atoms * sizeof(*mean));
    for (size_t c = 0; c < choices; c++) {
        for (size_t k = 0; k < atoms; k++) {
            mean[k] += advantage[c * atoms + k];
        }
    }
    for (size_t k = 0; k < atoms; k++) {
        mean[k] = mean[k] / (float)choices;
    }
    for (size_t c = 0; c < choices; c++) {
        for (size_t k = 0; k < atoms; k++) {
            y[c * atoms + k] = x[k] + (advantage[c * atoms + k] - mean[k]);
        }
    }
}

static void dueling(const aq_const_rows *x, const aq_head_shape *head, const aq_float_rows *y)
{
    for (size_t row = 0; row < y->rows; row++) {
        dueling_row(x->values + row * x->stride, head->choices, head->atoms,
                    y->values + row * y->stride);
    }
}

/* NaN if x[0] is; other NaN are passed over. */
INLINE float greatest_of(const float *x, size_t count)
{
    float lanes[LANES];
    const size_t whole = count - count % LANES;
    for (size_t j = 0; j < LANES; j++) {
        lanes[j] = x[0];
    }
    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t j = 0; j < LANES; j++) {
            lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
        }
    }
    for (size_t i = whole; i < count; i++) {
        lanes[i - whole] = x[i] > lanes[i - whole] ? x[i] : lanes[i - whole];
    }
    for (size_t j = 1; j < LANES; j++) {
        lanes[0] = lanes[j] > lanes[0] ? lanes[j] : lanes[0];
    }
    return lanes[0];
}

/* sum_k softmax(logit)[k] atom[k] */
INLINE float expectation(const float *restrict logit, const float *restrict atom, size_t count)
{
    float weight[LANES] = {0};
    float value[LANES] = {0};
    const float greatest = greatest_of(logit, count);
    const size_t whole = count - count % LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t j = 0; j < LANES; j++) {
            const float e = exp_below_0(logit[i + j] - greatest);
            weight[j] += e;
            value[j] += e * atom[i + j];
        }
    }
    for (size_t i = whole; i < count; i++) {
        const float e = exp_below_0(logit[i] - greatest);
        weight[i - whole] += e;
        value[i - whole] += e * atom[i];
    }
    return add_lanes(value) / add_lanes(weight);
}

static void categorical(const aq_const_rows *x, const aq_head_shape *head, const float *atoms,
                        const aq_float_rows *y)
{
    for (size_t row = 0; row < y->rows; row++) {
        const float *logits = x->values + row * x->stride;
        for (size_t c = 0; c < head->choices; c++) {
            y->values[row * y->stride + c] =
                expectation(logits + c * head->atoms, atoms, head->atoms);
        }
    }
}

INLINE void pool_pixel(const aq_conv_shape *shape, const pool_patch *patch, const float *x,
                       float *y)
{
    pool_lanes most;
    pool_marks which;
    uint32_t channel = 0;
    for (; channel + POOL_LANES <= shape->channels; channel += POOL_LANES) {
        pool_greatest(shape, patch, x + channel, POOL_LANES, &most, &which);
        pool_store(&most, POOL_LANES, y + channel);
    }
    if (channel < shape->channels) {
        const uint32_t left = shape->channels - channel;
        pool_greatest(shape, patch, x + channel, left, &most, &which);
        pool_store(&most, left, y + channel);
    }
}

static void pool(const aq_const_rows *x, const aq_conv_shape *shape, const aq_float_rows *y)
{
    const uint32_t height = aq_conv_out_height(shape), width = aq_conv_out_width(shape);
    for (size_t row = 0; row < y->rows; row++) {
        const float *in = x->values + row * x->stride;
        float *out = y->values + row * y->stride;
        for (uint32_t i = 0; i < height; i++) {
            for (uint32_t j = 0; j < width; j++, out += shape->channels) {
                const pool_patch patch = pool_patch_of(shape, i, j);
                pool_pixel(shape, &patch, in, out);
            }
        }
    }
}

static void add(const aq_const_rows *a, const aq_const_rows *b, size_t width,
                const aq_float_rows *y)
{
    for (size_t row = 0; row < y->rows; row++) {
        const float *restrict left = a->values + row * a->stride;
        const float *restrict right = b->values + row * b->stride;
        float *restrict out = y->values + row * y->stride;
        for (size_t i = 0; i < width; i++) {
            out[i] = left[i] + right[i];
        }
    }
}

static int32_t level_sum(const uint8_t *levels, size_t count)
{
    int32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += levels[i];
    }
    return sum;
}

static uint8_t greatest_byte(const uint8_t *bytes, size_t count)
{
    uint8_t greatest = 0;
    for (size_t i = 0; i < count; i++) {
        greatest = bytes[i] > greatest ? bytes[i] : greatest;
    }
    return greatest;
}

static void scale_bytes(const uint8_t *restrict bytes, size_t count, float factor,
                        uint8_t *restrict out)
{
    const float round = 12582912.0f; /* 1.5 * 2^23, as in exp_parts */
    for (size_t i = 0; i < count; i++) {
        out[i] = (uint8_t)bits_of((float)bytes[i] * factor + round);
    }
}

const aq_float_passes AQ_FLOAT_PASSES_TABLE = {
    .name = AQ_FLOAT_PASSES_NAME,
    .cpu_flags = AQ_FLOAT_PASSES_CPU_FLAGS,
    .activate = activate,
    .norm = norm,
    .dueling = dueling,
    .categorical = categorical,
    .pool = pool,
    .add = add,
    .level_sum = level_sum,
    .greatest_byte = greatest_byte,
    .scale_bytes = scale_bytes,
};
