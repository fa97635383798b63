/*
 * int8 layers with AVX-512-VNNI.
 */
#define TILE_BLOCKS    3
#define TILE_ROWS      8
#define TILE_TALL_ROWS 10 /* a row of Nature's images is 20 or 9 */

#include "quantizer/kernels/x86/dot_avx512vnni.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

/* After the arithmetic that it is built from. */
#include "quantizer/kernels/tile_int8.h"

const aq_linear_kernel aq_int8_avx512vnni = TILE_KERNEL;
