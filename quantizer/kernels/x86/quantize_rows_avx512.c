/*
 * Quantizing rows of activations with AVX-512, 64 values at a time, which is one store of q.
 *
 * The range of a row is found from the bits of its values as integers, two instructions a vector
 * that every pipe takes: among the positive ones the largest as a signed integer is the largest
 * value, and the largest unsigned integer of all is the lowest negative one. NaN and infinity,
 * either sign's greatest integers, show in the same two numbers. Where there is one, and where the
 * conversion of a value beyond the range of integers says so, the row is taken again with care.
 */
#include <math.h>

#include "quantizer/kernels/qrow.h"
#include "quantizer/kernels/x86/lanes_avx512.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

enum { CHUNK = AQ_QKERNEL_Q_PADDING };
_Static_assert(CHUNK == 4 * LANES, "a chunk is four vectors");

typedef struct chunk {
    __m512 a, b, c, d;
} chunk;

/* Bits of floats: each lane's greatest as signed and as unsigned integers, from 0 upwards. */
typedef struct row_range {
    __m512i as_signed, as_unsigned;
} row_range;

static inline __m512 finite_or_zero(__m512 value)
{
    enum { QUIET_NAN = 0x01, PLUS_INFINITY = 0x08, MINUS_INFINITY = 0x10, SIGNALLING_NAN = 0x80 };
    enum { NOT_FINITE = QUIET_NAN | PLUS_INFINITY | MINUS_INFINITY | SIGNALLING_NAN };
    return _mm512_mask_mov_ps(value, _mm512_fpclass_ps_mask(value, NOT_FINITE),
                              _mm512_setzero_ps());
}

/* The next 64 values, of which `left` exist; 0 beyond. */
static inline chunk load_chunk(const float *x, uint32_t left, const bool careful)
{
    chunk v;
    if (left >= CHUNK) {
        v = (chunk){_mm512_loadu_ps(x), _mm512_loadu_ps(x + LANES), _mm512_loadu_ps(x + 2 * LANES),
                    _mm512_loadu_ps(x + 3 * LANES)};
    } else {
        const uint64_t mask = (UINT64_C(1) << left) - 1;
        v = (chunk){_mm512_maskz_loadu_ps((__mmask16)mask, x),
                    _mm512_maskz_loadu_ps((__mmask16)(mask >> LANES), x + LANES),
                    _mm512_maskz_loadu_ps((__mmask16)(mask >> 2 * LANES), x + 2 * LANES),
                    _mm512_maskz_loadu_ps((__mmask16)(mask >> 3 * LANES), x + 3 * LANES)};
    }
    if (careful) {
        v = (chunk){finite_or_zero(v.a), finite_or_zero(v.b), finite_or_zero(v.c),
                    finite_or_zero(v.d)};
    }
    return v;
}

static inline row_range widen(row_range range, __m512 value)
{
    const __m512i bits = _mm512_castps_si512(value);
    return (row_range){_mm512_max_epi32(range.as_signed, bits),
                       _mm512_max_epu32(range.as_unsigned, bits)};
}

/* Both at once, NaN kept: `as_signed` in the lower half of the vector, `as_unsigned` in the upper
 * one. */
static inline row_ends reduce(row_range range)
{
    __m512i m = _mm512_max_epu32(_mm512_shuffle_i32x4(range.as_signed, range.as_unsigned, 0x44),
                                 _mm512_shuffle_i32x4(range.as_signed, range.as_unsigned, 0xEE));
    m = _mm512_max_epu32(m, _mm512_shuffle_i32x4(m, m, 0xB1));
    m = _mm512_max_epu32(m, _mm512_shuffle_epi32(m, _MM_PERM_BADC));
    m = _mm512_max_epu32(m, _mm512_shuffle_epi32(m, _MM_PERM_CDAB));
    const float low = _mm_cvtss_f32(_mm_castsi128_ps(_mm512_extracti32x4_epi32(m, 2)));
    const float high = _mm_cvtss_f32(_mm_castsi128_ps(_mm512_castsi512_si128(m)));
    return (row_ends){.low = low > 0.0f ? 0.0f : low, .high = high};
}

static inline row_ends measure(const float *x, uint32_t inputs, const bool careful)
{
    const __m512i zero = _mm512_setzero_si512();
    row_range ab = {zero, zero};
    row_range cd = {zero, zero};
    for (uint32_t i = 0; i < inputs; i += CHUNK) {
        const chunk v = load_chunk(x + i, inputs - i, careful);
        ab = widen(widen(ab, v.a), v.b);
        cd = widen(widen(cd, v.c), v.d);
    }
    return reduce((row_range){_mm512_max_epi32(ab.as_signed, cd.as_signed),
                              _mm512_max_epu32(ab.as_unsigned, cd.as_unsigned)});
}

/* INT32_MIN for what is beyond int32, or not finite. */
static inline __m512i round_to_level(__m512 value, __m512 inverse, const bool careful)
{
    const __m512 beyond = _mm512_set1_ps(1024.0f);
    __m512 level = _mm512_mul_ps(value, inverse);
    if (careful) {
        level =
            _mm512_max_ps(_mm512_min_ps(level, beyond), _mm512_sub_ps(_mm512_setzero_ps(), beyond));
    }
    return _mm512_cvtps_epi32(level);
}

/* Whether every value had a level; careful, they do. Writes the whole room of the row. */
static inline bool write_levels(const float *x, uint32_t inputs, int32_t zero_point, float factor,
                                uint8_t *q, const bool careful)
{
    const __m512 inverse = _mm512_set1_ps(factor);
    const __m512i shift = _mm512_set1_epi16((short)zero_point);
    /* The packs work within quarters of the vector; this puts their 4-byte pieces in order. */
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512i least = _mm512_setzero_si512();

    for (uint32_t i = 0; i < inputs; i += CHUNK) {
        const chunk v = load_chunk(x + i, inputs - i, careful);
        const __m512i a = round_to_level(v.a, inverse, careful);
        const __m512i b = round_to_level(v.b, inverse, careful);
        const __m512i c = round_to_level(v.c, inverse, careful);
        const __m512i d = round_to_level(v.d, inverse, careful);
        const __m512i ab = _mm512_adds_epi16(_mm512_packs_epi32(a, b), shift);
        const __m512i cd = _mm512_adds_epi16(_mm512_packs_epi32(c, d), shift);
        least = _mm512_min_epi32(least,
                                 _mm512_min_epi32(_mm512_min_epi32(a, b), _mm512_min_epi32(c, d)));
        _mm512_storeu_si512(q + i, _mm512_permutexvar_epi32(order, _mm512_packus_epi16(ab, cd)));
    }
    return _mm512_cmpeq_epi32_mask(least, _mm512_set1_epi32(INT32_MIN)) == 0;
}

#define QUANTIZE_ROWS        aq_quantize_rows_avx512
#define QUANTIZE_ROWS_STATIC aq_quantize_rows_static_avx512
#include "quantizer/kernels/qrow_walk.h"
