/*
 * Arrays: several of them in one block, each on a cache line of its own, so that an object of many
 * arrays is one allocation and every array can be read with aligned vector loads.
 *
 *   size_t bytes = sizeof(header);
 *   size_t a = aq_arrays_add(&bytes, rows, row_bytes);   an offset into the block
 *   block = aq_alloc(1, bytes);
 */
#ifndef AQ_COMMON_BASE_ARRAYS_H
#define AQ_COMMON_BASE_ARRAYS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/memory.h"

/* Appends an array of count * size bytes; returns its offset. A block that cannot be addressed
 * becomes SIZE_MAX bytes, which aq_alloc refuses. */
static inline size_t aq_arrays_add(size_t *bytes, size_t count, size_t size)
{
    const size_t mask = AQ_ALIGNMENT_BYTES - 1;
    size_t array, end;
    if (*bytes > SIZE_MAX - mask || __builtin_mul_overflow(count, size, &array) ||
        __builtin_add_overflow((*bytes + mask) & ~mask, array, &end)) {
        *bytes = SIZE_MAX;
        return 0;
    }
    size_t offset = (*bytes + mask) & ~mask;
    *bytes = end;
    return offset;
}

#endif
