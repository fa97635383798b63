/*
 * The walk over rows of activations, which the vector rungs share, written once as a template. A
 * file of one instruction set includes qrow.h, defines what is listed here, and includes this:
 *
 *   QUANTIZE_ROWS, QUANTIZE_ROWS_STATIC    the names of the two functions (qkernels.h)
 *   measure(x, inputs, careful)            the row's ends
 *   write_levels(x, inputs, zero_point, inverse, q, careful)
 *                                          the row's room, whole; whether every value had a level
 *
 * `careful` is for rows with values that are NaN, infinite or far beyond the range: they are found
 * on the quick way, for next to nothing, and such a row is then taken again.
 *
 * From a row's ends to its scale is a long chain of short steps. So some rows are measured before
 * the first of them is written: one row's chain runs beside another's values.
 */
#ifndef AQ_QUANTIZER_KERNELS_QROW_WALK_H
#define AQ_QUANTIZER_KERNELS_QROW_WALK_H

#include "quantizer/kernels/qrow.h"

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

void QUANTIZE_ROWS(const float *x, size_t x_stride, size_t rows, uint32_t inputs, uint8_t *q,
                   size_t q_stride, aq_row_quant *ret_quant)
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

void QUANTIZE_ROWS_STATIC(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                          aq_row_quant quant, uint8_t *q, size_t q_stride, aq_row_quant *ret_quant)
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

#endif
