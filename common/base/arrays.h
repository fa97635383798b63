/*
 * Arrays: several of them in one block, each on a cache line of its own, so that an object of many
 * arrays is one allocation and every array can be read with aligned vector loads.
 *
 *   size_t bytes = sizeof(header);
 *   size_t a = aq_arrays_add(&bytes, rows, row_bytes);   an offset into the block
 *   block = aq_alloc(1, bytes);
 *
 * or, by a function that says once where each array is, and runs twice:
 *
 *   object->a = aq_arrays_place(at, rows, row_bytes);
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

typedef struct aq_arrays {
    void *block; /* NULL: they are measured */
    size_t bytes;
} aq_arrays;

/* Where the next array is, of count * size bytes; NULL while they are measured. */
static inline void *aq_arrays_place(aq_arrays *at, size_t count, size_t size)
{
    const size_t offset = aq_arrays_add(&at->bytes, count, size);
    return at->block != NULL ? (char *)at->block + offset : NULL;
}

/* Measures the owner's arrays, then places them in a zeroed block, which is returned; NULL, and so
 * are all of them, without memory. Release with aq_free. */
static inline void *aq_arrays_make(void (*lay_out)(void *owner, aq_arrays *at), void *owner)
{
    aq_arrays at = {.block = NULL};
    lay_out(owner, &at);
    at = (aq_arrays){.block = aq_alloc_large(1, at.bytes)};
    if (at.block != NULL) {
        lay_out(owner, &at);
    }
    return at.block;
}

#endif
