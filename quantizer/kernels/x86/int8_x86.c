/*
 * int8 layers; without VNNI, those with a scale an output.
 */
#include "quantizer/kernels/x86/lanes_x86.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

#ifdef HAS_VNNI
#include "quantizer/kernels/x86/dot_vnni.h"
#else
#include "quantizer/kernels/x86/dot_avx2.h"
#endif

/* After the arithmetic that it is built from. */
#include "quantizer/kernels/tile_int8.h"

const aq_linear_kernel RUNG(aq_int8) = TILE_KERNEL;
