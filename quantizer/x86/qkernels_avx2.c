/*
 * The AVX2 rung: its table, and quantizing rows of activations.
 *
 * Rows are walked 32 values at a time. Looking at each value for NaN or infinity would cost as much
 * as the rest, so the first walk only finds out whether there is one anywhere in the row (v * 0 is
 * NaN for both), and the walks that replace them with 0 are taken by such rows alone.
 */
#include <math.h>

#include "common/sys/cpu.h"
#include "quantizer/qrow.h"
#include "quantizer/x86/lanes_avx2.h"
#include "quantizer/x86/qkernels_x86.h"

enum { CHUNK = 4 * LANES };
_Static_assert(AQ_QKERNEL_Q_PADDING % CHUNK == 0, "the room of a row is whole chunks");

typedef struct chunk {
    __m256 a, b, c, d;
} chunk;

typedef struct row_range {
    __m256 low, high;
    __m256 poison; /* 0 in every lane, or NaN where a value was not finite */
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
static inline chunk load_chunk(const float *x, uint32_t left, const bool sanitize)
{
    chunk v;
    if (left >= CHUNK) {
        v = (chunk){_mm256_loadu_ps(x), _mm256_loadu_ps(x + LANES), _mm256_loadu_ps(x + 2 * LANES),
                    _mm256_loadu_ps(x + 3 * LANES)};
    } else {
        v = (chunk){load_some(x, left, 0), load_some(x, left, LANES), load_some(x, left, 2 * LANES),
                    load_some(x, left, 3 * LANES)};
    }
    if (sanitize) {
        v = (chunk){finite_or_zero(v.a), finite_or_zero(v.b), finite_or_zero(v.c),
                    finite_or_zero(v.d)};
    }
    return v;
}

static inline row_range measure(const float *x, uint32_t inputs, const bool sanitize)
{
    const __m256 zero = _mm256_setzero_ps();
    row_range ab = {zero, zero, zero};
    row_range cd = {zero, zero, zero};

    for (uint32_t i = 0; i < inputs; i += CHUNK) {
        const chunk v = load_chunk(x + i, inputs - i, sanitize);
        ab.low = _mm256_min_ps(ab.low, _mm256_min_ps(v.a, v.b));
        cd.low = _mm256_min_ps(cd.low, _mm256_min_ps(v.c, v.d));
        ab.high = _mm256_max_ps(ab.high, _mm256_max_ps(v.a, v.b));
        cd.high = _mm256_max_ps(cd.high, _mm256_max_ps(v.c, v.d));
        ab.poison = _mm256_fmadd_ps(v.a, zero, _mm256_fmadd_ps(v.b, zero, ab.poison));
        cd.poison = _mm256_fmadd_ps(v.c, zero, _mm256_fmadd_ps(v.d, zero, cd.poison));
    }
    return (row_range){_mm256_min_ps(ab.low, cd.low), _mm256_max_ps(ab.high, cd.high),
                       _mm256_add_ps(ab.poison, cd.poison)};
}

static inline bool is_clean(row_range range)
{
    const __m256 unordered = _mm256_cmp_ps(range.poison, range.poison, _CMP_UNORD_Q);
    return _mm256_movemask_ps(unordered) == 0;
}

/* Both ends at once: the lower half of the vector reduces `high`, the upper half -`low`. */
static inline aq_row_quant range_quant(row_range range, float *ret_inverse)
{
    const __m256 minus_low = _mm256_sub_ps(_mm256_setzero_ps(), range.low);
    __m256 m = _mm256_max_ps(_mm256_permute2f128_ps(range.high, minus_low, 0x20),
                             _mm256_permute2f128_ps(range.high, minus_low, 0x31));
    m = _mm256_max_ps(m, _mm256_permute_ps(m, 0x4E));
    m = _mm256_max_ps(m, _mm256_permute_ps(m, 0xB1));
    const float high = _mm_cvtss_f32(_mm256_castps256_ps128(m));
    const float low = -_mm_cvtss_f32(_mm256_extractf128_ps(m, 1));
    return row_quant_from_range(low, high, ret_inverse);
}

static inline __m256i round_to_levels(__m256 value, __m256 inverse)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(value, inverse));
}

static inline void write_levels(const float *x, uint32_t inputs, aq_row_quant quant, float factor,
                                uint8_t *q, const bool sanitize)
{
    const __m256 inverse = _mm256_set1_ps(factor);
    const __m256i zero_point = _mm256_set1_epi16((short)quant.zero_point);
    /* The packs work within halves of the vector; this puts their 4-byte pieces in order. */
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const uint32_t room =
        (inputs + AQ_QKERNEL_Q_PADDING - 1) / AQ_QKERNEL_Q_PADDING * AQ_QKERNEL_Q_PADDING;

    for (uint32_t i = 0; i < room; i += CHUNK) {
        const uint32_t done = i < inputs ? i : inputs;
        const chunk v = load_chunk(x + done, inputs - done, sanitize);
        const __m256i ab =
            _mm256_packs_epi32(round_to_levels(v.a, inverse), round_to_levels(v.b, inverse));
        const __m256i cd =
            _mm256_packs_epi32(round_to_levels(v.c, inverse), round_to_levels(v.d, inverse));
        const __m256i bytes =
            _mm256_packus_epi16(_mm256_add_epi16(ab, zero_point), _mm256_add_epi16(cd, zero_point));
        _mm256_storeu_si256((__m256i *)(void *)(q + i), _mm256_permutevar8x32_epi32(bytes, order));
    }
}

static inline aq_row_quant quantize_row(const float *x, uint32_t inputs, uint8_t *q)
{
    float factor;
    const row_range range = measure(x, inputs, false);
    if (!is_clean(range)) {
        const aq_row_quant quant = range_quant(measure(x, inputs, true), &factor);
        write_levels(x, inputs, quant, factor, q, true);
        return quant;
    }
    const aq_row_quant quant = range_quant(range, &factor);
    write_levels(x, inputs, quant, factor, q, false);
    return quant;
}

static void quantize_rows(const float *x, size_t x_stride, size_t rows, uint32_t inputs, uint8_t *q,
                          size_t q_stride, aq_row_quant *ret_quant)
{
    for (size_t row = 0; row < rows; row++) {
        ret_quant[row] = quantize_row(x + row * x_stride, inputs, q + row * q_stride);
    }
}

const aq_qkernels aq_qkernels_avx2 = {
    .name = "avx2",
    .cpu_flags = AQ_CPU_AVX2,
    .quantize_rows = quantize_rows,
    .linear = {[AQ_FORMAT_F32] = &aq_f32_avx2,
               [AQ_FORMAT_F16] = &aq_f16_avx2,
               [AQ_FORMAT_BF16] = &aq_bf16_avx2,
               [AQ_FORMAT_INT8_CHANNEL] = &aq_int8_avx2,
               [AQ_FORMAT_INT8_TENSOR] = &aq_int8_avx2},
};
