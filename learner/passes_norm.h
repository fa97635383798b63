/*
 * Layer normalization in the passes. With n = (x - mean) / sqrt(variance + AQ_NORM_EPSILON) over a
 * row of x, and h = d * gain for the gradient d of what the pass gives:
 *
 *   forward   out = gain * n
 *   backward  d_gain = sum over rows of d * n
 *             d_x = (h - mean(h) - n * mean(h * n)) / sqrt(variance + AQ_NORM_EPSILON)
 *
 * Private to passes_rung.c. Static, because each rung's library is compiled with flags of its own.
 * Sums are in double, in parts that are the same on every rung.
 */
#ifndef AQ_LEARNER_PASSES_NORM_H
#define AQ_LEARNER_PASSES_NORM_H

#include <math.h>
#include <string.h>

#include "common/rl/layer_spec.h"
#include "learner/passes.h"

/* A sum is taken in NORM_PARTS vectors of the compiler's, small enough for it to keep them in
 * registers. */
enum { NORM_WIDTH = 4, NORM_PARTS = 4, NORM_LANES = NORM_WIDTH * NORM_PARTS };
typedef float norm_floats __attribute__((vector_size(NORM_WIDTH * sizeof(float))));
typedef double norm_sums __attribute__((vector_size(NORM_WIDTH * sizeof(double))));

static inline double add_up(const norm_sums *parts)
{
    const norm_sums sum = (parts[0] + parts[2]) + (parts[1] + parts[3]);
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

static inline double row_sum(const float *x, size_t width)
{
    const size_t whole = width - width % NORM_LANES;
    norm_sums sums[NORM_PARTS] = {{0}};
    double rest = 0.0;
    for (size_t i = 0; i < whole; i += NORM_LANES) {
        for (size_t p = 0; p < NORM_PARTS; p++) {
            norm_floats part;
            memcpy(&part, x + i + p * NORM_WIDTH, sizeof(part));
            sums[p] += __builtin_convertvector(part, norm_sums);
        }
    }
    for (size_t i = whole; i < width; i++) {
        rest += (double)x[i];
    }
    return add_up(sums) + rest;
}

/* Sum of (x - center)^2. */
static inline double row_squares(const float *x, size_t width, double center)
{
    const size_t whole = width - width % NORM_LANES;
    norm_sums sums[NORM_PARTS] = {{0}};
    double rest = 0.0;
    for (size_t i = 0; i < whole; i += NORM_LANES) {
        for (size_t p = 0; p < NORM_PARTS; p++) {
            norm_floats part;
            memcpy(&part, x + i + p * NORM_WIDTH, sizeof(part));
            const norm_sums apart = __builtin_convertvector(part, norm_sums) - center;
            sums[p] += apart * apart;
        }
    }
    for (size_t i = whole; i < width; i++) {
        rest += ((double)x[i] - center) * ((double)x[i] - center);
    }
    return add_up(sums) + rest;
}

static void norm_forward(const float *restrict x, const float *restrict gain, size_t rows,
                         size_t width, aq_norm_row *restrict ret_rows, float *restrict out)
{
    for (size_t r = 0; r < rows; r++, x += width, out += width) {
        const double mean = row_sum(x, width) / (double)width;
        const double variance = row_squares(x, width, mean) / (double)width;
        const float center = (float)mean;
        const float inverse = (float)(1.0 / sqrt(variance + (double)AQ_NORM_EPSILON));
        for (size_t i = 0; i < width; i++) {
            out[i] = gain[i] * ((x[i] - center) * inverse);
        }
        ret_rows[r] = (aq_norm_row){.mean = center, .inverse = inverse};
    }
}

/* Sums over a row of h and of h * n. */
static inline void row_slopes(const float *d, const float *x, const float *gain, aq_norm_row row,
                              size_t width, double *ret_h, double *ret_hn)
{
    const size_t whole = width - width % NORM_LANES;
    norm_sums h_sums[NORM_PARTS] = {{0}}, hn_sums[NORM_PARTS] = {{0}};
    double h_rest = 0.0, hn_rest = 0.0;
    for (size_t i = 0; i < whole; i += NORM_LANES) {
        for (size_t p = 0; p < NORM_PARTS; p++) {
            const size_t at = i + p * NORM_WIDTH;
            norm_floats h, n, gains;
            memcpy(&h, d + at, sizeof(h));
            memcpy(&n, x + at, sizeof(n));
            memcpy(&gains, gain + at, sizeof(gains));
            h *= gains;
            n = (n - row.mean) * row.inverse;
            h_sums[p] += __builtin_convertvector(h, norm_sums);
            hn_sums[p] += __builtin_convertvector(h * n, norm_sums);
        }
    }
    for (size_t i = whole; i < width; i++) {
        const float h = d[i] * gain[i];
        h_rest += (double)h;
        hn_rest += (double)(h * ((x[i] - row.mean) * row.inverse));
    }
    *ret_h = add_up(h_sums) + h_rest;
    *ret_hn = add_up(hn_sums) + hn_rest;
}

static void norm_backward(const float *restrict d, const float *restrict x,
                          const float *restrict gain, const aq_norm_row *restrict kept, size_t rows,
                          size_t width, float *restrict ret_d_gain, float *restrict d_x)
{
    memset(ret_d_gain, 0, width * sizeof(*ret_d_gain));
    for (size_t r = 0; r < rows; r++, d += width, x += width, d_x += width) {
        const aq_norm_row row = kept[r];
        double h_sum, hn_sum;
        row_slopes(d, x, gain, row, width, &h_sum, &hn_sum);
        const float h_mean = (float)(h_sum / (double)width);
        const float hn_mean = (float)(hn_sum / (double)width);
        for (size_t i = 0; i < width; i++) {
            const float n = (x[i] - row.mean) * row.inverse;
            ret_d_gain[i] += d[i] * n;
            d_x[i] = row.inverse * ((d[i] * gain[i] - h_mean) - n * hn_mean);
        }
    }
}

#endif
