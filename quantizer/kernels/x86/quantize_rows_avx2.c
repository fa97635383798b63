/*
 * Quantizing rows of activations with AVX2, 32 values at a time; as quantize_rows_avx512.c does it,
 * which says why.
 */
#include <math.h>

#include "quantizer/kernels/qrow.h"
#include "quantizer/kernels/x86/lanes_avx2.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

enum { CHUNK = 4 * LANES };
_Static_assert(AQ_QKERNEL_Q_PADDING % CHUNK == 0, "the room of a row is whole chunks");

typedef struct chunk {
    __m256 a, b, c, d;
} chunk;

/* Bits of floats: each lane's greatest as signed and as unsigned integers, from 0 upwards. */
typedef struct row_range {
    __m256i as_signed, as_unsigned;
} row_range;

static inline __m256 finite_or_zero(__m256 value)
{
    const __m256 magnitude_bits = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
    const __m256 magnitude = _mm256_and_ps(value, magnitude_bits);
    return _mm256_and_ps(value, _mm256_cmp_ps(magnitude, _mm256_set1_ps(INFINITY), _CMP_LT_OQ));
}

/* 8 values from x + first, of which those below `left` exist; 0 beyond. */
static inline __m256 load_some(const float *x, uint32_t left, uint32_t first)
{
    return left > first ? _mm256_maskload_ps(x + first, lane_mask(left - first))
                        : _mm256_setzero_ps();
}

/* The next 32 values, of which `left` exist. */
static inline chunk load_chunk(const float *x, uint32_t left, const bool careful)
{
    chunk v;
    if (left >= CHUNK) {
        v = (chunk){_mm256_loadu_ps(x), _mm256_loadu_ps(x + LANES), _mm256_loadu_ps(x + 2 * LANES),
                    _mm256_loadu_ps(x + 3 * LANES)};
    } else {
        v = (chunk){load_some(x, left, 0), load_some(x, left, LANES), load_some(x, left, 2 * LANES),
                    load_some(x, left, 3 * LANES)};
    }
    if (careful) {
        v = (chunk){finite_or_zero(v.a), finite_or_zero(v.b), finite_or_zero(v.c),
                    finite_or_zero(v.d)};
    }
    return v;
}

static inline row_range widen(row_range range, __m256 value)
{
    const __m256i bits = _mm256_castps_si256(value);
    return (row_range){_mm256_max_epi32(range.as_signed, bits),
                       _mm256_max_epu32(range.as_unsigned, bits)};
}

/* Both at once, NaN kept: `as_signed` in the lower half of the vector, `as_unsigned` in the upper
 * one. */
static inline row_ends reduce(row_range range)
{
    __m256i m =
        _mm256_max_epu32(_mm256_permute2x128_si256(range.as_signed, range.as_unsigned, 0x20),
                         _mm256_permute2x128_si256(range.as_signed, range.as_unsigned, 0x31));
    m = _mm256_max_epu32(m, _mm256_shuffle_epi32(m, _MM_SHUFFLE(1, 0, 3, 2)));
    m = _mm256_max_epu32(m, _mm256_shuffle_epi32(m, _MM_SHUFFLE(2, 3, 0, 1)));
    const float low = _mm_cvtss_f32(_mm_castsi128_ps(_mm256_extracti128_si256(m, 1)));
    const float high = _mm_cvtss_f32(_mm_castsi128_ps(_mm256_castsi256_si128(m)));
    return (row_ends){.low = low > 0.0f ? 0.0f : low, .high = high};
}

static inline row_ends measure(const float *x, uint32_t inputs, const bool careful)
{
    const __m256i zero = _mm256_setzero_si256();
    row_range ab = {zero, zero};
    row_range cd = {zero, zero};
    for (uint32_t i = 0; i < inputs; i += CHUNK) {
        const chunk v = load_chunk(x + i, inputs - i, careful);
        ab = widen(widen(ab, v.a), v.b);
        cd = widen(widen(cd, v.c), v.d);
    }
    return reduce((row_range){_mm256_max_epi32(ab.as_signed, cd.as_signed),
                              _mm256_max_epu32(ab.as_unsigned, cd.as_unsigned)});
}

/* INT32_MIN for what is beyond int32, or not finite. */
static inline __m256i round_to_level(__m256 value, __m256 inverse, const bool careful)
{
    const __m256 beyond = _mm256_set1_ps(1024.0f);
    __m256 level = _mm256_mul_ps(value, inverse);
    if (careful) {
        level =
            _mm256_max_ps(_mm256_min_ps(level, beyond), _mm256_sub_ps(_mm256_setzero_ps(), beyond));
    }
    return _mm256_cvtps_epi32(level);
}

/* Whether every value had a level; careful, they do. Writes the whole room of the row. */
static inline bool write_levels(const float *x, uint32_t inputs, int32_t zero_point, float factor,
                                uint8_t *q, const bool careful)
{
    const __m256 inverse = _mm256_set1_ps(factor);
    const __m256i shift = _mm256_set1_epi16((short)zero_point);
    /* The packs work within halves of the vector; this puts their 4-byte pieces in order. */
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const uint32_t room =
        (inputs + AQ_QKERNEL_Q_PADDING - 1) / AQ_QKERNEL_Q_PADDING * AQ_QKERNEL_Q_PADDING;
    __m256i least = _mm256_setzero_si256();

    for (uint32_t i = 0; i < room; i += CHUNK) {
        const uint32_t done = i < inputs ? i : inputs;
        const chunk v = load_chunk(x + done, inputs - done, careful);
        const __m256i a = round_to_level(v.a, inverse, careful);
        const __m256i b = round_to_level(v.b, inverse, careful);
        const __m256i c = round_to_level(v.c, inverse, careful);
        const __m256i d = round_to_level(v.d, inverse, careful);
        const __m256i ab = _mm256_adds_epi16(_mm256_packs_epi32(a, b), shift);
        const __m256i cd = _mm256_adds_epi16(_mm256_packs_epi32(c, d), shift);
        least = _mm256_min_epi32(least,
                                 _mm256_min_epi32(_mm256_min_epi32(a, b), _mm256_min_epi32(c, d)));
        _mm256_storeu_si256((__m256i *)(void *)(q + i),
                            _mm256_permutevar8x32_epi32(_mm256_packus_epi16(ab, cd), order));
    }
    const __m256i none = _mm256_cmpeq_epi32(least, _mm256_set1_epi32(INT32_MIN));
    return _mm256_testz_si256(none, none) != 0;
}

#define QUANTIZE_ROWS        aq_quantize_rows_avx2
#define QUANTIZE_ROWS_STATIC aq_quantize_rows_static_avx2
#include "quantizer/kernels/qrow_walk.h"
