/*
 * Quantizing rows of activations, four vectors at a time, whose levels are one store of q.
 *
 * The range of a row is found from the bits of its values as integers, two instructions a vector
 * that every pipe takes: among the positive ones the largest as a signed integer is the largest
 * value, and the largest unsigned integer of all is the lowest negative one. NaN and infinity,
 * either sign's greatest integers, show in the same two numbers. Where there is one, and where the
 * conversion of a value beyond the range of integers says so, the row is taken again with care.
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

#define QUANTIZE_ROWS        RUNG(aq_quantize_rows)
#define QUANTIZE_ROWS_STATIC RUNG(aq_quantize_rows_static)
#include "quantizer/kernels/qrow_walk.h"
