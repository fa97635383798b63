/*
 * int8 layers without VNNI whose weights reach down to -128: those with one scale for all.
 */
#include "quantizer/kernels/x86/dot_wide_avx2.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

/* After the arithmetic that it is built from. */
#include "quantizer/kernels/tile_int8.h"

const aq_linear_kernel RUNG(aq_int8_tensor) = TILE_KERNEL;
