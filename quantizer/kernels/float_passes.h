/*
 * Float passes: what the engine computes in fp32 whatever the weights' format: activation
 * functions, the layer norm and the heads. Tables like those of the kernels, one for each width of
 * vector, but of one source (float_passes_rung.c): every sum has a fixed order, nothing is
 * contracted, division and square root are rounded correctly, and no mathematics library is called,
 * whose results differ between its versions. So all of them give the same bits, except which NaN.
 *
 * With u = 2^-24, and numbers whose squares don't overflow:
 *
 *   activate     within AQ_ACTIVATE_ULP units in the last place of the exact tanh and expm1
 *   norm         z = (x - mean) / deviation, k = width / 16 + 5, d = k u (mean of |x|) / deviation:
 *                |y - exact| <= |g| (d + |z| (k u + d d)) + 8 u (|g z| + |b|)
 *   dueling      within (choices + 3) u (|value| + |advantage| + mean of |advantages|)
 *   categorical  within (atoms / 8 + 24) u (largest |atom|)
 *
 * Sums over a row are taken in AQ_FLOAT_LANES interleaved parts, which are then added in pairs:
 * part i and part i + 8, then i and i + 4, i + 2, i + 1.
 *
 * No state; any thread.
 */
#ifndef AQ_QUANTIZER_KERNELS_FLOAT_PASSES_H
#define AQ_QUANTIZER_KERNELS_FLOAT_PASSES_H

#include <stddef.h>
#include <stdint.h>

#include "common/policy/layer_spec.h"

#define AQ_ACTIVATE_ULP 3

enum { AQ_FLOAT_LANES = 16 };

/* Rows of floats, `stride` floats from one to the next. */
typedef struct aq_float_rows {
    float *values;
    size_t stride;
    size_t rows;
} aq_float_rows;

/* `bytes` in place of the values, where not NULL: each stands for itself divided by 255. */
typedef struct aq_const_rows {
    const float *values;
    size_t stride;
    const uint8_t *bytes;
} aq_const_rows;

typedef struct aq_float_passes {
    const char *name;   /* "generic", "avx2", "avx512" */
    uint32_t cpu_flags; /* what it needs, of enum aq_cpu_flag */

    /* y (rows, width) in place. NaN stays NaN. */
    void (*activate)(uint32_t activation, const aq_float_rows *y, size_t width);

    /* The layers of layer_spec.h without their activation: y.rows rows of x into y. They don't
     * overlap. */
    void (*norm)(const aq_const_rows *x, size_t width, const float *gain, const float *bias,
                 const aq_float_rows *y);
    void (*dueling)(const aq_const_rows *x, const aq_head_shape *head, const aq_float_rows *y);
    /* `atoms` are the values of the head's atoms. */
    void (*categorical)(const aq_const_rows *x, const aq_head_shape *head, const float *atoms,
                        const aq_float_rows *y);

    void (*pool)(const aq_const_rows *x, const aq_conv_shape *shape, const aq_float_rows *y);
    /* y = a + b */
    void (*add)(const aq_const_rows *a, const aq_const_rows *b, size_t width,
                const aq_float_rows *y);

    /* The sum of `count` levels; count <= 2^23. */
    int32_t (*level_sum)(const uint8_t *levels, size_t count);

    /* For pictures: the greatest byte, and each byte times a factor, rounded (ties to even), of
     * which the lowest eight bits are kept. 0 <= byte * factor < 2^22. */
    uint8_t (*greatest_byte)(const uint8_t *bytes, size_t count);
    void (*scale_bytes)(const uint8_t *bytes, size_t count, float factor, uint8_t *out);
} aq_float_passes;

/* The widest under `cpu_flags` (aq_cpu_flags()). Static storage. */
const aq_float_passes *aq_float_passes_select(uint32_t cpu_flags);

/* Those that this build has, widest first, of which the last needs nothing; NULL past it. */
const aq_float_passes *aq_float_passes_rung(size_t index);

#endif
