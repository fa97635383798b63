/*
 * Layers of int4 and int2 with AVX-512-VNNI. A file of one format defines GROUP_BITS, includes this
 * and names the functions of group_block.h in its table entry.
 *
 * A level is multiplied where a shift puts it: in the upper bits of its byte, with its sign. There
 * it counts for 16 times an int4 and 64 times an int2, and so does the dot product, which stays
 * exact, until it is shifted back once a group.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_GROUP_AVX512VNNI_H
#define AQ_QUANTIZER_KERNELS_X86_GROUP_AVX512VNNI_H

#include <immintrin.h>

#include "quantizer/kernels/qkernels.h"
#include "quantizer/kernels/x86/lanes_avx512.h"

enum { LEVEL_SHIFT = 8 - GROUP_BITS };

/* A quad of inputs each; two of them where a level has 4 bits. */
typedef struct weight_vector {
    __m512i first, second, third, fourth;
} weight_vector;

/* Two chains, to hide more of the latency. A type of its own, as in the int8 kernel. */
typedef int32_t int_vector __attribute__((vector_size(64)));
typedef struct group_dots {
    int_vector even, odd;
} group_dots;

typedef __m512 float_vector;

typedef struct group_constants {
    __m512 scale;
    __m512i sum;
} group_constants;

static inline weight_vector load_weights(const unsigned char *from)
{
    __m512i bytes = _mm512_load_si512(from);
    __asm__("" : "+v"(bytes)); /* loaded once; GCC would load it anew for every use */
    const __m512i upper = _mm512_set1_epi8((char)(0xFF << LEVEL_SHIFT));
    weight_vector levels;
    levels.first = _mm512_and_si512(_mm512_slli_epi16(bytes, 8 - GROUP_BITS), upper);
#if GROUP_BITS == 4
    levels.second = _mm512_and_si512(bytes, upper);
#else
    levels.second = _mm512_and_si512(_mm512_slli_epi16(bytes, 4), upper);
    levels.third = _mm512_and_si512(_mm512_slli_epi16(bytes, 2), upper);
    levels.fourth = _mm512_and_si512(bytes, upper);
#endif
    return levels;
}

static inline group_dots dots_zero(void)
{
    const int_vector zero = (int_vector)_mm512_setzero_si512();
    return (group_dots){zero, zero};
}

static inline int_vector add_quad(int_vector dots, const uint8_t *q, __m512i levels)
{
    int32_t quad;
    memcpy(&quad, q, sizeof(quad));
    return (int_vector)_mm512_dpbusd_epi32((__m512i)dots, _mm512_set1_epi32(quad), levels);
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

/* A sum lies in the lower half of its lane, for vpmaddwd. */
static inline group_constants load_constants(const unsigned char *scales, const unsigned char *sums)
{
    const __m256i halves = _mm256_loadu_si256((const __m256i *)(const void *)sums);
    return (group_constants){.scale = _mm512_loadu_ps(scales),
                             .sum = _mm512_cvtepu16_epi32(halves)};
}

static inline __m512 total_zero(void)
{
    return _mm512_setzero_ps();
}

/* total + scale * (dots - z * sum), each operation rounded once */
static inline __m512 total_add(__m512 total, group_dots dots, group_constants constants,
                               int32_t zero_point)
{
    const __m512i shift =
        _mm512_madd_epi16(constants.sum, _mm512_set1_epi32(zero_point << LEVEL_SHIFT));
    const __m512i centred = _mm512_sub_epi32((__m512i)(dots.even + dots.odd), shift);
    const __m512 value = _mm512_cvtepi32_ps(_mm512_srai_epi32(centred, LEVEL_SHIFT));
    return _mm512_add_ps(total, _mm512_mul_ps(constants.scale, value));
}

static inline __m512 finish(__m512 total, float scale, const float *bias)
{
    return _mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps(scale), total), _mm512_load_ps(bias));
}

#include "quantizer/kernels/group_block.h"

#endif
