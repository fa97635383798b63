/*
 * Column: what experience carries of each step, or of each boundary between two steps. Everything
 * that holds, sends, stores or draws experience loops over a list of columns (layout.h) and knows
 * hardly any of them by name.
 *
 * Plain data. Any thread.
 */
#ifndef AQ_COMMON_EXPERIENCE_COLUMN_H
#define AQ_COMMON_EXPERIENCE_COLUMN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/experience/frames.h"
#include "common/experience/schema.h"

/* A recorded column's name leaves room for the "next_" of a batch's. */
enum { AQ_COLUMN_NAME_MAX = 24, AQ_COLUMN_RECORDED_NAME_MAX = 18 };

enum aq_column_per {
    AQ_PER_STEP,     /* `length` values in a chunk */
    AQ_PER_BOUNDARY, /* length + 1: one before the first step, and one after each */
};

typedef struct aq_column {
    char name[AQ_COLUMN_NAME_MAX];
    uint32_t dtype;                  /* enum aq_dtype, of an element */
    uint32_t per;                    /* enum aq_column_per */
    uint32_t bytes;                  /* of one value: all its elements */
    uint32_t choices[AQ_BOUNDS_MAX]; /* element i is below choices[i]; 0: whatever the type holds */
    aq_frames frames;                /* of a value, which then shares all but one with the next */
} aq_column;

/* Values in a chunk of `length` steps. */
static inline size_t aq_column_values(const aq_column *column, uint32_t length)
{
    return (size_t)length + (column->per == AQ_PER_BOUNDARY);
}

/* From where one value begins in a chunk to where the next does. */
static inline size_t aq_column_stride(const aq_column *column)
{
    return column->frames.count > 0 ? column->frames.bytes : column->bytes;
}

/* All bytes in a chunk; of values that share frames there is one at least. */
static inline size_t aq_column_bytes(const aq_column *column, uint32_t length)
{
    const size_t stride = aq_column_stride(column);
    return aq_column_values(column, length) * stride + (column->bytes - stride);
}

/* Copies one value that is whole. Many have four bytes, for which a call takes longer than the
 * copy. */
static inline void aq_column_copy(const aq_column *column, uint8_t *to, const uint8_t *from)
{
    if (column->bytes == sizeof(uint32_t)) {
        memcpy(to, from, sizeof(uint32_t));
    } else {
        memcpy(to, from, column->bytes);
    }
}

/* A peer's values, at any alignment, or frames of values: AQ_E_CORRUPT for a float that is not
 * finite, AQ_E_SCHEMA for a choice out of range; in words that name the column and the value. */
int aq_column_check(const aq_column *column, const uint8_t *values, size_t count,
                    aq_error *error) AQ_MUST_USE;

#endif
