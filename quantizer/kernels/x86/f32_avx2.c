/*
 * fp32 layers with AVX2 and FMA: the baseline that int8 is measured against.
 */
#include <immintrin.h>

#include "quantizer/kernels/x86/qkernels_x86.h"

static inline __m256 load_weight(const unsigned char *from)
{
    return _mm256_load_ps((const float *)(const void *)from);
}

#include "quantizer/kernels/x86/float_avx2.h"

const aq_linear_kernel aq_f32_avx2 = TILE_KERNEL;
