/*
 * Layers of int4 and int2 with AVX-VNNI. A file of one format defines GROUP_BITS, includes this
 * and names the functions of group_block.h in its table entry.
 *
 * A level is multiplied where a shift puts it, in the upper bits of its byte, as AVX-512-VNNI does.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_GROUP_AVXVNNI_H
#define AQ_QUANTIZER_KERNELS_X86_GROUP_AVXVNNI_H

#include "quantizer/kernels/x86/group_totals_avx2.h"

enum { LEVEL_SHIFT = 8 - GROUP_BITS };

/* A quad of inputs each; two of them where a level has 4 bits. */
typedef struct weight_vector {
    __m256i first, second, third, fourth;
} weight_vector;

/* Two chains, to hide more of the latency. A type of its own, as in the int8 kernel. */
typedef int32_t int_vector __attribute__((vector_size(32)));
typedef struct group_dots {
    int_vector even, odd;
} group_dots;

static inline weight_vector load_weights(const unsigned char *from)
{
    __m256i bytes = _mm256_load_si256((const __m256i *)(const void *)from);
    __asm__("" : "+x"(bytes)); /* loaded once; GCC would load it anew for every use */
    const __m256i upper = _mm256_set1_epi8((char)(0xFF << LEVEL_SHIFT));
    weight_vector levels;
    levels.first = _mm256_and_si256(_mm256_slli_epi16(bytes, 8 - GROUP_BITS), upper);
#if GROUP_BITS == 4
    levels.second = _mm256_and_si256(bytes, upper);
#else
    levels.second = _mm256_and_si256(_mm256_slli_epi16(bytes, 4), upper);
    levels.third = _mm256_and_si256(_mm256_slli_epi16(bytes, 2), upper);
    levels.fourth = _mm256_and_si256(bytes, upper);
#endif
    return levels;
}

static inline group_dots dots_zero(void)
{
    const int_vector zero = (int_vector)_mm256_setzero_si256();
    return (group_dots){zero, zero};
}

static inline int_vector add_quad(int_vector dots, const uint8_t *q, __m256i levels)
{
    int32_t quad;
    memcpy(&quad, q, sizeof(quad));
    return (int_vector)_mm256_dpbusd_avx_epi32((__m256i)dots, _mm256_set1_epi32(quad), levels);
}

static inline group_dots dots_add(group_dots dots, const uint8_t *q, weight_vector levels)
{
    dots.even = add_quad(dots.even, q, levels.first);
    dots.odd = add_quad(dots.odd, q + 4, levels.second);
#if GROUP_BITS == 2
    dots.even = add_quad(dots.even, q + 8, levels.third);
    dots.odd = add_quad(dots.odd, q + 12, levels.fourth);
#endif
    return dots;
}

static inline __m256 total_add(__m256 total, group_dots dots, group_constants constants,
                               int32_t zero_point)
{
    return total_add_shifted(total, (__m256i)(dots.even + dots.odd), constants, zero_point,
                             LEVEL_SHIFT);
}

#include "quantizer/kernels/group_block.h"

#endif
