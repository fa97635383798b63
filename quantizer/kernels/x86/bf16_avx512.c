/*
 * bf16 layers with AVX-512: half the bytes of fp32, which lack its lower half and get it back as
 * they are loaded.
 */
#define WEIGHT_UNIT_BYTES 2

#include "quantizer/kernels/x86/lanes_avx512.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

static inline float_lanes load_weight(const unsigned char *from)
{
    const __m256i halves = _mm256_load_si256((const __m256i *)(const void *)from);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

#include "quantizer/kernels/tile_float.h"

const aq_linear_kernel aq_bf16_avx512 = TILE_KERNEL;
