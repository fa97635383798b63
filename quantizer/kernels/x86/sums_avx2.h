/*
 * The sums of int8 layers in AVX2 vectors, and how they are finished, however the products are
 * made.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_SUMS_AVX2_H
#define AQ_QUANTIZER_KERNELS_X86_SUMS_AVX2_H

#include <immintrin.h>

#include "quantizer/kernels/tile_job.h"
#include "quantizer/kernels/x86/lanes_avx2.h"

/* A type of its own: as __m256i, whose lanes are 64 bits, GCC 12 copies and spills the sums. */
typedef int32_t accumulator __attribute__((vector_size(32)));

typedef struct block_constants {
    __m256i sum;
    __m256 scale, bias;
} block_constants;

static inline accumulator accumulator_zero(void)
{
    return (accumulator)_mm256_setzero_si256();
}

static inline accumulator accumulator_add(accumulator a, accumulator b)
{
    return a + b;
}

static inline block_constants load_constants(const tile_job *job, uint32_t block)
{
    const int32_t *sum = job->sum + block * LANES;
    return (block_constants){.sum = _mm256_load_si256((const __m256i *)(const void *)sum),
                             .scale = _mm256_load_ps(job->scale + block * LANES),
                             .bias = _mm256_load_ps(job->bias + block * LANES)};
}

/* y = (s * scale) * (dot - zero_point * sum + offset) + bias, each operation rounded once. */
static inline __m256 finish_dot(const tile_job *job, block_constants constants, uint32_t row,
                                accumulator dot, int32_t zero_point)
{
    const __m256i shift = _mm256_mullo_epi32(_mm256_set1_epi32(zero_point), constants.sum);
    const __m256i moved = _mm256_add_epi32((__m256i)dot, _mm256_set1_epi32(job->quant[row].offset));
    const __m256 centred = _mm256_cvtepi32_ps(_mm256_sub_epi32(moved, shift));
    const __m256 factor = _mm256_mul_ps(_mm256_set1_ps(job->quant[row].scale), constants.scale);
    return _mm256_add_ps(_mm256_mul_ps(factor, centred), constants.bias);
}

#endif
