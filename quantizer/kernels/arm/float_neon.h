/*
 * Layers of float weights with NEON: a whole kernel but for how a weight is loaded. A file of one
 * format defines WEIGHT_UNIT_BYTES and load_weight(bytes), which gives four floats, includes this,
 * and names packed_bytes, pack and run in its table entry.
 */
#ifndef AQ_QUANTIZER_KERNELS_ARM_FLOAT_NEON_H
#define AQ_QUANTIZER_KERNELS_ARM_FLOAT_NEON_H

#include "quantizer/kernels/arm/lanes_neon.h"
#include "quantizer/kernels/tile_job.h"

/* Two pipes times four cycles of latency. */
enum { ACCUMULATORS_MIN = 8 };
#define TILE_BLOCKS 4

typedef float32x4_t accumulator;
typedef float32x4_t weight_vector;
typedef float32x4_t input_vector;

typedef struct block_constants {
    float32x4_t bias;
} block_constants;

static inline float32x4_t accumulator_zero(void)
{
    return vdupq_n_f32(0.0f);
}

static inline float32x4_t accumulator_add(float32x4_t a, float32x4_t b)
{
    return vaddq_f32(a, b);
}

static inline float32x4_t broadcast(const unsigned char *x)
{
    float unit;
    memcpy(&unit, x, sizeof(unit));
    return vdupq_n_f32(unit);
}

static inline float32x4_t multiply_add(float32x4_t sum, float32x4_t x, float32x4_t weight)
{
    return vfmaq_f32(sum, x, weight);
}

static inline block_constants load_constants(const tile_job *job, uint32_t block)
{
    return (block_constants){.bias = vld1q_f32(job->bias + block * LANES)};
}

static inline float32x4_t finish(const tile_job *job, block_constants constants, uint32_t row,
                                 float32x4_t dot)
{
    (void)job;
    (void)row;
    return vaddq_f32(dot, constants.bias);
}

#include "quantizer/kernels/tile_float.h"

#endif
