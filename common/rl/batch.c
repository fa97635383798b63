/*
 * One block for all columns: a batch is created at start, refilled for every sample request and
 * never grows.
 */
#include "common/rl/batch.h"

#include "common/base/memory.h"
#include "common/rl/columns.h"

int aq_batch_create(const aq_chunk_layout *layout, uint32_t rows_max, aq_batch **ret_batch)
{
    if (rows_max < 1 || rows_max > AQ_BATCH_ROWS_MAX) {
        return AQ_E_INVALID;
    }
    size_t bytes = sizeof(aq_batch);
    size_t obs = aq_columns_add(&bytes, rows_max, layout->obs_bytes);
    size_t next_obs = aq_columns_add(&bytes, rows_max, layout->obs_bytes);
    size_t action = aq_columns_add(&bytes, rows_max, layout->action_bytes);
    size_t reward = aq_columns_add(&bytes, rows_max, sizeof(float));
    size_t bootstrap = aq_columns_add(&bytes, rows_max, sizeof(float));
    size_t weight = aq_columns_add(&bytes, rows_max, sizeof(float));
    size_t item = aq_columns_add(&bytes, rows_max, sizeof(uint64_t));
    size_t version = aq_columns_add(&bytes, rows_max, sizeof(uint32_t));
    size_t priority = aq_columns_add(&bytes, rows_max, sizeof(float));
    uint8_t *block = aq_alloc(1, bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    aq_batch *batch = (aq_batch *)(void *)block;
    *batch = (aq_batch){
        .rows_max = rows_max,
        .obs_bytes = layout->obs_bytes,
        .action_bytes = layout->action_bytes,
        .obs = block + obs,
        .next_obs = block + next_obs,
        .action = block + action,
        .reward = (float *)(void *)(block + reward),
        .bootstrap = (float *)(void *)(block + bootstrap),
        .weight = (float *)(void *)(block + weight),
        .item = (uint64_t *)(void *)(block + item),
        .version = (uint32_t *)(void *)(block + version),
        .priority = (float *)(void *)(block + priority),
    };
    *ret_batch = batch;
    return 0;
}

void aq_batch_destroy(aq_batch *batch)
{
    aq_free(batch);
}

size_t aq_batch_row_bytes(const aq_chunk_layout *layout)
{
    return 2 * (size_t)layout->obs_bytes + layout->action_bytes + 3 * sizeof(float) +
           sizeof(uint64_t) + sizeof(uint32_t);
}
