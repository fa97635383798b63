/*
 * The arithmetic of int8 layers, dense and sparse, with AVX-512-VNNI: vpdpbusd multiplies 64 bytes
 * of weights, 16 outputs x 4 inputs, by four activations and adds each four products into an int32,
 * exactly.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_DOT_AVX512VNNI_H
#define AQ_QUANTIZER_KERNELS_X86_DOT_AVX512VNNI_H

#include <immintrin.h>

#include "quantizer/kernels/tile_job.h"
#include "quantizer/kernels/x86/lanes_avx512.h"

/* Two pipes times four cycles of latency. */
enum { ACCUMULATORS_MIN = 8 };

/* A type of its own: as __m512i, whose lanes are 64 bits, GCC 12 copies every sum twice a step. */
typedef int32_t accumulator __attribute__((vector_size(64)));
typedef __m512i weight_vector;
typedef __m512i input_vector;

typedef struct block_constants {
    __m512i sum;
    __m512 scale, bias;
} block_constants;

static inline accumulator accumulator_zero(void)
{
    return (accumulator)_mm512_setzero_si512();
}

static inline accumulator accumulator_add(accumulator a, accumulator b)
{
    return a + b;
}

static inline __m512i load_weight(const unsigned char *from)
{
    return _mm512_load_si512(from);
}

static inline __m512i broadcast(const unsigned char *q)
{
    int32_t unit;
    memcpy(&unit, q, sizeof(unit));
    return _mm512_set1_epi32(unit);
}

static inline accumulator multiply_add(accumulator sum, __m512i q, __m512i weight)
{
    return (accumulator)_mm512_dpbusd_epi32((__m512i)sum, q, weight);
}

static inline block_constants load_constants(const tile_job *job, uint32_t block)
{
    return (block_constants){.sum = _mm512_load_si512(job->sum + block * LANES),
                             .scale = _mm512_load_ps(job->scale + block * LANES),
                             .bias = _mm512_load_ps(job->bias + block * LANES)};
}

/* y = (s * scale) * (dot - z * sum + offset) + bias, each operation rounded once. */
static inline __m512 finish(const tile_job *job, block_constants constants, uint32_t row,
                            accumulator dot)
{
    const __m512i zero_point = _mm512_set1_epi32(job->quant[row].zero_point);
    const __m512i offset = _mm512_mullo_epi32(zero_point, constants.sum);
    const __m512i moved = _mm512_add_epi32((__m512i)dot, _mm512_set1_epi32(job->quant[row].offset));
    const __m512 centred = _mm512_cvtepi32_ps(_mm512_sub_epi32(moved, offset));
    const __m512 factor = _mm512_mul_ps(_mm512_set1_ps(job->quant[row].scale), constants.scale);
    return _mm512_add_ps(_mm512_mul_ps(factor, centred), constants.bias);
}

#endif
