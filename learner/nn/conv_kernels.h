/*
 * Convolution kernels: products over patches of an image that lie where they are, without a copy of
 * them (im2col). A patch is `runs` stretches of memory, equally far apart; the patches of a row of
 * pixels are equally far apart, too, and so are the rows.
 *
 * A word is 32 bits: in fp32 a float, in bf16 a pair of values, the first one in the low half. So
 * one source, conv_rung.c, is compiled once per instruction set and once more for bf16; sums are in
 * fp32, in one order, which is not the same on every rung. The vectors of a matrix's row are padded
 * to whole ones: it is in panels of two vectors, the last one of one where that is enough.
 *
 * No state; any thread.
 */
#ifndef AQ_LEARNER_NN_CONV_KERNELS_H
#define AQ_LEARNER_NN_CONV_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Patches of (rows, columns) pixels; distances are in bytes. */
typedef struct aq_patches {
    const void *first;
    uint32_t rows, columns;
    size_t row, column; /* from patch to patch */
    uint32_t runs, run_words;
    size_t run; /* from run to run */
} aq_patches;

/* c[pixel] = sum over the words of its patch times rows of `panels`. */
typedef struct aq_conv_product {
    aq_patches patches;
    const uint32_t *panels; /* (runs * run_words, width) */
    uint32_t width;         /* of a pixel of c */
    float *c;
    size_t c_row, c_column; /* floats */
} aq_conv_product;

/* sums[word] += sum over pixels of that word of its patch times d[pixel]. In bf16 a pixel is two
 * neighbours, and a word is the same value of both. */
typedef struct aq_conv_weights {
    aq_patches patches;
    const uint32_t *d; /* (rows, columns, width, padded) */
    uint32_t width;
    float *sums; /* panels of (runs * run_words, width) */
} aq_conv_weights;

typedef struct aq_conv_kernels {
    uint32_t cpu_flags;
    uint32_t lanes; /* of a vector */
    void (*product)(const aq_conv_product *product);
    void (*weights)(const aq_conv_weights *weights); /* NULL: another format has one */
    /* In bf16 alone: values rounded, ties to even; and pairs of two rows of values, of which
     * NULL is zeros. */
    void (*round)(const float *x, size_t count, uint16_t *out);
    void (*pair)(const float *low, const float *high, size_t count, uint32_t *out);
} aq_conv_kernels;

const aq_conv_kernels *aq_conv_kernels_best(void);
const aq_conv_kernels *aq_conv_kernels_bf16(void); /* NULL: none, or not for this processor */

#endif
