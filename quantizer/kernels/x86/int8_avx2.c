/*
 * int8 layers with AVX2 alone, a scale an output.
 */
#define TILE_BLOCKS 2

#include "quantizer/kernels/x86/dot_avx2.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

/* After the arithmetic that it is built from. */
#include "quantizer/kernels/tile_int8.h"

const aq_linear_kernel aq_int8_avx2 = TILE_KERNEL;
