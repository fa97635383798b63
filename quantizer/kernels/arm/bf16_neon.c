/*
 * bf16 layers with NEON: half the bytes of fp32, which lack its lower half and get it back as they
 * are loaded.
 */
#define WEIGHT_UNIT_BYTES 2

#include "quantizer/kernels/arm/lanes_neon.h"
#include "quantizer/kernels/arm/qkernels_arm.h"

static inline float_lanes load_weight(const unsigned char *from)
{
    const uint16x4_t halves = vld1_u16((const uint16_t *)(const void *)from);
    return vreinterpretq_f32_u32(vshll_n_u16(halves, 16));
}

#include "quantizer/kernels/tile_float.h"

const aq_linear_kernel aq_bf16_neon = TILE_KERNEL;
