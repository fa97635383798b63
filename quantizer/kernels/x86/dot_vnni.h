/*
 * The arithmetic of int8 layers, dense and sparse, with VNNI: vpdpbusd multiplies four bytes of
 * weights of each output by four activations and adds the four products into an int32, exactly.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_DOT_VNNI_H
#define AQ_QUANTIZER_KERNELS_X86_DOT_VNNI_H

#include "quantizer/kernels/x86/sums_x86.h"

/* Two pipes times four cycles of latency. */
enum { ACCUMULATORS_MIN = 8 };
#define TILE_BLOCKS FLOAT_TILE_BLOCKS
#ifdef FLOAT_TILE_ROWS
#define TILE_ROWS      FLOAT_TILE_ROWS
#define TILE_TALL_ROWS 10 /* a row of Nature's images is 20 or 9 */
#endif

typedef int_lanes weight_vector;
typedef int_lanes input_vector;

static inline int_lanes load_weight(const unsigned char *from)
{
    return load_ints(from);
}

static inline int_lanes broadcast(const unsigned char *q)
{
    int32_t unit;
    memcpy(&unit, q, sizeof(unit));
    return all_ints(unit);
}

static inline accumulator multiply_add(accumulator sum, int_lanes q, int_lanes weight)
{
    return multiply_add_bytes(sum, q, weight);
}

static inline float_lanes finish(const tile_job *job, block_constants constants, uint32_t row,
                                 accumulator dot)
{
    return finish_dot(job, constants, row, dot, job->quant[row].zero_point);
}

#endif
