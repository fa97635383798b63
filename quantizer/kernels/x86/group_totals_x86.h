/*
 * From a group's dot products to a layer's results: what int4 and int2 share, however the products
 * are made.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_GROUP_TOTALS_X86_H
#define AQ_QUANTIZER_KERNELS_X86_GROUP_TOTALS_X86_H

#include "quantizer/kernels/x86/lanes_x86.h"

typedef struct group_constants {
    float_lanes scale;
    int_lanes sum;
} group_constants;

/* A sum lies in the lower half of its lane, for multiply_halves. */
static inline group_constants load_constants(const unsigned char *scales, const unsigned char *sums)
{
    group_constants constants = {.sum = load_halves(sums)};
    memcpy(&constants.scale, scales, sizeof(constants.scale));
    return constants;
}

/* total + scale * (dots / 2^shift - z * sum), each operation rounded once; the dot products are
 * multiples of 2^shift. */
static inline float_lanes total_add_shifted(float_lanes total, int_lanes dots,
                                            group_constants constants, int32_t zero_point,
                                            const int shift)
{
    const int_lanes offset = multiply_halves(constants.sum, all_ints(zero_point << shift));
    return total + constants.scale * float_of_ints((dots - offset) >> shift);
}

static inline float_lanes finish(float_lanes total, float scale, const float *bias)
{
    return scale * total + load_lanes(bias);
}

#endif
