/*
 * Chunk: the unit that actors send and replay stores (chunk_view.h), and the memory of its columns.
 *
 * One allocation a chunk: header and columns, each of which starts on a cache line. Immutable once
 * closed; reference-counted.
 */
#ifndef AQ_COMMON_EXPERIENCE_CHUNK_H
#define AQ_COMMON_EXPERIENCE_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/references.h"
#include "common/experience/chunk_view.h"

typedef struct aq_chunk {
    aq_chunk_view view;       /* of its own columns */
    size_t bytes;             /* of the whole allocation, for budgets */
    aq_references references; /* use ref and unref */
} aq_chunk;

/* An empty chunk with room for `room` transitions and one reference; columns are zeroed. Its
 * view's `length` is 0, for the caller to set as rows are written. AQ_E_INVALID for no room at all,
 * AQ_E_TOO_BIG for more than the layout's length_max, AQ_E_NOMEM. */
int aq_chunk_create(const aq_layout *layout, uint32_t room, aq_chunk **ret_chunk) AQ_MUST_USE;

/* Any thread that holds a reference. Returns `chunk`. */
aq_chunk *aq_chunk_ref(aq_chunk *chunk);
void aq_chunk_unref(aq_chunk *chunk); /* NULL is fine */

/* To write it; aligned for any type. */
static inline void *aq_chunk_column(aq_chunk *chunk, uint32_t column)
{
    return (uint8_t *)chunk + chunk->view.at[column];
}

/* Appends `count` transitions of `from`, beginning at its row `row`. */
void aq_chunk_append(aq_chunk *chunk, const aq_layout *layout, const aq_chunk_view *from,
                     uint32_t row, uint32_t count);

#endif
