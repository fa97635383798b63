/*
 * The arithmetic of int8 layers with AVX2 alone where a weight may be -128, which dot_avx2.h has no
 * room for: bytes are widened to int16 first, and vpmaddwd adds into int32, exactly. Of each unit
 * of four inputs, 0 and 2 are one operand and 1 and 3 the other, because that split costs shifts
 * and masks only, and a widened weight serves every row of the tile.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_DOT_WIDE_AVX2_H
#define AQ_QUANTIZER_KERNELS_X86_DOT_WIDE_AVX2_H

#include "quantizer/kernels/x86/sums_x86.h"

/* A chain here is an integer add, one cycle: nothing to hide. */
enum { ACCUMULATORS_MIN = 1 };
#define TILE_BLOCKS 2

/* int16 lanes in pairs, one pair an output: inputs 0 and 2, inputs 1 and 3. */
typedef struct widened {
    __m256i even, odd;
} widened;

typedef widened weight_vector;
typedef widened input_vector;

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

static inline float_lanes finish(const tile_job *job, block_constants constants, uint32_t row,
                                 accumulator dot)
{
    return finish_dot(job, constants, row, dot, job->quant[row].zero_point);
}

#endif
