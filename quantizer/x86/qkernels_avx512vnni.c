/*
 * The AVX-512-VNNI rung: its table, and quantizing rows of activations.
 *
 * Rows are walked 64 values at a time, which is one store of q. Looking at each value for NaN or
 * infinity would cost as much as the rest, so the first walk only finds out whether there is one
 * anywhere in the row (v * 0 is NaN for both), and the walks that replace them with 0 are taken by
 * such rows alone.
 */
#include "common/sys/cpu.h"
#include "quantizer/qrow.h"
#include "quantizer/x86/lanes_avx512.h"
#include "quantizer/x86/qkernels_x86.h"

enum { CHUNK = AQ_QKERNEL_Q_PADDING };
_Static_assert(CHUNK == 4 * LANES, "a chunk is four vectors");

typedef struct chunk {
    __m512 a, b, c, d;
} chunk;

typedef struct row_range {
    __m512 low, high;
    __m512 poison; /* 0 in every lane, or NaN where a value was not finite */
} row_range;

static inline __m512 finite_or_zero(__m512 value)
{
    enum { QUIET_NAN = 0x01, PLUS_INFINITY = 0x08, MINUS_INFINITY = 0x10, SIGNALLING_NAN = 0x80 };
    enum { NOT_FINITE = QUIET_NAN | PLUS_INFINITY | MINUS_INFINITY | SIGNALLING_NAN };
    return _mm512_mask_mov_ps(value, _mm512_fpclass_ps_mask(value, NOT_FINITE),
                              _mm512_setzero_ps());
}

/* The next 64 values, of which `left` exist; 0 beyond. */
static inline chunk load_chunk(const float *x, uint32_t left, const bool sanitize)
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
    if (sanitize) {
        v = (chunk){finite_or_zero(v.a), finite_or_zero(v.b), finite_or_zero(v.c),
                    finite_or_zero(v.d)};
    }
    return v;
}

static inline row_range measure(const float *x, uint32_t inputs, const bool sanitize)
{
    const __m512 zero = _mm512_setzero_ps();
    row_range ab = {zero, zero, zero};
    row_range cd = {zero, zero, zero};

    for (uint32_t i = 0; i < inputs; i += CHUNK) {
        const chunk v = load_chunk(x + i, inputs - i, sanitize);
        ab.low = _mm512_min_ps(ab.low, _mm512_min_ps(v.a, v.b));
        cd.low = _mm512_min_ps(cd.low, _mm512_min_ps(v.c, v.d));
        ab.high = _mm512_max_ps(ab.high, _mm512_max_ps(v.a, v.b));
        cd.high = _mm512_max_ps(cd.high, _mm512_max_ps(v.c, v.d));
        ab.poison = _mm512_fmadd_ps(v.a, zero, _mm512_fmadd_ps(v.b, zero, ab.poison));
        cd.poison = _mm512_fmadd_ps(v.c, zero, _mm512_fmadd_ps(v.d, zero, cd.poison));
    }
    return (row_range){_mm512_min_ps(ab.low, cd.low), _mm512_max_ps(ab.high, cd.high),
                       _mm512_add_ps(ab.poison, cd.poison)};
}

/* Both ends at once: the lower half of the vector reduces `high`, the upper half -`low`. */
static inline aq_row_quant range_quant(row_range range, float *ret_inverse)
{
    const __m512 minus_low = _mm512_sub_ps(_mm512_setzero_ps(), range.low);
    __m512 m = _mm512_max_ps(_mm512_shuffle_f32x4(range.high, minus_low, 0x44),
                             _mm512_shuffle_f32x4(range.high, minus_low, 0xEE));
    m = _mm512_max_ps(m, _mm512_shuffle_f32x4(m, m, 0xB1));
    m = _mm512_max_ps(m, _mm512_permute_ps(m, 0x4E));
    m = _mm512_max_ps(m, _mm512_permute_ps(m, 0xB1));
    const float high = _mm_cvtss_f32(_mm512_castps512_ps128(m));
    const float low = -_mm_cvtss_f32(_mm512_extractf32x4_ps(m, 2));
    return row_quant_from_range(low, high, ret_inverse);
}

static inline __m512i round_to_levels(__m512 value, __m512 inverse)
{
    return _mm512_cvtps_epi32(_mm512_mul_ps(value, inverse));
}

static inline void write_levels(const float *x, uint32_t inputs, aq_row_quant quant, float factor,
                                uint8_t *q, const bool sanitize)
{
    const __m512 inverse = _mm512_set1_ps(factor);
    const __m512i zero_point = _mm512_set1_epi16((short)quant.zero_point);
    /* The packs work within quarters of the vector; this puts their 4-byte pieces in order. */
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);

    for (uint32_t i = 0; i < inputs; i += CHUNK) {
        const chunk v = load_chunk(x + i, inputs - i, sanitize);
        const __m512i ab =
            _mm512_packs_epi32(round_to_levels(v.a, inverse), round_to_levels(v.b, inverse));
        const __m512i cd =
            _mm512_packs_epi32(round_to_levels(v.c, inverse), round_to_levels(v.d, inverse));
        const __m512i bytes =
            _mm512_packus_epi16(_mm512_add_epi16(ab, zero_point), _mm512_add_epi16(cd, zero_point));
        _mm512_storeu_si512(q + i, _mm512_permutexvar_epi32(order, bytes));
    }
}

/* A row of one vector, as the observations of small tasks are. */
static inline aq_row_quant quantize_short_row(const float *x, uint32_t inputs, uint8_t *q)
{
    const __m512 zero = _mm512_setzero_ps();
    const __m512 v = finite_or_zero(_mm512_maskz_loadu_ps(lane_mask(inputs), x));
    float factor;
    const row_range range = {_mm512_min_ps(v, zero), _mm512_max_ps(v, zero), zero};
    const aq_row_quant quant = range_quant(range, &factor);
    const __m512i levels = _mm512_add_epi32(round_to_levels(v, _mm512_set1_ps(factor)),
                                            _mm512_set1_epi32(quant.zero_point));
    const __m128i bytes = _mm512_cvtusepi32_epi8(_mm512_max_epi32(levels, _mm512_setzero_si512()));
    _mm512_storeu_si512(q, _mm512_set1_epi8((char)quant.zero_point));
    _mm_storeu_si128((__m128i *)(void *)q, bytes);
    return quant;
}

static inline aq_row_quant quantize_row(const float *x, uint32_t inputs, uint8_t *q)
{
    float factor;
    const row_range range = measure(x, inputs, false);
    if (_mm512_cmp_ps_mask(range.poison, range.poison, _CMP_UNORD_Q) != 0) {
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
    if (inputs <= LANES) {
        for (size_t row = 0; row < rows; row++) {
            ret_quant[row] = quantize_short_row(x + row * x_stride, inputs, q + row * q_stride);
        }
        return;
    }
    for (size_t row = 0; row < rows; row++) {
        ret_quant[row] = quantize_row(x + row * x_stride, inputs, q + row * q_stride);
    }
}

const aq_qkernels aq_qkernels_avx512vnni = {
    .name = "avx512vnni",
    .cpu_flags = AQ_CPU_AVX512 | AQ_CPU_AVX512_VNNI,
    .quantize_rows = quantize_rows,
    .linear = {[AQ_FORMAT_F32] = &aq_f32_avx512,
               [AQ_FORMAT_F16] = &aq_f16_avx512,
               [AQ_FORMAT_BF16] = &aq_bf16_avx512,
               [AQ_FORMAT_INT8_CHANNEL] = &aq_int8_avx512vnni,
               [AQ_FORMAT_INT8_TENSOR] = &aq_int8_avx512vnni},
};
