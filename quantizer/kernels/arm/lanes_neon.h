/*
 * NEON vectors of 4 floats: what the kernels for Arm share. Private to them.
 */
#ifndef AQ_QUANTIZER_KERNELS_ARM_LANES_NEON_H
#define AQ_QUANTIZER_KERNELS_ARM_LANES_NEON_H

#include <arm_neon.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 4 };

/* Writes the first `lanes` values. ReLU is v < 0 ? 0 : v: NaN stays NaN, and -0 stays -0, which the
 * instructions for a maximum would not leave. */
static inline void store_lanes(float *y, float32x4_t value, bool relu, uint32_t lanes)
{
    if (relu) {
        const uint32x4_t bits = vreinterpretq_u32_f32(value);
        value = vreinterpretq_f32_u32(vbicq_u32(bits, vcltzq_f32(value)));
    }
    if (lanes == LANES) {
        vst1q_f32(y, value);
        return;
    }
    if ((lanes & 2) != 0) {
        vst1_f32(y, vget_low_f32(value));
        value = vextq_f32(value, value, 2);
        y += 2;
    }
    if ((lanes & 1) != 0) {
        vst1q_lane_f32(y, value, 0);
    }
}

/* What tile_float.h makes kernels of float weights of. */
#define FLOAT_TILE_BLOCKS 4
#define FLOAT_REGISTERS   32

typedef float32x4_t float_lanes;

static inline float_lanes all_lanes(float value)
{
    return vdupq_n_f32(value);
}

static inline float_lanes load_lanes(const float *from)
{
    return vld1q_f32(from);
}

static inline float_lanes multiply_add_lanes(float_lanes sum, float_lanes x, float_lanes weight)
{
    return vfmaq_f32(sum, x, weight);
}

#endif
