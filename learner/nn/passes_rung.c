/*
 * One rung of the passes: plain loops for the compiler to vectorise, built once per instruction
 * set. Nothing here is specific to one; the build says what the table is called (AQ_PASSES_TABLE
 * and AQ_PASSES_NAME) and what the processor must have (AQ_PASSES_CPU_FLAGS).
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/sys/cpu.h"
#include "learner/nn/passes_activate.h"
#include "learner/nn/passes_gru.h"
#include "learner/nn/passes_norm.h"
#include "learner/nn/passes_pool.h"
#include "learner/nn/passes_quant.h"
#include "learner/nn/passes_rungs.h"
#include "learner/nn/passes_squash.h"

/* Sums are taken in this many interleaved parts, on every rung. */
enum { SUM_LANES = 16 };

INLINE void bias_activate_rows(float *restrict values, const float *restrict bias, size_t rows,
                               size_t width, size_t stride, scalar_fn *act)
{
    for (size_t r = 0; r < rows; r++, values += stride) {
        for (size_t c = 0; c < width; c++) {
            values[c] = act(values[c] + bias[c]);
        }
    }
}

static void bias_activate(float *values, const float *bias, size_t rows, size_t width,
                          size_t stride, uint32_t activation)
{
    WITH_ACTIVATION(activation, act, bias_activate_rows, values, bias, rows, width, stride);
}

INLINE void activate_backward_rows(float *restrict d, const float *restrict out, size_t rows,
                                   size_t width, float *restrict sums, derivative_fn *back)
{
    memset(sums, 0, width * sizeof(*sums));
    for (size_t r = 0; r < rows; r++, d += width, out += width) {
        for (size_t c = 0; c < width; c++) {
            d[c] = back(d[c], out[c]);
            sums[c] += d[c];
        }
    }
}

static void activate_backward(float *d, const float *out, size_t rows, size_t width,
                              uint32_t activation, float *ret_sums)
{
    WITH_ACTIVATION(activation, back, activate_backward_rows, d, out, rows, width, ret_sums);
}

static double sum_squares(const float *values, size_t count)
{
    double lanes[SUM_LANES] = {0};
    size_t whole = count - count % SUM_LANES;
    double sum = 0;

    for (size_t i = 0; i < whole; i += SUM_LANES) {
        for (size_t j = 0; j < SUM_LANES; j++) {
            lanes[j] += (double)values[i + j] * values[i + j];
        }
    }
    for (size_t i = whole; i < count; i++) {
        lanes[i - whole] += (double)values[i] * values[i];
    }
    for (size_t j = 0; j < SUM_LANES; j++) {
        sum += lanes[j];
    }
    return sum;
}

static void adam(const aq_adam_pass *pass, float *restrict parameters, float *restrict m,
                 float *restrict v, const float *restrict gradient, size_t count)
{
    const float scale = pass->gradient_scale;
    const float rate1 = 1.0f - pass->beta1, rate2 = 1.0f - pass->beta2;
    const float step_size = pass->step_size, epsilon = pass->epsilon, decay = pass->decay;

    for (size_t i = 0; i < count; i++) {
        float g = gradient[i] * scale;
        float mean = m[i] + rate1 * (g - m[i]);
        float variance = v[i] + rate2 * (g * g - v[i]);

        mean = fabsf(mean) < FLT_MIN ? 0.0f : mean;
        variance = variance < FLT_MIN ? 0.0f : variance;
        m[i] = mean;
        v[i] = variance;
        parameters[i] -= decay * parameters[i];
        parameters[i] -= step_size * mean / (sqrtf(variance) + epsilon);
    }
}

INLINE float greatest(const float *x, size_t width)
{
    float lanes[SUM_LANES];
    size_t whole = width - width % SUM_LANES;

    for (size_t j = 0; j < SUM_LANES; j++) {
        lanes[j] = x[0];
    }
    for (size_t i = 0; i < whole; i += SUM_LANES) {
        for (size_t j = 0; j < SUM_LANES; j++) {
            lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
        }
    }
    for (size_t i = whole; i < width; i++) {
        lanes[i - whole] = x[i] > lanes[i - whole] ? x[i] : lanes[i - whole];
    }
    for (size_t half = SUM_LANES / 2; half > 0; half /= 2) {
        for (size_t j = 0; j < half; j++) {
            lanes[j] = lanes[j + half] > lanes[j] ? lanes[j + half] : lanes[j];
        }
    }
    return lanes[0];
}

INLINE float sum_of(const float *x, size_t width)
{
    float lanes[SUM_LANES] = {0};
    size_t whole = width - width % SUM_LANES;

    for (size_t i = 0; i < whole; i += SUM_LANES) {
        for (size_t j = 0; j < SUM_LANES; j++) {
            lanes[j] += x[i + j];
        }
    }
    for (size_t i = whole; i < width; i++) {
        lanes[i - whole] += x[i];
    }
    for (size_t half = SUM_LANES / 2; half > 0; half /= 2) {
        for (size_t j = 0; j < half; j++) {
            lanes[j] += lanes[j + half];
        }
    }
    return lanes[0];
}

static void softmax(const float *restrict x, size_t rows, size_t width, float *restrict out)
{
    /* Rows are short, so their ends would cost the exponentials most: these take no rows. */
    for (size_t r = 0; r < rows; r++) {
        const float top = greatest(x + r * width, width);
        for (size_t i = r * width; i < (r + 1) * width; i++) {
            out[i] = x[i] - top;
        }
    }
    for (size_t i = 0; i < rows * width; i++) {
        out[i] = exp_below(out[i]);
    }
    for (size_t r = 0; r < rows; r++, out += width) {
        const float share = 1.0f / sum_of(out, width);
        for (size_t c = 0; c < width; c++) {
            out[c] *= share;
        }
    }
}

static void approach(float *restrict to, const float *restrict from, float rate, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] += rate * (from[i] - to[i]);
    }
}

static void add(float *restrict to, const float *restrict from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] += from[i];
    }
}

static void sum(const float *restrict a, const float *restrict b, float *restrict out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = a[i] + b[i];
    }
}

static void unit_from_u8(const uint8_t *restrict bytes, float *restrict out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)bytes[i] / 255.0f;
    }
}

const aq_passes AQ_PASSES_TABLE = {
    .name = AQ_PASSES_NAME,
    .cpu_flags = AQ_PASSES_CPU_FLAGS,
    .bias_activate = bias_activate,
    .activate_backward = activate_backward,
    .sum_squares = sum_squares,
    .adam = adam,
    .unit_from_u8 = unit_from_u8,
    .fake_quant_weights = fake_quant_weights,
    .fake_quant_rows = fake_quant_rows,
    .softmax = softmax,
    .squash = squash,
    .approach = approach,
    .add = add,
    .sum = sum,
    .norm_forward = norm_forward,
    .norm_backward = norm_backward,
    .gru_forward = gru_forward,
    .gru_backward = gru_backward,
    .pool_backward = pool_backward,
};
