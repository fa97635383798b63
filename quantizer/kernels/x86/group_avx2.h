/*
 * Layers of int4 and int2 with AVX2 alone. A file of one format defines GROUP_BITS, includes this
 * and is GROUP_KERNEL.
 *
 * Levels this small suit vpmaddubsw, which saturates on int8: four products of a byte with an int4
 * or eight with an int2 fit into an int16. A table in a register gives a level its sign.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_GROUP_AVX2_H
#define AQ_QUANTIZER_KERNELS_X86_GROUP_AVX2_H

#include "quantizer/kernels/x86/group_totals_x86.h"

/* A quad of inputs each; two of them where a level has 4 bits. */
typedef struct weight_vector {
    __m256i first, second, third, fourth;
} weight_vector;

typedef int_lanes group_dots;

/* The levels whose codes lie `shift` bits up in each byte. */
static inline __m256i levels_at(__m256i bytes, const int shift)
{
    const __m256i code = _mm256_set1_epi8((1 << GROUP_BITS) - 1);
#if GROUP_BITS == 4
    const __m256i level = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1,
                                           0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1);
#else
    const __m256i level = _mm256_set1_epi32((int)0xFFFE0100); /* 0, 1, -2, -1 */
#endif
    return _mm256_shuffle_epi8(level, _mm256_and_si256(_mm256_srli_epi16(bytes, shift), code));
}

static inline weight_vector load_weights(const unsigned char *from)
{
    const __m256i bytes = _mm256_load_si256((const __m256i *)(const void *)from);
    weight_vector levels;
    levels.first = levels_at(bytes, 0);
    levels.second = levels_at(bytes, GROUP_BITS);
#if GROUP_BITS == 2
    levels.third = levels_at(bytes, 2 * GROUP_BITS);
    levels.fourth = levels_at(bytes, 3 * GROUP_BITS);
#endif
    return levels;
}

static inline group_dots dots_zero(void)
{
    return all_ints(0);
}

/* Pairs of products, in int16. */
static inline __m256i pairs(const uint8_t *q, __m256i levels)
{
    int32_t quad;
    memcpy(&quad, q, sizeof(quad));
    return _mm256_maddubs_epi16(_mm256_set1_epi32(quad), levels);
}

static inline group_dots dots_add(group_dots dots, const uint8_t *q, weight_vector levels)
{
    __m256i sums = _mm256_add_epi16(pairs(q, levels.first), pairs(q + 4, levels.second));
#if GROUP_BITS == 2
    sums = _mm256_add_epi16(
        sums, _mm256_add_epi16(pairs(q + 8, levels.third), pairs(q + 12, levels.fourth)));
#endif
    return dots + (group_dots)_mm256_madd_epi16(sums, _mm256_set1_epi16(1));
}

static inline float_lanes total_add(float_lanes total, group_dots dots, group_constants constants,
                                    int32_t zero_point)
{
    return total_add_shifted(total, dots, constants, zero_point, 0);
}

#include "quantizer/kernels/group_block.h"

#endif
