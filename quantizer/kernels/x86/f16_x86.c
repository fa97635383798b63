/*
 * fp16 layers: half the bytes of fp32, widened as they are loaded.
 */
#define WEIGHT_UNIT_BYTES 2

#include "quantizer/kernels/x86/lanes_x86.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

static inline float_lanes load_weight(const unsigned char *from)
{
    return load_f16_lanes(from);
}

#include "quantizer/kernels/tile_float.h"

const aq_linear_kernel RUNG(aq_f16) = TILE_KERNEL;
