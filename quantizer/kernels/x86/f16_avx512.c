/*
 * fp16 layers with AVX-512: half the bytes of fp32, widened as they are loaded.
 */
#define WEIGHT_UNIT_BYTES 2

#include "quantizer/kernels/x86/lanes_avx512.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

static inline float_lanes load_weight(const unsigned char *from)
{
    return _mm512_cvtph_ps(_mm256_load_si256((const __m256i *)(const void *)from));
}

#include "quantizer/kernels/tile_float.h"

const aq_linear_kernel aq_f16_avx512 = TILE_KERNEL;
