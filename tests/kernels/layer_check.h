/*
 * What the checks of layers share: the sizes, the inputs, and running a layer on the reference and
 * on the rung under test. One thread.
 */
#ifndef AQ_TESTS_KERNELS_LAYER_CHECK_H
#define AQ_TESTS_KERNELS_LAYER_CHECK_H

#include "tests/kernels/kernel_check.h"

enum { LAYER_WIDTH_MAX = 4096, LAYER_WEIGHTS_MAX = 4096 * 272 };

typedef struct layer_shape {
    uint32_t inputs, outputs;
} layer_shape;

/* Every size with every number of rows that it is checked with, in turn, and what is drawn anew for
 * each: strides beyond the width, an activation. False past the last. Planted faults, which show in
 * small sizes, get those alone. */
typedef struct layer_case {
    layer_shape shape;
    size_t rows;
    uint32_t activation;
    size_t y_stride;
} layer_case;
bool layer_case_at(kernel_check *check, size_t index, layer_case *ret_case);

/* Values from `least` to `greatest`: any, or always an end, or both ends at random. */
enum fill { FILL_RANDOM, FILL_LEAST, FILL_GREATEST, FILL_EXTREMES, FILLS };
int32_t filled(aq_rng *rng, enum fill fill, int32_t least, int32_t greatest);

/* With a negative zero now and then. */
void fill_bias(aq_rng *rng, uint32_t outputs, float *bias);

/* What is odd about floats: nothing; NaN in one row; infinite, the greatest, the least and negative
 * zeros all over. */
enum oddity { ODDITY_NONE, ODDITY_NAN, ODDITY_ENDS, ODDITIES };
const char *oddity_text(enum oddity oddity);

/* Rows of levels with scales, zero points and offsets of all kinds, and of floats of many
 * magnitudes. They end at a page that faults; the next call reuses the memory. */
aq_kernel_input random_levels(aq_rng *rng, const layer_case *at, enum fill fill);
aq_kernel_input random_floats(aq_rng *rng, const layer_case *at, enum oddity oddity);

/* Packs and runs `layer`, whose sizes are set, on the reference and on the rung. The caller ends
 * the pair with output_pair_fini. */
void run_layer(kernel_check *check, const layer_case *at, const aq_snapshot_layer *layer,
               const aq_kernel_input *input, output_pair *y);

/* The same bits, NaN aside, everywhere that either wrote or not; and both margins hold. */
bool same_bits(const output_pair *y);

/* The rung's results are within the bound of qkernels.h, measured against sums in double, and it
 * wrote nothing else. `weights` are (outputs, inputs). */
bool within_bound(const layer_case *at, const float *weights, const float *bias,
                  const aq_kernel_input *input, const output_pair *y);

#endif
