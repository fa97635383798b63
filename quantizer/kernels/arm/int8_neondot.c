/*
 * int8 layers with NEON's dot product: SDOT multiplies 16 bytes of weights, 4 outputs x 4 inputs,
 * by four activations and adds each four products into an int32, exactly.
 */
#include "quantizer/kernels/arm/levels_neon.h"
#include "quantizer/kernels/arm/qkernels_arm.h"

/* Two pipes times four cycles of latency. */
enum { ACCUMULATORS_MIN = 8 };
#define TILE_BLOCKS 4

typedef int32x4_t accumulator;

static inline int32x4_t accumulator_zero(void)
{
    return vdupq_n_s32(0);
}

static inline int32x4_t accumulator_add(int32x4_t a, int32x4_t b)
{
    return vaddq_s32(a, b);
}

static inline int32x4_t multiply_add(int32x4_t sum, int8x16_t q, int8x16_t weight)
{
    return vdotq_s32(sum, q, weight);
}

static inline float32x4_t finish(const tile_job *job, block_constants constants, uint32_t row,
                                 int32x4_t dot)
{
    return finish_levels(job, constants, row, dot);
}

#include "quantizer/kernels/tile_int8.h"

const aq_linear_kernel aq_int8_neondot = TILE_KERNEL;
