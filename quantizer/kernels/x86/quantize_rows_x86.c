/*
 * Quantizing rows of activations, four vectors at a time, whose levels are one store of q.
 *
 * The range of a row is found from the bits of its values as integers, two instructions a vector
 * that every pipe takes: among the positive ones the largest as a signed integer is the largest
 * value, and the largest unsigned integer of all is the lowest negative one. NaN and infinity,
 * either sign's greatest integers, show in the same two numbers. Where there is one, and where the
 * conversion of a value beyond the range of integers says so, the row is taken again, `careful`.
 *
 * From a row's ends to its scale is a long chain of short steps. So some rows are measured before
 * the first of them is written: one row's chain runs beside another's values.
 */
#include <math.h>

#include "quantizer/kernels/qrow.h"
#include "quantizer/kernels/x86/lanes_x86.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

enum { CHUNK = 4 * LANES };
_Static_assert(AQ_QKERNEL_Q_PADDING % CHUNK == 0, "the room of a row is whole chunks");

typedef struct chunk {
    float_lanes a, b, c, d;
} chunk;

/* The ends of a row's range, which has 0 in it: low <= 0 <= high. */
typedef struct row_ends {
    float low, high;
} row_ends;

/* Bits of floats: each lane's greatest as signed and as unsigned integers, from 0 upwards. */
typedef struct row_range {
    int_lanes as_signed, as_unsigned;
} row_range;

static inline float_lanes finite_or_zero(float_lanes value)
{
    const int_lanes bits = (int_lanes)value;
    const float_lanes magnitude = (float_lanes)(bits & INT32_MAX);
    return (float_lanes)(bits & (magnitude < INFINITY));
}

/* A vector from x + first, of whose values those below `left` exist; 0 beyond. */
static inline float_lanes load_from(const float *x, uint32_t left, uint32_t first)
{
    return load_some_lanes(x + first, left > first ? left - first : 0);
}

/* The next CHUNK values, of which `left` exist. */
static inline chunk load_chunk(const float *x, uint32_t left, const bool careful)
{
    chunk v;
    if (left >= CHUNK) {
        v = (chunk){load_any_lanes(x), load_any_lanes(x + LANES), load_any_lanes(x + 2 * LANES),
                    load_any_lanes(x + 3 * LANES)};
    } else {
        v = (chunk){load_from(x, left, 0), load_from(x, left, LANES), load_from(x, left, 2 * LANES),
                    load_from(x, left, 3 * LANES)};
    }
    if (careful) {
        v = (chunk){finite_or_zero(v.a), finite_or_zero(v.b), finite_or_zero(v.c),
                    finite_or_zero(v.d)};
    }
    return v;
}

static inline row_range widen(row_range range, float_lanes value)
{
    const int_lanes bits = (int_lanes)value;
    return (row_range){greatest_ints(range.as_signed, bits),
                       greatest_unsigned(range.as_unsigned, bits)};
}

static inline row_ends measure(const float *x, uint32_t inputs, const bool careful)
{
    const int_lanes zero = all_ints(0);
    row_range ab = {zero, zero};
    row_range cd = {zero, zero};
    row_ends ends;
    for (uint32_t i = 0; i < inputs; i += CHUNK) {
        const chunk v = load_chunk(x + i, inputs - i, careful);
        ab = widen(widen(ab, v.a), v.b);
        cd = widen(widen(cd, v.c), v.d);
    }
    /* The signed ones are from 0 upwards, and may be taken for unsigned. */
    greatest_of_each(greatest_ints(ab.as_signed, cd.as_signed),
                     greatest_unsigned(ab.as_unsigned, cd.as_unsigned), &ends.high, &ends.low);
    ends.low = ends.low > 0.0f ? 0.0f : ends.low; /* NaN is kept */
    return ends;
}

static inline int_lanes round_to_level(float_lanes value, float inverse, const bool careful)
{
    const float_lanes level = value * inverse;
    return round_lanes(careful ? hold_lanes(level, 1024.0f) : level);
}

/* Whether every value had a level; careful, they do. Writes the whole room of the row. */
static inline bool write_levels(const float *x, uint32_t inputs, int32_t zero_point, float inverse,
                                uint8_t *q, const bool careful)
{
    const uint32_t room =
        (inputs + AQ_QKERNEL_Q_PADDING - 1) / AQ_QKERNEL_Q_PADDING * AQ_QKERNEL_Q_PADDING;
    int_lanes least = all_ints(0);

    for (uint32_t i = 0; i < room; i += CHUNK) {
        const uint32_t done = i < inputs ? i : inputs;
        const chunk v = load_chunk(x + done, inputs - done, careful);
        const int_lanes a = round_to_level(v.a, inverse, careful);
        const int_lanes b = round_to_level(v.b, inverse, careful);
        const int_lanes c = round_to_level(v.c, inverse, careful);
        const int_lanes d = round_to_level(v.d, inverse, careful);
        least = least_ints(least, least_ints(least_ints(a, b), least_ints(c, d)));
        store_bytes(q + i, a, b, c, d, zero_point);
    }
    return !any_int_is(least, INT32_MIN);
}

/* Few enough that rows of some thousand values stay in the nearest cache. */
enum { WALK_ROWS = 4 };

/* Whether it has to be written with care. */
static inline bool measure_row(const float *x, uint32_t inputs, row_ends *ret_ends)
{
    const row_ends ends = measure(x, inputs, false);
    const bool careful = !isfinite(ends.low) || !isfinite(ends.high);
    *ret_ends = careful ? measure(x, inputs, true) : ends;
    return careful;
}

static inline void write_row(const float *x, uint32_t inputs, int32_t zero_point, float inverse,
                             uint8_t *q, bool careful)
{
    if (careful) {
        write_levels(x, inputs, zero_point, inverse, q, true);
    } else {
        write_levels(x, inputs, zero_point, inverse, q, false);
    }
}

static inline aq_row_quant quantize_row(const float *x, uint32_t inputs, uint8_t *q)
{
    row_ends ends;
    float inverse;
    const bool careful = measure_row(x, inputs, &ends);
    const aq_row_quant quant = row_quant_from_range(ends.low, ends.high, &inverse);
    write_row(x, inputs, quant.zero_point, inverse, q, careful);
    return quant;
}

/* `rows` up to WALK_ROWS. */
static inline void quantize_group(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                                  uint8_t *q, size_t q_stride, aq_row_quant *ret_quant)
{
    /* Words, not structures: what is written in words and read in vectors is read late. */
    float low[WALK_ROWS], high[WALK_ROWS], inverse[WALK_ROWS];
    int32_t zero_point[WALK_ROWS];
    bool careful[WALK_ROWS];

    for (size_t row = 0; row < rows; row++) {
        row_ends ends;
        careful[row] = measure_row(x + row * x_stride, inputs, &ends);
        low[row] = ends.low;
        high[row] = ends.high;
    }
    for (size_t row = 0; row < rows; row++) {
        const aq_row_quant quant = row_quant_from_range(low[row], high[row], &inverse[row]);
        zero_point[row] = quant.zero_point;
        ret_quant[row] = quant;
    }
    for (size_t row = 0; row < rows; row++) {
        write_row(x + row * x_stride, inputs, zero_point[row], inverse[row], q + row * q_stride,
                  careful[row]);
    }
}

void RUNG(aq_quantize_rows)(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                            uint8_t *q, size_t q_stride, aq_row_quant *ret_quant)
{
    if (rows == 1) {
        *ret_quant = quantize_row(x, inputs, q);
        return;
    }
    for (size_t row = 0; row < rows; row += WALK_ROWS) {
        const size_t left = rows - row;
        quantize_group(x + row * x_stride, x_stride, left < WALK_ROWS ? left : WALK_ROWS, inputs,
                       q + row * q_stride, q_stride, ret_quant + row);
    }
}

void RUNG(aq_quantize_rows_static)(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                                   aq_row_quant quant, uint8_t *q, size_t q_stride,
                                   aq_row_quant *ret_quant)
{
    const float inverse = 1.0f / quant.scale;
    for (size_t row = 0; row < rows; row++) {
        const float *from = x + row * x_stride;
        uint8_t *to = q + row * q_stride;
        if (!write_levels(from, inputs, quant.zero_point, inverse, to, false)) {
            write_levels(from, inputs, quant.zero_point, inverse, to, true);
        }
        ret_quant[row] = quant;
    }
}
