/*
 * The sums of int8 layers, and how they are finished, however the products are made.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_SUMS_X86_H
#define AQ_QUANTIZER_KERNELS_X86_SUMS_X86_H

#include "quantizer/kernels/tile_job.h"
#include "quantizer/kernels/x86/lanes_x86.h"

typedef int_lanes accumulator;

typedef struct block_constants {
    int_lanes sum;
    float_lanes scale, bias;
} block_constants;

static inline accumulator accumulator_zero(void)
{
    return all_ints(0);
}

static inline accumulator accumulator_add(accumulator a, accumulator b)
{
    return a + b;
}

static inline block_constants load_constants(const tile_job *job, uint32_t block)
{
    return (block_constants){.sum = load_ints(job->sum + block * LANES),
                             .scale = load_lanes(job->scale + block * LANES),
                             .bias = load_lanes(job->bias + block * LANES)};
}

/* y = (s * scale) * (dot - zero_point * sum + offset) + bias, each operation rounded once. */
static inline float_lanes finish_dot(const tile_job *job, block_constants constants, uint32_t row,
                                     accumulator dot, int32_t zero_point)
{
    const int_lanes centred = dot + job->quant[row].offset - zero_point * constants.sum;
    const float_lanes factor = job->quant[row].scale * constants.scale;
    return factor * float_of_ints(centred) + constants.bias;
}

#endif
