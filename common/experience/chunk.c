/*
 * Chunks: one block for header and columns, so that storing, counting and freeing an experience is
 * one object, and a chunk evicted from replay leaves no fragments.
 */
#include "common/experience/chunk.h"

#include <stdatomic.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/experience/chunk_view.h"

/* Where each column lies in the block of a chunk, and the block's size. */
typedef struct chunk_columns {
    size_t obs, action, reward, version, bytes;
} chunk_columns;

static chunk_columns columns_of(const aq_chunk_layout *layout, uint32_t room)
{
    chunk_columns at = {.bytes = sizeof(aq_chunk)};
    at.obs = aq_arrays_add(&at.bytes, (size_t)room + 1, layout->obs_bytes);
    at.action = aq_arrays_add(&at.bytes, room, layout->action_bytes);
    at.reward = aq_arrays_add(&at.bytes, room, sizeof(float));
    at.version = aq_arrays_add(&at.bytes, room, sizeof(uint32_t));
    return at;
}

static int is_f32(const aq_space *space)
{
    return space->kind == AQ_SPACE_BOX && space->dtype == AQ_DTYPE_F32;
}

int aq_chunk_layout_init(const aq_schema *schema, uint32_t n_step, uint32_t length_max,
                         aq_chunk_layout *ret_layout, aq_error *error)
{
    int rc = aq_schema_validate(schema, error);
    if (rc != 0) {
        return rc;
    }
    if (n_step < 1) {
        return aq_fail(error, AQ_E_INVALID, "an n-step return of 0 steps is no return");
    }
    if (length_max > AQ_CHUNK_LENGTH_MAX) {
        return aq_fail(error, AQ_E_INVALID, "chunks of %u transitions; at most %u are possible",
                       length_max, AQ_CHUNK_LENGTH_MAX);
    }
    if (length_max < n_step) {
        return aq_fail(error, AQ_E_INVALID,
                       "chunks of %u transitions cannot hold one return over %u steps", length_max,
                       n_step);
    }
    aq_chunk_layout layout = {
        .obs_bytes = (uint32_t)aq_space_bytes(&schema->obs),
        .action_bytes = (uint32_t)aq_space_bytes(&schema->action),
        .n_step = n_step,
        .length_max = length_max,
        .obs_is_f32 = (uint8_t)is_f32(&schema->obs),
        .action_is_f32 = (uint8_t)is_f32(&schema->action),
        .choice_count = schema->action.kind == AQ_SPACE_DISCRETE ? schema->action.choice_count : 0,
    };
    if (columns_of(&layout, length_max).bytes > AQ_CHUNK_BYTES_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG,
                       "chunks of %u transitions with observations of %u bytes take more than %u "
                       "MiB",
                       length_max, layout.obs_bytes, (unsigned)(AQ_CHUNK_BYTES_MAX >> 20));
    }
    *ret_layout = layout;
    return 0;
}

int aq_chunk_create(const aq_chunk_layout *layout, uint32_t room, aq_chunk **ret_chunk)
{
    if (room == 0) {
        return AQ_E_INVALID;
    }
    if (room > layout->length_max) {
        return AQ_E_TOO_BIG;
    }
    chunk_columns at = columns_of(layout, room);
    uint8_t *block = aq_alloc(1, at.bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    aq_chunk *chunk = (aq_chunk *)(void *)block;
    chunk->obs = block + at.obs;
    chunk->action = block + at.action;
    chunk->reward = (float *)(void *)(block + at.reward);
    chunk->version = (uint32_t *)(void *)(block + at.version);
    chunk->bytes = at.bytes;
    atomic_init(&chunk->references, 1);
    *ret_chunk = chunk;
    return 0;
}

aq_chunk *aq_chunk_ref(aq_chunk *chunk)
{
    uint32_t before = atomic_fetch_add_explicit(&chunk->references, 1, memory_order_relaxed);
    AQ_ASSERT(before > 0);
    AQ_ASSERT(before < UINT32_MAX);
    return chunk;
}

void aq_chunk_unref(aq_chunk *chunk)
{
    if (chunk == NULL) {
        return;
    }
    /* Release what this owner did, and acquire what the others did before the last one frees. */
    uint32_t before = atomic_fetch_sub_explicit(&chunk->references, 1, memory_order_acq_rel);
    AQ_ASSERT(before > 0);
    if (before == 1) {
        aq_free(chunk);
    }
}

uint32_t aq_chunk_fresh(const aq_chunk *chunk)
{
    AQ_ASSERT(chunk->overlap <= chunk->length);
    return chunk->length - chunk->overlap;
}

uint32_t aq_chunk_items(const aq_chunk *chunk, const aq_chunk_layout *layout)
{
    const aq_chunk_view view = aq_chunk_view_of(chunk);
    return aq_chunk_view_items(&view, layout);
}

int aq_chunk_validate(const aq_chunk *chunk, const aq_chunk_layout *layout, aq_error *error)
{
    const aq_chunk_view view = aq_chunk_view_of(chunk);
    return aq_chunk_view_validate(&view, layout, error);
}

void aq_chunk_fold(const aq_chunk *chunk, const aq_chunk_layout *layout, uint32_t row,
                   float discount, float *ret_return, float *ret_bootstrap, uint32_t *ret_next_row)
{
    const aq_chunk_view view = aq_chunk_view_of(chunk);
    AQ_ASSERT(row < aq_chunk_view_items(&view, layout));
    aq_chunk_view_fold(&view, layout->n_step, row, discount, ret_return, ret_bootstrap,
                       ret_next_row);
}
