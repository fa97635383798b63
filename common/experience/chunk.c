/*
 * Chunks: one block for header and columns, so that storing, counting and freeing an experience is
 * one object, and a chunk evicted from replay leaves no fragments.
 */
#include "common/experience/chunk.h"

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"

int aq_chunk_create(const aq_layout *layout, uint32_t room, aq_chunk **ret_chunk)
{
    if (room == 0) {
        return AQ_E_INVALID;
    }
    if (room > layout->length_max) {
        return AQ_E_TOO_BIG;
    }
    aq_chunk_view view = {.length = 0};
    size_t bytes = sizeof(aq_chunk);
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        view.at[i] = (uint32_t)aq_arrays_add(&bytes, aq_column_bytes(column, room), 1);
    }
    aq_chunk *chunk = aq_alloc(1, bytes);
    if (chunk == NULL) {
        return AQ_E_NOMEM;
    }
    view.base = (const uint8_t *)chunk;
    chunk->view = view;
    chunk->bytes = bytes;
    aq_references_init(&chunk->references);
    *ret_chunk = chunk;
    return 0;
}

aq_chunk *aq_chunk_ref(aq_chunk *chunk)
{
    aq_references_add(&chunk->references);
    return chunk;
}

void aq_chunk_unref(aq_chunk *chunk)
{
    if (chunk != NULL && aq_references_drop(&chunk->references)) {
        aq_free(chunk);
    }
}

/* The boundary at which they begin comes along; the transition before had it already, if any. */
void aq_chunk_append(aq_chunk *chunk, const aq_layout *layout, const aq_chunk_view *from,
                     uint32_t row, uint32_t count)
{
    const size_t length = chunk->view.length;
    AQ_ASSERT(row + count <= from->length);
    AQ_ASSERT(length + count <= layout->length_max);
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        const size_t stride = aq_column_stride(column);
        memcpy((uint8_t *)aq_chunk_column(chunk, i) + length * stride,
               aq_chunk_view_column(from, i) + (size_t)row * stride,
               aq_column_bytes(column, count));
    }
    chunk->view.length += count;
}
