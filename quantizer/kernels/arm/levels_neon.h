/*
 * Layers of int8 weights on Arm: what the plain kernel and the one with dot products share. Private
 * to them.
 *
 * Arm multiplies bytes that are both signed or both unsigned. So the levels of the activations are
 * moved from 0..255 to -128..127, and the zero point moves along:
 *
 *   sum_i q[i] w[i] - z * sum = sum_i (q[i] - 128) w[i] - (z - 128) * sum
 */
#ifndef AQ_QUANTIZER_KERNELS_ARM_LEVELS_NEON_H
#define AQ_QUANTIZER_KERNELS_ARM_LEVELS_NEON_H

#include "quantizer/kernels/arm/lanes_neon.h"
#include "quantizer/kernels/tile_job.h"

typedef int8x16_t weight_vector;
typedef int8x16_t input_vector;

typedef struct block_constants {
    int32x4_t sum;
    float32x4_t scale, bias;
} block_constants;

static inline int8x16_t load_weight(const unsigned char *from)
{
    return vld1q_s8((const int8_t *)from);
}

static inline int8x16_t broadcast(const unsigned char *q)
{
    uint32_t unit;
    memcpy(&unit, q, sizeof(unit));
    const uint8x16_t levels = vreinterpretq_u8_u32(vdupq_n_u32(unit));
    return vreinterpretq_s8_u8(veorq_u8(levels, vdupq_n_u8(0x80)));
}

static inline block_constants load_constants(const tile_job *job, uint32_t block)
{
    return (block_constants){.sum = vld1q_s32(job->sum + block * LANES),
                             .scale = vld1q_f32(job->scale + block * LANES),
                             .bias = vld1q_f32(job->bias + block * LANES)};
}

/* y = (s * scale) * (dot - z * sum + offset) + bias, each operation rounded once. */
static inline float32x4_t finish_levels(const tile_job *job, block_constants constants,
                                        uint32_t row, int32x4_t dot)
{
    const aq_row_quant quant = job->quant[row];
    const int32x4_t moved = vaddq_s32(dot, vdupq_n_s32(quant.offset));
    const int32x4_t centred = vmlsq_n_s32(moved, constants.sum, quant.zero_point - 128);
    const float32x4_t factor = vmulq_n_f32(constants.scale, quant.scale);
    return vaddq_f32(vmulq_f32(factor, vcvtq_f32_s32(centred)), constants.bias);
}

#endif
