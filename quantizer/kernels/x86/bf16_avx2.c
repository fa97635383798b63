/*
 * bf16 layers with AVX2: half the bytes of fp32, which lack its lower half and get it back as they
 * are loaded.
 */
#define WEIGHT_UNIT_BYTES 2

#include "quantizer/kernels/x86/lanes_avx2.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

static inline float_lanes load_weight(const unsigned char *from)
{
    const __m128i halves = _mm_load_si128((const __m128i *)(const void *)from);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

#include "quantizer/kernels/tile_float.h"

const aq_linear_kernel aq_bf16_avx2 = TILE_KERNEL;
