/*
 * The arithmetic of int8 layers, dense and sparse, with AVX-VNNI: vpdpbusd as AVX-512-VNNI has it,
 * exact, in vectors of half the width.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_DOT_AVXVNNI_H
#define AQ_QUANTIZER_KERNELS_X86_DOT_AVXVNNI_H

#include "quantizer/kernels/x86/sums_avx2.h"

/* Two pipes times four cycles of latency. */
enum { ACCUMULATORS_MIN = 8 };

typedef __m256i weight_vector;
typedef __m256i input_vector;

static inline __m256i load_weight(const unsigned char *from)
{
    return _mm256_load_si256((const __m256i *)(const void *)from);
}

static inline __m256i broadcast(const unsigned char *q)
{
    int32_t unit;
    memcpy(&unit, q, sizeof(unit));
    return _mm256_set1_epi32(unit);
}

static inline accumulator multiply_add(accumulator sum, __m256i q, __m256i weight)
{
    return (accumulator)_mm256_dpbusd_avx_epi32((__m256i)sum, q, weight);
}

static inline __m256 finish(const tile_job *job, block_constants constants, uint32_t row,
                            accumulator dot)
{
    return finish_dot(job, constants, row, dot, job->quant[row].zero_point);
}

#endif
