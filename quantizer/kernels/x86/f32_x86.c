/*
 * fp32 layers: the baseline that int8 is measured against.
 */
#include "quantizer/kernels/x86/lanes_x86.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

static inline float_lanes load_weight(const unsigned char *from)
{
    return load_lanes((const float *)(const void *)from);
}

#include "quantizer/kernels/tile_float.h"

const aq_linear_kernel RUNG(aq_f32) = TILE_KERNEL;
