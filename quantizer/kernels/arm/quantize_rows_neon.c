/*
 * Quantizing rows of activations with NEON, 16 values at a time. Looking at each value for NaN or
 * infinity would cost as much as the rest, so the first walk only finds out whether there is one
 * anywhere in the row (v * 0 is NaN for both), and the walks that replace them with 0 are taken by
 * such rows alone. Levels are narrowed with saturation, which is the clamp to 0..255.
 */
#include <math.h>

#include "quantizer/kernels/arm/lanes_neon.h"
#include "quantizer/kernels/arm/qkernels_arm.h"
#include "quantizer/kernels/qrow.h"

enum { CHUNK = 4 * LANES };
_Static_assert(AQ_QKERNEL_Q_PADDING % CHUNK == 0, "the room of a row is whole chunks");

typedef struct chunk {
    float32x4_t a, b, c, d;
} chunk;

typedef struct row_range {
    float32x4_t low, high;
    float32x4_t poison; /* 0 in every lane, or NaN where a value was not finite */
} row_range;

static inline float32x4_t finite_or_zero(float32x4_t value)
{
    const uint32x4_t finite = vcaltq_f32(value, vdupq_n_f32(INFINITY));
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(value), finite));
}

static inline chunk load_whole_chunk(const float *x)
{
    return (chunk){vld1q_f32(x), vld1q_f32(x + LANES), vld1q_f32(x + 2 * LANES),
                   vld1q_f32(x + 3 * LANES)};
}

/* The next 16 values, of which `left` exist; 0 beyond. */
static inline chunk load_chunk(const float *x, uint32_t left, const bool sanitize)
{
    chunk v;
    if (left >= CHUNK) {
        v = load_whole_chunk(x);
    } else {
        float some[CHUNK] = {0};
        memcpy(some, x, left * sizeof(*x));
        v = load_whole_chunk(some);
    }
    if (sanitize) {
        v = (chunk){finite_or_zero(v.a), finite_or_zero(v.b), finite_or_zero(v.c),
                    finite_or_zero(v.d)};
    }
    return v;
}

static inline row_range measure(const float *x, uint32_t inputs, const bool sanitize)
{
    const float32x4_t zero = vdupq_n_f32(0.0f);
    row_range ab = {zero, zero, zero};
    row_range cd = {zero, zero, zero};

    for (uint32_t i = 0; i < inputs; i += CHUNK) {
        const chunk v = load_chunk(x + i, inputs - i, sanitize);
        ab.low = vminq_f32(ab.low, vminq_f32(v.a, v.b));
        cd.low = vminq_f32(cd.low, vminq_f32(v.c, v.d));
        ab.high = vmaxq_f32(ab.high, vmaxq_f32(v.a, v.b));
        cd.high = vmaxq_f32(cd.high, vmaxq_f32(v.c, v.d));
        ab.poison = vfmaq_f32(vfmaq_f32(ab.poison, v.a, zero), v.b, zero);
        cd.poison = vfmaq_f32(vfmaq_f32(cd.poison, v.c, zero), v.d, zero);
    }
    return (row_range){vminq_f32(ab.low, cd.low), vmaxq_f32(ab.high, cd.high),
                       vaddq_f32(ab.poison, cd.poison)};
}

static inline bool is_clean(row_range range)
{
    return !isnan(vaddvq_f32(range.poison));
}

static inline aq_row_quant range_quant(row_range range, float *ret_inverse)
{
    return row_quant_from_range(vminvq_f32(range.low), vmaxvq_f32(range.high), ret_inverse);
}

/* Ties to even; beyond int16 its ends, which the zero point does not bring back. */
static inline int16x8_t levels_of(float32x4_t a, float32x4_t b, float inverse)
{
    const int32x4_t low = vcvtnq_s32_f32(vmulq_n_f32(a, inverse));
    const int32x4_t high = vcvtnq_s32_f32(vmulq_n_f32(b, inverse));
    return vqmovn_high_s32(vqmovn_s32(low), high);
}

static inline void write_levels(const float *x, uint32_t inputs, int32_t zero_point, float inverse,
                                uint8_t *q, const bool sanitize)
{
    const int16x8_t zero = vdupq_n_s16((int16_t)zero_point);
    const uint32_t room =
        (inputs + AQ_QKERNEL_Q_PADDING - 1) / AQ_QKERNEL_Q_PADDING * AQ_QKERNEL_Q_PADDING;

    for (uint32_t i = 0; i < room; i += CHUNK) {
        const uint32_t done = i < inputs ? i : inputs;
        const chunk v = load_chunk(x + done, inputs - done, sanitize);
        const int16x8_t ab = vqaddq_s16(levels_of(v.a, v.b, inverse), zero);
        const int16x8_t cd = vqaddq_s16(levels_of(v.c, v.d, inverse), zero);
        vst1q_u8(q + i, vqmovun_high_s16(vqmovun_s16(ab), cd));
    }
}

static inline aq_row_quant quantize_row(const float *x, uint32_t inputs, uint8_t *q)
{
    float inverse;
    const row_range range = measure(x, inputs, false);
    if (!is_clean(range)) {
        const aq_row_quant quant = range_quant(measure(x, inputs, true), &inverse);
        write_levels(x, inputs, quant.zero_point, inverse, q, true);
        return quant;
    }
    const aq_row_quant quant = range_quant(range, &inverse);
    write_levels(x, inputs, quant.zero_point, inverse, q, false);
    return quant;
}

void aq_quantize_rows_neon(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                           uint8_t *q, size_t q_stride, aq_row_quant *ret_quant)
{
    for (size_t row = 0; row < rows; row++) {
        ret_quant[row] = quantize_row(x + row * x_stride, inputs, q + row * q_stride);
    }
}

void aq_quantize_rows_static_neon(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                                  aq_row_quant quant, uint8_t *q, size_t q_stride,
                                  aq_row_quant *ret_quant)
{
    const float inverse = 1.0f / quant.scale;
    for (size_t row = 0; row < rows; row++) {
        write_levels(x + row * x_stride, inputs, quant.zero_point, inverse, q + row * q_stride,
                     true);
        ret_quant[row] = quant;
    }
}
