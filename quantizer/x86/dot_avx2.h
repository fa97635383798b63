/*
 * The arithmetic of int8 layers, dense and sparse, with AVX2 alone. The instruction made for bytes,
 * vpmaddubsw, adds two products into an int16 and saturates; so bytes are widened to int16 first,
 * and vpmaddwd adds into int32, exactly. Of each unit of four inputs, 0 and 2 are one operand and 1
 * and 3 the other, because that split costs shifts and masks only, and a widened weight serves
 * every row of the tile.
 */
#ifndef AQ_QUANTIZER_X86_DOT_AVX2_H
#define AQ_QUANTIZER_X86_DOT_AVX2_H

#include <immintrin.h>

#include "quantizer/tile_job.h"
#include "quantizer/x86/lanes_avx2.h"

/* A chain here is an integer add, one cycle: nothing to hide. */
enum { ACCUMULATORS_MIN = 1 };

/* int16 lanes in pairs, one pair an output: inputs 0 and 2, inputs 1 and 3. */
typedef struct widened {
    __m256i even, odd;
} widened;

/* A type of its own: as __m256i, whose lanes are 64 bits, GCC 12 copies and spills the sums. */
typedef int32_t accumulator __attribute__((vector_size(32)));
typedef widened weight_vector;
typedef widened input_vector;

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

static inline widened load_weight(const unsigned char *from)
{
    const __m256i bytes = _mm256_load_si256((const __m256i *)(const void *)from);
    return (widened){.even = _mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8),
                     .odd = _mm256_srai_epi16(bytes, 8)};
}

static inline widened broadcast(const unsigned char *q)
{
    int32_t unit;
    memcpy(&unit, q, sizeof(unit));
    const __m256i bytes = _mm256_set1_epi32(unit);
    return (widened){.even = _mm256_and_si256(bytes, _mm256_set1_epi16(0xFF)),
                     .odd = _mm256_srli_epi16(bytes, 8)};
}

static inline accumulator multiply_add(accumulator sum, widened q, widened weight)
{
    sum += (accumulator)_mm256_madd_epi16(q.even, weight.even);
    return sum + (accumulator)_mm256_madd_epi16(q.odd, weight.odd);
}

static inline block_constants load_constants(const tile_job *job, uint32_t block)
{
    const int32_t *sum = job->sum + block * LANES;
    return (block_constants){.sum = _mm256_load_si256((const __m256i *)(const void *)sum),
                             .scale = _mm256_load_ps(job->scale + block * LANES),
                             .bias = _mm256_load_ps(job->bias + block * LANES)};
}

/* y = (s * scale) * (dot - z * sum + offset) + bias, each operation rounded once. */
static inline __m256 finish(const tile_job *job, block_constants constants, uint32_t row,
                            accumulator dot)
{
    const __m256i zero_point = _mm256_set1_epi32(job->quant[row].zero_point);
    const __m256i offset = _mm256_mullo_epi32(zero_point, constants.sum);
    const __m256i moved = _mm256_add_epi32((__m256i)dot, _mm256_set1_epi32(job->quant[row].offset));
    const __m256 centred = _mm256_cvtepi32_ps(_mm256_sub_epi32(moved, offset));
    const __m256 factor = _mm256_mul_ps(_mm256_set1_ps(job->quant[row].scale), constants.scale);
    return _mm256_add_ps(_mm256_mul_ps(factor, centred), constants.bias);
}

#endif
