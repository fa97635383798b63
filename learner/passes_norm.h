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

enum { NORM_LANES = 16 };

static inline double add_up(const double *lanes)
{
    double sum = 0;
    for (size_t j = 0; j < NORM_LANES; j++) {
        sum += lanes[j];
    }
    return sum;
}

/* Sum over a row of x - center, and of its square. */
static inline void row_moments(const float *x, size_t width, double center, double *ret_sum,
                               double *ret_squares)
{
    double sums[NORM_LANES] = {0}, squares[NORM_LANES] = {0};
    const size_t whole = width - width % NORM_LANES;
    for (size_t i = 0; i < whole; i += NORM_LANES) {
        for (size_t j = 0; j < NORM_LANES; j++) {
            const double value = (double)x[i + j] - center;
            sums[j] += value;
            squares[j] += value * value;
        }
    }
    for (size_t i = whole; i < width; i++) {
        const double value = (double)x[i] - center;
        sums[i - whole] += value;
        squares[i - whole] += value * value;
    }
    *ret_sum = add_up(sums);
    *ret_squares = add_up(squares);
}

static void norm_forward(const float *restrict x, const float *restrict gain, size_t rows,
                         size_t width, aq_norm_row *restrict ret_rows, float *restrict out)
{
    for (size_t r = 0; r < rows; r++, x += width, out += width) {
        double sum, squares, rest;
        row_moments(x, width, 0.0, &sum, &squares);
        const double mean = sum / (double)width;
        row_moments(x, width, mean, &rest, &squares);
        const double variance = squares / (double)width;
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
    double hs[NORM_LANES] = {0}, hns[NORM_LANES] = {0};
    const size_t whole = width - width % NORM_LANES;
    for (size_t i = 0; i < whole; i += NORM_LANES) {
        for (size_t j = 0; j < NORM_LANES; j++) {
            const float h = d[i + j] * gain[i + j];
            hs[j] += (double)h;
            hns[j] += (double)(h * ((x[i + j] - row.mean) * row.inverse));
        }
    }
    for (size_t i = whole; i < width; i++) {
        const float h = d[i] * gain[i];
        hs[i - whole] += (double)h;
        hns[i - whole] += (double)(h * ((x[i] - row.mean) * row.inverse));
    }
    *ret_h = add_up(hs);
    *ret_hn = add_up(hns);
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
