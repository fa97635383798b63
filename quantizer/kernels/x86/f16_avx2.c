/*
 * fp16 layers with AVX2 and F16C: half the bytes of fp32, widened as they are loaded.
 */
#define WEIGHT_UNIT_BYTES 2

#include "quantizer/kernels/x86/lanes_avx2.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

static inline float_lanes load_weight(const unsigned char *from)
{
    return _mm256_cvtph_ps(_mm_load_si128((const __m128i *)(const void *)from));
}

#include "quantizer/kernels/tile_float.h"

const aq_linear_kernel aq_f16_avx2 = TILE_KERNEL;
