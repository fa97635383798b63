/*
 * bf16 layers: half the bytes of fp32, which lack its lower half and get it back as they are
 * loaded.
 */
#define WEIGHT_UNIT_BYTES 2

#include "quantizer/kernels/x86/lanes_x86.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

static inline float_lanes load_weight(const unsigned char *from)
{
    return (float_lanes)(load_halves(from) << 16);
}

#include "quantizer/kernels/tile_float.h"

const aq_linear_kernel RUNG(aq_bf16) = TILE_KERNEL;
