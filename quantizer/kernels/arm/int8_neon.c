/*
 * int8 layers with NEON alone, for processors that have no dot product (before ARMv8.2, such as
 * Cortex-A53 and A72). Products of bytes fit into int16, and no two of them are added there: two of
 * -128 * -128 would overflow. SADALP adds them in pairs into int32.
 */
#include "quantizer/kernels/arm/levels_neon.h"
#include "quantizer/kernels/arm/qkernels_arm.h"

/* An accumulator is two chains already. */
enum { ACCUMULATORS_MIN = 4 };
#define TILE_BLOCKS 2

/* Two int32 an output, to be added: those of outputs 0 and 1, of outputs 2 and 3. */
typedef struct accumulator {
    int32x4_t low, high;
} accumulator;

static inline accumulator accumulator_zero(void)
{
    return (accumulator){vdupq_n_s32(0), vdupq_n_s32(0)};
}

static inline accumulator accumulator_add(accumulator a, accumulator b)
{
    return (accumulator){vaddq_s32(a.low, b.low), vaddq_s32(a.high, b.high)};
}

static inline accumulator multiply_add(accumulator sum, int8x16_t q, int8x16_t weight)
{
    const int16x8_t low = vmull_s8(vget_low_s8(q), vget_low_s8(weight));
    const int16x8_t high = vmull_high_s8(q, weight);
    return (accumulator){vpadalq_s16(sum.low, low), vpadalq_s16(sum.high, high)};
}

static inline float32x4_t finish(const tile_job *job, block_constants constants, uint32_t row,
                                 accumulator dot)
{
    return finish_levels(job, constants, row, vpaddq_s32(dot.low, dot.high));
}

#include "quantizer/kernels/tile_int8.h"

const aq_linear_kernel aq_int8_neon = TILE_KERNEL;
