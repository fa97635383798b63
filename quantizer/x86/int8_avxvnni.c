/*
 * int8 layers with AVX-VNNI.
 */
#define TILE_BLOCKS 3

#include "quantizer/x86/dot_avxvnni.h"
#include "quantizer/x86/qkernels_x86.h"

/* After the arithmetic that it is built from. */
#include "quantizer/tile_int8.h"

const aq_linear_kernel aq_int8_avxvnni = TILE_KERNEL;
