/*
 * Layer normalization in the passes, with the activation that follows it. With
 * n = (x - mean) / sqrt(variance + AQ_NORM_EPSILON) over a row of x, the slope g of what goes into
 * the activation, and h = g * gain:
 *
 *   forward   out = act(gain * n + bias)
 *   backward  d_bias = sum over rows of g;  d_gain = sum over rows of g * n
 *             d_x = (h - mean(h) - n * mean(h * n)) / sqrt(variance + AQ_NORM_EPSILON)
 *
 * Private to passes_rung.c. Static, because each rung's library is compiled with flags of its own.
 * A sum is taken in float, in NORM_LANES parts that are the same on every rung: of a thousand
 * values a part has some dozens, which float holds well enough.
 */
#ifndef AQ_LEARNER_NN_PASSES_NORM_H
#define AQ_LEARNER_NN_PASSES_NORM_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/policy/layer_spec.h"
#include "learner/nn/passes.h"
#include "learner/nn/passes_activate.h"

/* A vector of the compiler's, which it splits where the rung's are narrower. */
enum { NORM_LANES = 16, NORM_ROWS = 4 };
typedef float norm_lanes __attribute__((vector_size(NORM_LANES * sizeof(float))));

INLINE void norm_load(const float *x, norm_lanes *lanes)
{
    memcpy(lanes, x, sizeof(*lanes));
}

INLINE float norm_add_up(norm_lanes lanes)
{
    float sum[NORM_LANES];
    lanes +=
        __builtin_shufflevector(lanes, lanes, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    lanes += __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3);
    lanes += __builtin_shufflevector(lanes, lanes, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1);
    lanes += __builtin_shufflevector(lanes, lanes, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0);
    memcpy(sum, &lanes, sizeof(sum));
    return sum[0];
}

/* Of each row, the sum of x - center, or of its square, in two parts and what is left over. */
INLINE void rows_sums(const float *x, size_t rows, size_t width, const float *center, bool squares,
                      float *ret_sums)
{
    const size_t whole = width - width % (2 * NORM_LANES);
    norm_lanes even[NORM_ROWS] = {{0}}, odd[NORM_ROWS] = {{0}}, value;
    for (size_t i = 0; i < whole; i += 2 * NORM_LANES) {
        for (size_t r = 0; r < rows; r++) {
            __builtin_prefetch(x + (r + rows) * width + i);
            __builtin_prefetch(x + (r + rows) * width + i + NORM_LANES);
            norm_load(x + r * width + i, &value);
            value -= center[r];
            even[r] += squares ? value * value : value;
            norm_load(x + r * width + i + NORM_LANES, &value);
            value -= center[r];
            odd[r] += squares ? value * value : value;
        }
    }
    for (size_t r = 0; r < rows; r++) {
        float rest = 0.0f;
        for (size_t i = whole; i < width; i++) {
            const float one = x[r * width + i] - center[r];
            rest += squares ? one * one : one;
        }
        ret_sums[r] = norm_add_up(even[r] + odd[r]) + rest;
    }
}

/* Several rows at once, since the sums of one wait for each other; the next ones, which come from
 * the third cache, are asked for meanwhile. */
INLINE void norm_rows_of(const float *x, size_t rows, size_t width, aq_norm_row *ret_rows)
{
    float center[NORM_ROWS] = {0}, sums[NORM_ROWS];
    rows_sums(x, rows, width, center, false, sums);
    for (size_t r = 0; r < rows; r++) {
        center[r] = sums[r] / (float)width;
    }
    rows_sums(x, rows, width, center, true, sums);
    for (size_t r = 0; r < rows; r++) {
        const float variance = sums[r] / (float)width;
        ret_rows[r] =
            (aq_norm_row){.mean = center[r], .inverse = 1.0f / sqrtf(variance + AQ_NORM_EPSILON)};
    }
}

INLINE void norm_forward_rows(const float *restrict x, const float *restrict gain,
                              const float *restrict bias, size_t rows, size_t width,
                              aq_norm_row *restrict ret_rows, float *restrict out, scalar_fn *act)
{
    const size_t whole = rows - rows % NORM_ROWS;
    for (size_t r = 0; r < rows; r++, x += width, out += width) {
        if (r < whole && r % NORM_ROWS == 0) {
            norm_rows_of(x, NORM_ROWS, width, ret_rows + r);
        } else if (r >= whole) {
            norm_rows_of(x, 1, width, ret_rows + r);
        }
        const aq_norm_row row = ret_rows[r];
        for (size_t i = 0; i < width; i++) {
            out[i] = act(gain[i] * ((x[i] - row.mean) * row.inverse) + bias[i]);
        }
    }
}

static void norm_forward(const float *x, const float *gain, const float *bias, size_t rows,
                         size_t width, uint32_t activation, aq_norm_row *ret_rows, float *out)
{
    WITH_ACTIVATION(activation, act, norm_forward_rows, x, gain, bias, rows, width, ret_rows, out);
}

/* Means over a row of h and of h * n. */
INLINE void row_slopes(const float *g, const float *x, const float *gain, aq_norm_row row,
                       size_t width, float *ret_h, float *ret_hn)
{
    const size_t whole = width - width % NORM_LANES;
    norm_lanes h_sum = {0}, hn_sum = {0}, h, n, gains;
    float h_rest = 0.0f, hn_rest = 0.0f;
    for (size_t i = 0; i < whole; i += NORM_LANES) {
        norm_load(g + i, &h);
        norm_load(x + i, &n);
        norm_load(gain + i, &gains);
        h *= gains;
        h_sum += h;
        hn_sum += h * ((n - row.mean) * row.inverse);
    }
    for (size_t i = whole; i < width; i++) {
        const float one = g[i] * gain[i];
        h_rest += one;
        hn_rest += one * ((x[i] - row.mean) * row.inverse);
    }
    *ret_h = (norm_add_up(h_sum) + h_rest) / (float)width;
    *ret_hn = (norm_add_up(hn_sum) + hn_rest) / (float)width;
}

INLINE void norm_backward_rows(const aq_norm_backward *pass, derivative_fn *back)
{
    const size_t width = pass->width;
    const float *restrict x = pass->x, *restrict out = pass->out, *restrict gain = pass->gain;
    float *restrict d = pass->d, *restrict d_x = pass->d_x;
    float *restrict d_gain = pass->ret_d_gain, *restrict d_bias = pass->ret_d_bias;
    memset(d_gain, 0, width * sizeof(*d_gain));
    memset(d_bias, 0, width * sizeof(*d_bias));
    for (size_t r = 0; r < pass->rows; r++) {
        const aq_norm_row row = pass->kept[r];
        float h_mean, hn_mean;
        for (size_t i = 0; i < width; i++) {
            const float g = back(d[i], out[i]);
            d[i] = g;
            d_bias[i] += g;
            d_gain[i] += g * ((x[i] - row.mean) * row.inverse);
        }
        row_slopes(d, x, gain, row, width, &h_mean, &hn_mean);
        for (size_t i = 0; i < width; i++) {
            const float n = (x[i] - row.mean) * row.inverse;
            d_x[i] = row.inverse * ((d[i] * gain[i] - h_mean) - n * hn_mean);
        }
        d += width;
        out += width;
        x += width;
        d_x += width;
    }
}

static void norm_backward(const aq_norm_backward *pass)
{
    WITH_ACTIVATION(pass->activation, back, norm_backward_rows, pass);
}

#endif
