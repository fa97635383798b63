/*
 * fp32 layers with AVX-512: the baseline that int8 is measured against.
 */
#include <immintrin.h>

#include "quantizer/kernels/x86/qkernels_x86.h"

static inline __m512 load_weight(const unsigned char *from)
{
    return _mm512_load_ps((const float *)(const void *)from);
}

#include "quantizer/kernels/x86/float_avx512.h"

const aq_linear_kernel aq_f32_avx512 = TILE_KERNEL;
