/*
 * Passes: what a training step does besides matrix products, each as one walk over memory.
 *
 * One source, passes_rung.c, is compiled once per instruction set into a small static library of
 * its own; the best rung that aq_cpu_flags() allows is used. Every sum has a fixed order and no
 * operation is contracted, so all rungs give the same bits.
 *
 * No state; any thread.
 */
#ifndef AQ_LEARNER_PASSES_H
#define AQ_LEARNER_PASSES_H

#include <stddef.h>
#include <stdint.h>

/* Coefficients of one Adam step; see adam.h. */
typedef struct aq_adam_pass {
    float gradient_scale;
    float beta1, beta2;
    float step_size; /* learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t) */
    float epsilon;   /* epsilon * sqrt(1 - beta2^t) */
} aq_adam_pass;

typedef struct aq_passes {
    const char *name;   /* "generic", "avx2", "avx512" */
    uint32_t cpu_flags; /* what it needs, of enum aq_cpu_flag */

    /* values[r][c] = act(values[r][c] + bias[c]); NaN stays NaN. */
    void (*bias_activate)(float *values, const float *bias, size_t rows, size_t width,
                          uint32_t activation);

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
} aq_passes;

/* The best rung under aq_cpu_flags(). Static storage. */
const aq_passes *aq_passes_best(void);

/* The rungs of this build, best first, of which the last needs nothing; NULL past it. */
const aq_passes *aq_passes_rung(size_t index);

#endif
