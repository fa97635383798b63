/*
 * AVX2 vectors of 8 floats or integers: lanes_avx512.h has the same names for its own. What GCC and
 * clang give an operator, sums and products, shifts by a number, needs none. Private to the
 * kernels.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_LANES_AVX2_H
#define AQ_QUANTIZER_KERNELS_X86_LANES_AVX2_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 8 };

typedef __m256 float_lanes;

/* A type of its own: as __m256i, whose lanes are 64 bits, GCC 12 copies and spills sums. */
typedef int32_t int_lanes __attribute__((vector_size(32)));

/* What tile_float.h makes kernels of float weights of. */
#define FLOAT_TILE_BLOCKS 3
#define FLOAT_REGISTERS   16

/* All bits in the first `count` lanes; in all of them from 8 on. */
static inline __m256i lane_mask(uint32_t count)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count < LANES ? (int32_t)count : LANES), lane);
}

/* ---- floats --------------------------------------------------------------------------------- */

static inline float_lanes all_lanes(float value)
{
    return _mm256_set1_ps(value);
}

static inline float_lanes load_lanes(const float *from)
{
    return _mm256_load_ps(from);
}

/* From any address. */
static inline float_lanes load_any_lanes(const float *from)
{
    return _mm256_loadu_ps(from);
}

/* From any address the first `count` values, and 0 beyond. */
static inline float_lanes load_some_lanes(const float *from, uint32_t count)
{
    return _mm256_maskload_ps(from, lane_mask(count));
}

/* Writes the first `lanes` values. ReLU is v < 0 ? 0 : v, which is what vmaxps gives with its
 * operands in this order: NaN stays NaN. */
static inline void store_lanes(float *y, float_lanes value, bool relu, uint32_t lanes)
{
    if (relu) {
        value = _mm256_max_ps(_mm256_setzero_ps(), value);
    }
    if (lanes == LANES) {
        _mm256_storeu_ps(y, value);
    } else {
        _mm256_maskstore_ps(y, lane_mask(lanes), value);
    }
}

static inline float_lanes multiply_add_lanes(float_lanes sum, float_lanes x, float_lanes weight)
{
    return _mm256_fmadd_ps(x, weight, sum);
}

static inline float_lanes hold_lanes(float_lanes value, float most)
{
    return _mm256_max_ps(_mm256_min_ps(value, all_lanes(most)), all_lanes(-most));
}

/* From aligned memory, 8 numbers of 16 bits each. */
static inline float_lanes load_f16_lanes(const unsigned char *from)
{
    return _mm256_cvtph_ps(_mm_load_si128((const __m128i *)(const void *)from));
}

/* ---- integers ------------------------------------------------------------------------------- */

static inline int_lanes all_ints(int32_t value)
{
    return (int_lanes)_mm256_set1_epi32(value);
}

static inline int_lanes load_ints(const void *from)
{
    return (int_lanes)_mm256_load_si256(from);
}

/* From any address, 8 numbers of 16 bits, without a sign. */
static inline int_lanes load_halves(const unsigned char *from)
{
    return (int_lanes)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
}

/* Ties to even; INT32_MIN for what is beyond int32, or not finite. */
static inline int_lanes round_lanes(float_lanes value)
{
    return (int_lanes)_mm256_cvtps_epi32(value);
}

static inline float_lanes float_of_ints(int_lanes value)
{
    return _mm256_cvtepi32_ps((__m256i)value);
}

/* Of each lane's two int16: a.low * b.low + a.high * b.high. */
static inline int_lanes multiply_halves(int_lanes a, int_lanes b)
{
    return (int_lanes)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

#ifdef __AVXVNNI__
/* sum + q . weight, of each lane's four bytes, those of q without a sign; exactly. */
static inline int_lanes multiply_add_bytes(int_lanes sum, int_lanes q, int_lanes weight)
{
    return (int_lanes)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)q, (__m256i)weight);
}
#endif

static inline int_lanes least_ints(int_lanes a, int_lanes b)
{
    return (int_lanes)_mm256_min_epi32((__m256i)a, (__m256i)b);
}

static inline int_lanes greatest_ints(int_lanes a, int_lanes b)
{
    return (int_lanes)_mm256_max_epi32((__m256i)a, (__m256i)b);
}

static inline int_lanes greatest_unsigned(int_lanes a, int_lanes b)
{
    return (int_lanes)_mm256_max_epu32((__m256i)a, (__m256i)b);
}

/* The greatest unsigned integer of all lanes of both. */
static inline void greatest_of_each(int_lanes a, int_lanes b, float *ret_a, float *ret_b)
{
    __m256i m = _mm256_max_epu32(_mm256_permute2x128_si256((__m256i)a, (__m256i)b, 0x20),
                                 _mm256_permute2x128_si256((__m256i)a, (__m256i)b, 0x31));
    m = _mm256_max_epu32(m, _mm256_shuffle_epi32(m, _MM_SHUFFLE(1, 0, 3, 2)));
    m = _mm256_max_epu32(m, _mm256_shuffle_epi32(m, _MM_SHUFFLE(2, 3, 0, 1)));
    *ret_a = _mm_cvtss_f32(_mm_castsi128_ps(_mm256_castsi256_si128(m)));
    *ret_b = _mm_cvtss_f32(_mm_castsi128_ps(_mm256_extracti128_si256(m, 1)));
}

static inline bool any_int_is(int_lanes value, int32_t sought)
{
    const __m256i same = _mm256_cmpeq_epi32((__m256i)value, _mm256_set1_epi32(sought));
    return _mm256_testz_si256(same, same) == 0;
}

/* Four vectors, each value + shift held to 0..255, as bytes to any address. */
static inline void store_bytes(uint8_t *to, int_lanes a, int_lanes b, int_lanes c, int_lanes d,
                               int32_t shift)
{
    /* The packs work within halves of the vector; this puts their 4-byte pieces in order. */
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i shifts = _mm256_set1_epi16((short)shift);
    const __m256i ab = _mm256_adds_epi16(_mm256_packs_epi32((__m256i)a, (__m256i)b), shifts);
    const __m256i cd = _mm256_adds_epi16(_mm256_packs_epi32((__m256i)c, (__m256i)d), shifts);
    _mm256_storeu_si256((__m256i *)(void *)to,
                        _mm256_permutevar8x32_epi32(_mm256_packus_epi16(ab, cd), order));
}

#endif
