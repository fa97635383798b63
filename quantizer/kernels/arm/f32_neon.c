/*
 * fp32 layers with NEON: the baseline that int8 is measured against.
 */
#define WEIGHT_UNIT_BYTES 4

#include "quantizer/kernels/arm/lanes_neon.h"
#include "quantizer/kernels/arm/qkernels_arm.h"

static inline float_lanes load_weight(const unsigned char *from)
{
    return load_lanes((const float *)(const void *)from);
}

#include "quantizer/kernels/tile_float.h"

const aq_linear_kernel aq_f32_neon = TILE_KERNEL;
