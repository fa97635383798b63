/*
 * The arithmetic of int8 layers, dense and sparse, with AVX2 alone and weights from -127 up. The
 * instruction made for bytes, vpmaddubsw, takes one operand without and one with a sign, adds two
 * products into an int16 and saturates: 2 * 255 * 127 is too much for it. So an activation is taken
 * 128 lower, its sign is given to the weight, and what is left of it is at most 128: 2 * 128 * 127
 * has room. What was taken comes back with the zero point, of which it is taken, too.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_DOT_AVX2_H
#define AQ_QUANTIZER_KERNELS_X86_DOT_AVX2_H

#include "quantizer/kernels/x86/sums_x86.h"

/* A chain here is an integer add, one cycle: nothing to hide. */
enum { ACCUMULATORS_MIN = 1, MIDDLE = 128 };
#define TILE_BLOCKS 2

typedef struct lowered {
    __m256i with_sign, magnitude;
} lowered;

typedef __m256i weight_vector;
typedef lowered input_vector;

static inline __m256i load_weight(const unsigned char *from)
{
    return _mm256_load_si256((const __m256i *)(const void *)from);
}

static inline lowered broadcast(const unsigned char *q)
{
    int32_t unit;
    memcpy(&unit, q, sizeof(unit));
    const __m256i bytes = _mm256_xor_si256(_mm256_set1_epi32(unit), _mm256_set1_epi8(-MIDDLE));
    return (lowered){.with_sign = bytes, .magnitude = _mm256_abs_epi8(bytes)};
}

static inline accumulator multiply_add(accumulator sum, lowered q, __m256i weight)
{
    const __m256i signed_weight = _mm256_sign_epi8(weight, q.with_sign);
    const __m256i pairs = _mm256_maddubs_epi16(q.magnitude, signed_weight);
    return sum + (accumulator)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

static inline float_lanes finish(const tile_job *job, block_constants constants, uint32_t row,
                                 accumulator dot)
{
    return finish_dot(job, constants, row, dot, job->quant[row].zero_point - MIDDLE);
}

#endif
