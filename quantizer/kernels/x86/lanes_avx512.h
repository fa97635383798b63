/*
 * AVX-512 vectors of 16 floats or integers: what lanes_avx2.h has for its own, and VNNI. Private to
 * the kernels.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_LANES_AVX512_H
#define AQ_QUANTIZER_KERNELS_X86_LANES_AVX512_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 16, ALL_LANES = 0xFFFF };

typedef __m512 float_lanes;

/* A type of its own: as __m512i, whose lanes are 64 bits, GCC 12 copies every sum twice a step. */
typedef int32_t int_lanes __attribute__((vector_size(64)));

#define FLOAT_TILE_BLOCKS 3
#define FLOAT_TILE_ROWS   8
#define FLOAT_REGISTERS   32

/* The first `count` lanes; all from 16 on. */
static inline __mmask16 lane_mask(uint32_t count)
{
    return count >= LANES ? (__mmask16)ALL_LANES : (__mmask16)((1u << count) - 1u);
}

/* ---- floats --------------------------------------------------------------------------------- */

static inline float_lanes all_lanes(float value)
{
    return _mm512_set1_ps(value);
}

static inline float_lanes load_lanes(const float *from)
{
    return _mm512_load_ps(from);
}

static inline float_lanes load_any_lanes(const float *from)
{
    return _mm512_loadu_ps(from);
}

static inline float_lanes load_some_lanes(const float *from, uint32_t count)
{
    return _mm512_maskz_loadu_ps(lane_mask(count), from);
}

static inline void store_lanes(float *y, float_lanes value, bool relu, uint32_t lanes)
{
    const __mmask16 rectified = relu ? (__mmask16)ALL_LANES : 0;
    value = _mm512_mask_max_ps(value, rectified, _mm512_setzero_ps(), value);
    if (lanes == LANES) {
        _mm512_storeu_ps(y, value);
    } else {
        _mm512_mask_storeu_ps(y, lane_mask(lanes), value);
    }
}

static inline float_lanes multiply_add_lanes(float_lanes sum, float_lanes x, float_lanes weight)
{
    return _mm512_fmadd_ps(x, weight, sum);
}

static inline float_lanes hold_lanes(float_lanes value, float most)
{
    return _mm512_max_ps(_mm512_min_ps(value, all_lanes(most)), all_lanes(-most));
}

static inline float_lanes load_f16_lanes(const unsigned char *from)
{
    return _mm512_cvtph_ps(_mm256_load_si256((const __m256i *)(const void *)from));
}

/* ---- integers ------------------------------------------------------------------------------- */

static inline int_lanes all_ints(int32_t value)
{
    return (int_lanes)_mm512_set1_epi32(value);
}

static inline int_lanes load_ints(const void *from)
{
    return (int_lanes)_mm512_load_si512(from);
}

static inline int_lanes load_halves(const unsigned char *from)
{
    const __m256i halves = _mm256_loadu_si256((const __m256i *)(const void *)from);
    return (int_lanes)_mm512_cvtepu16_epi32(halves);
}

static inline int_lanes round_lanes(float_lanes value)
{
    return (int_lanes)_mm512_cvtps_epi32(value);
}

static inline float_lanes float_of_ints(int_lanes value)
{
    return _mm512_cvtepi32_ps((__m512i)value);
}

static inline int_lanes multiply_halves(int_lanes a, int_lanes b)
{
    return (int_lanes)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}

static inline int_lanes multiply_add_bytes(int_lanes sum, int_lanes q, int_lanes weight)
{
    return (int_lanes)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)q, (__m512i)weight);
}

static inline int_lanes least_ints(int_lanes a, int_lanes b)
{
    return (int_lanes)_mm512_min_epi32((__m512i)a, (__m512i)b);
}

static inline int_lanes greatest_ints(int_lanes a, int_lanes b)
{
    return (int_lanes)_mm512_max_epi32((__m512i)a, (__m512i)b);
}

static inline int_lanes greatest_unsigned(int_lanes a, int_lanes b)
{
    return (int_lanes)_mm512_max_epu32((__m512i)a, (__m512i)b);
}

static inline void greatest_of_each(int_lanes a, int_lanes b, float *ret_a, float *ret_b)
{
    __m512i m = _mm512_max_epu32(_mm512_shuffle_i32x4((__m512i)a, (__m512i)b, 0x44),
                                 _mm512_shuffle_i32x4((__m512i)a, (__m512i)b, 0xEE));
    m = _mm512_max_epu32(m, _mm512_shuffle_i32x4(m, m, 0xB1));
    m = _mm512_max_epu32(m, _mm512_shuffle_epi32(m, _MM_PERM_BADC));
    m = _mm512_max_epu32(m, _mm512_shuffle_epi32(m, _MM_PERM_CDAB));
    *ret_a = _mm_cvtss_f32(_mm_castsi128_ps(_mm512_castsi512_si128(m)));
    *ret_b = _mm_cvtss_f32(_mm_castsi128_ps(_mm512_extracti32x4_epi32(m, 2)));
}

static inline bool any_int_is(int_lanes value, int32_t sought)
{
    return _mm512_cmpeq_epi32_mask((__m512i)value, _mm512_set1_epi32(sought)) != 0;
}

static inline void store_bytes(uint8_t *to, int_lanes a, int_lanes b, int_lanes c, int_lanes d,
                               int32_t shift)
{
    /* The packs work within quarters of the vector; this puts their 4-byte pieces in order. */
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i shifts = _mm512_set1_epi16((short)shift);
    const __m512i ab = _mm512_adds_epi16(_mm512_packs_epi32((__m512i)a, (__m512i)b), shifts);
    const __m512i cd = _mm512_adds_epi16(_mm512_packs_epi32((__m512i)c, (__m512i)d), shifts);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, _mm512_packus_epi16(ab, cd)));
}

#endif
