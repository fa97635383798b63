/*
 * fp16 layers with NEON: half the bytes of fp32, widened as they are loaded. The conversion is as
 * old as NEON of 64 bits, arithmetic in fp16 is not.
 */
#define WEIGHT_UNIT_BYTES 2

#include "quantizer/kernels/arm/lanes_neon.h"
#include "quantizer/kernels/arm/qkernels_arm.h"

static inline float_lanes load_weight(const unsigned char *from)
{
    return vcvt_f32_f16(vld1_f16((const float16_t *)(const void *)from));
}

#include "quantizer/kernels/tile_float.h"

const aq_linear_kernel aq_f16_neon = TILE_KERNEL;
