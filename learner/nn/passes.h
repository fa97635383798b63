/*
 * Passes: what a training step does besides matrix products, each as one walk over memory.
 *
 * One source, passes_rung.c, is compiled once per instruction set into a small static library of
 * its own; the best rung that aq_cpu_flags() allows is used. Every sum has a fixed order and no
 * operation is contracted, so all rungs give the same bits.
 *
 * No state; any thread.
 */
#ifndef AQ_LEARNER_NN_PASSES_H
#define AQ_LEARNER_NN_PASSES_H

#include <stddef.h>
#include <stdint.h>

#include "common/policy/layer_spec.h"

/* Coefficients of one Adam step; see optimizer.h. */
typedef struct aq_adam_pass {
    float gradient_scale;
    float beta1, beta2;
    float step_size; /* learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t) */
    float epsilon;   /* epsilon * sqrt(1 - beta2^t) */
    float decay;     /* learning_rate * weight_decay */
} aq_adam_pass;

/* Of one row that was normalized: what its backward pass needs. */
typedef struct aq_norm_row {
    float mean;
    float inverse; /* 1 / sqrt(variance + AQ_NORM_EPSILON) */
} aq_norm_row;

/* The way back through a normalization and its activation, over (rows, width). */
typedef struct aq_norm_backward {
    size_t rows, width;
    uint32_t activation;
    float *d;                       /* of out; scratch */
    const float *out, *x;           /* what it gave, and what it was given */
    const float *gain;              /* (width) */
    const aq_norm_row *kept;        /* (rows) */
    float *ret_d_gain, *ret_d_bias; /* (width) */
    float *d_x;                     /* (rows, width) */
} aq_norm_backward;

/* Rows of a gru, side by side: the states before, the three gates, and what the state says to the
 * last of them. */
typedef struct aq_gru_rows {
    size_t count, width;
    const float *before; /* (count, width) */
    float *gates;        /* (count, 3 width) */
    float *said;         /* (count, width) */
} aq_gru_rows;

/* Draws of squashed Gaussians, element by element; the logarithms of their deviations are held
 * between the bounds of gaussian.h. */
typedef struct aq_squash_pass {
    size_t count;
    const float *mean, *log_deviation, *noise;
    float *ret_deviation;
    float *ret_action;      /* tanh(mean + deviation * noise) */
    float *ret_log_density; /* of that action, from -1 to 1 */
} aq_squash_pass;

typedef struct aq_passes {
    const char *name;   /* "generic", "avx2", "avx512" */
    uint32_t cpu_flags; /* what it needs, of enum aq_cpu_flag */

    /* values[r][c] = act(values[r][c] + bias[c]), rows `stride` apart; NaN stays NaN. */
    void (*bias_activate)(float *values, const float *bias, size_t rows, size_t width,
                          size_t stride, uint32_t activation);

    /* d[r][c] *= act'(z), told from out = act(z) alone; ret_sums[c] = sum over r of d[r][c]. */
    void (*activate_backward)(float *d, const float *out, size_t rows, size_t width,
                              uint32_t activation, float *ret_sums);

    /* Sum of squares, in double. */
    double (*sum_squares)(const float *values, size_t count);

    /* m += (1 - beta1) (g - m);  v += (1 - beta2) (g g - v)
     * p -= step_size m / (sqrt(v) + epsilon)
     * Moments below the smallest normal number become 0: a weight that gets no gradient any more
     * would otherwise keep denormal moments forever, which some processors handle very slowly. */
    void (*adam)(const aq_adam_pass *pass, float *parameters, float *m, float *v,
                 const float *gradient, size_t count);

    /* out = bytes / 255 */
    void (*unit_from_u8)(const uint8_t *bytes, float *out, size_t count);

    /* Each `group` consecutive columns of a row of w (rows, columns), the last ones fewer:
     *   scale = max |w| / levels;  out = scale * rint(w / scale), ties to even
     * or zeros where the scale is below FLT_MIN. `levels` is whole, 1 to 127. */
    void (*fake_quant_weights)(const float *w, size_t rows, size_t columns, size_t group,
                               float levels, float *out);

    /* Each row of x (rows, width) as the kernels quantize it (qkernels.h) and back again:
     *   low = min(0, min x), high = max(0, max x), s = high * (1/255) - low * (1/255)
     *   out = s * (clamp(rint(x * (1/s)) + z, 0, 255) - z),  z = rint(-low * (1/s))
     * or zeros where s < FLT_MIN. A NaN or infinite value makes its row NaN: it should be seen. */
    void (*fake_quant_rows)(const float *x, size_t rows, size_t width, float *out);

    /* out[r][c] = act(gain[c] * (x[r][c] - mean[r]) / sqrt(variance[r] + AQ_NORM_EPSILON) +
     * bias[c]), and what the way back needs of each row. */
    void (*norm_forward)(const float *x, const float *gain, const float *bias, size_t rows,
                         size_t width, uint32_t activation, aq_norm_row *ret_rows, float *out);

    /* From the gradient of that `out`. */
    void (*norm_backward)(const aq_norm_backward *pass);

    /* `gates`, what the state says, become r, z and n, with x (count, 3 width) what the input does;
     * `said` is what they said to n, and out (count, width) the state behind. */
    void (*gru_forward)(const aq_gru_rows *rows, const float *x, float *out);

    /* From d, the gradient of that `out`, the gradient of x, and in `gates` that of what they were.
     * What is left in d is that of the state before, past the gates. */
    void (*gru_backward)(const aq_gru_rows *rows, float *d, float *d_x);

    /* From the gradient of one image that a pool gave to that of the image that it was given, x. */
    void (*pool_backward)(const aq_conv_shape *shape, const float *x, const float *d, float *d_x);

    /* out[r][c] = exp(x[r][c]) / sum over c of exp(x[r][c]); a NaN or +inf makes its row NaN. */
    void (*softmax)(const float *x, size_t rows, size_t width, float *out);

    /* NaN stays NaN. */
    void (*squash)(const aq_squash_pass *pass);

    /* to[i] += rate * (from[i] - to[i]) */
    void (*approach)(float *to, const float *from, float rate, size_t count);

    /* to[i] += from[i] */
    void (*add)(float *to, const float *from, size_t count);

    /* out[i] = a[i] + b[i] */
    void (*sum)(const float *a, const float *b, float *out, size_t count);
} aq_passes;

/* The best rung under aq_cpu_flags(). Static storage. */
const aq_passes *aq_passes_best(void);

/* The rungs of this build, best first, of which the last needs nothing; NULL past it. */
const aq_passes *aq_passes_rung(size_t index);

#endif
