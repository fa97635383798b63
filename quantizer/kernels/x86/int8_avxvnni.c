/*
 * int8 layers with AVX-VNNI.
 */
#define TILE_BLOCKS 3

#include "quantizer/kernels/x86/dot_avxvnni.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

/* After the arithmetic that it is built from. */
#include "quantizer/kernels/tile_int8.h"

const aq_linear_kernel aq_int8_avxvnni = TILE_KERNEL;
