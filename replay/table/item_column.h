/*
 * Item column: one value for each number of a range that only moves upwards, as those of a table's
 * items, in a ring whose size is a power of two, so that a number finds its value by its low bits
 * alone.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_TABLE_ITEM_COLUMN_H
#define AQ_REPLAY_TABLE_ITEM_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct aq_item_column {
    void *values;
    uint32_t value_bytes;
    uint64_t window; /* values in the ring; 0: none yet */
} aq_item_column;

void aq_item_column_init(aq_item_column *column, uint32_t value_bytes);
void aq_item_column_fini(aq_item_column *column); /* zeroed is fine */

/* Makes room for the numbers first .. end - 1, of which those below `known` have values, which stay
 * theirs; first <= known <= end. AQ_E_NOMEM: nothing changed. */
int aq_item_column_reserve(aq_item_column *column, uint64_t first, uint64_t known,
                           uint64_t end) AQ_MUST_USE;

static inline void *aq_item_column_at(const aq_item_column *column, uint64_t item)
{
    return (uint8_t *)column->values + (item & (column->window - 1)) * column->value_bytes;
}

static inline float *aq_item_column_f32(const aq_item_column *column, uint64_t item)
{
    return (float *)column->values + (item & (column->window - 1));
}

static inline uint32_t *aq_item_column_u32(const aq_item_column *column, uint64_t item)
{
    return (uint32_t *)column->values + (item & (column->window - 1));
}

static inline size_t aq_item_column_bytes(const aq_item_column *column)
{
    return (size_t)column->window * column->value_bytes;
}

/* The least power of two that is at least `count` and `least`, itself a power of two. */
uint64_t aq_item_window(uint64_t count, uint64_t least);

#endif
