/*
 * fp32 layers with NEON: the baseline that int8 is measured against.
 */
#define WEIGHT_UNIT_BYTES 4

#include <arm_neon.h>

#include "quantizer/kernels/arm/qkernels_arm.h"

static inline float32x4_t load_weight(const unsigned char *from)
{
    return vld1q_f32((const float *)(const void *)from);
}

#include "quantizer/kernels/arm/float_neon.h"

const aq_linear_kernel aq_f32_neon = TILE_KERNEL;
