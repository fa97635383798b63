/*
 * From a group's dot products to a layer's results, in vectors of 8 floats: what int4 and int2 with
 * AVX2 and with AVX-VNNI share.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_GROUP_TOTALS_AVX2_H
#define AQ_QUANTIZER_KERNELS_X86_GROUP_TOTALS_AVX2_H

#include <immintrin.h>

#include "quantizer/kernels/qkernels.h"
#include "quantizer/kernels/x86/lanes_avx2.h"

typedef __m256 float_vector;

typedef struct group_constants {
    __m256 scale;
    __m256i sum;
} group_constants;

/* A sum lies in the lower half of its lane, for vpmaddwd. */
static inline group_constants load_constants(const unsigned char *scales, const unsigned char *sums)
{
    const __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)sums);
    return (group_constants){.scale = _mm256_loadu_ps((const float *)(const void *)scales),
                             .sum = _mm256_cvtepu16_epi32(halves)};
}

static inline __m256 total_zero(void)
{
    return _mm256_setzero_ps();
}

/* total + scale * (dots / 2^shift - z * sum), each operation rounded once; the dot products are
 * multiples of 2^shift. */
static inline __m256 total_add_shifted(__m256 total, __m256i dots, group_constants constants,
                                       int32_t zero_point, const int shift)
{
    const __m256i offset = _mm256_madd_epi16(constants.sum, _mm256_set1_epi32(zero_point << shift));
    const __m256i centred = _mm256_srai_epi32(_mm256_sub_epi32(dots, offset), shift);
    return _mm256_add_ps(total, _mm256_mul_ps(constants.scale, _mm256_cvtepi32_ps(centred)));
}

static inline __m256 finish(__m256 total, float scale, const float *bias)
{
    return _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(scale), total), _mm256_load_ps(bias));
}

#endif
