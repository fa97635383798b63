/*
 * One block for all columns: a batch is created at start, refilled for every sample request and
 * never grows.
 */
#include "common/experience/batch.h"

#include "common/base/arrays.h"
#include "common/base/memory.h"

/* How many of each column a row has. */
typedef struct row_shape {
    uint32_t obs, next_obs, steps, lengths;
} row_shape;

static const row_shape item_shape = {.obs = 1, .next_obs = 1, .steps = 1};

static row_shape sequence_shape(uint32_t steps)
{
    return (row_shape){.obs = steps + 1, .steps = steps, .lengths = 1};
}

static int create(const aq_chunk_layout *layout, row_shape shape, uint32_t rows_max,
                  aq_batch **ret_batch)
{
    if (rows_max < 1 || rows_max > AQ_BATCH_ROWS_MAX) {
        return AQ_E_INVALID;
    }
    size_t rows = rows_max;
    size_t steps = rows * shape.steps;
    size_t bytes = sizeof(aq_batch);
    size_t obs = aq_arrays_add(&bytes, rows * shape.obs, layout->obs_bytes);
    size_t next_obs = aq_arrays_add(&bytes, rows * shape.next_obs, layout->obs_bytes);
    size_t action = aq_arrays_add(&bytes, steps, layout->action_bytes);
    size_t reward = aq_arrays_add(&bytes, steps, sizeof(float));
    size_t bootstrap = aq_arrays_add(&bytes, steps, sizeof(float));
    size_t weight = aq_arrays_add(&bytes, rows, sizeof(float));
    size_t length = aq_arrays_add(&bytes, rows * shape.lengths, sizeof(uint32_t));
    size_t item = aq_arrays_add(&bytes, rows, sizeof(uint64_t));
    size_t version = aq_arrays_add(&bytes, steps, sizeof(uint32_t));
    size_t priority = aq_arrays_add(&bytes, rows, sizeof(float));
    uint8_t *block = aq_alloc(1, bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    aq_batch *batch = (aq_batch *)(void *)block;
    *batch = (aq_batch){
        .rows_max = rows_max,
        .obs_bytes = layout->obs_bytes,
        .action_bytes = layout->action_bytes,
        .steps = shape.steps,
        .obs = block + obs,
        .next_obs = shape.next_obs > 0 ? block + next_obs : NULL,
        .action = block + action,
        .reward = (float *)(void *)(block + reward),
        .bootstrap = (float *)(void *)(block + bootstrap),
        .weight = (float *)(void *)(block + weight),
        .length = shape.lengths > 0 ? (uint32_t *)(void *)(block + length) : NULL,
        .item = (uint64_t *)(void *)(block + item),
        .version = (uint32_t *)(void *)(block + version),
        .priority = (float *)(void *)(block + priority),
    };
    *ret_batch = batch;
    return 0;
}

int aq_batch_create(const aq_chunk_layout *layout, uint32_t rows_max, aq_batch **ret_batch)
{
    return create(layout, item_shape, rows_max, ret_batch);
}

int aq_batch_create_sequences(const aq_chunk_layout *layout, uint32_t steps, uint32_t rows_max,
                              aq_batch **ret_batch)
{
    if (steps < 1 || steps > AQ_BATCH_STEPS_MAX) {
        return AQ_E_INVALID;
    }
    return create(layout, sequence_shape(steps), rows_max, ret_batch);
}

void aq_batch_destroy(aq_batch *batch)
{
    aq_free(batch);
}

static size_t row_bytes(const aq_chunk_layout *layout, row_shape shape)
{
    size_t step = layout->action_bytes + 2 * sizeof(float) + sizeof(uint32_t);
    return ((size_t)shape.obs + shape.next_obs) * layout->obs_bytes + shape.steps * step +
           shape.lengths * sizeof(uint32_t) + sizeof(float) + sizeof(uint64_t);
}

size_t aq_batch_row_bytes(const aq_chunk_layout *layout)
{
    return row_bytes(layout, item_shape);
}

size_t aq_batch_sequence_bytes(const aq_chunk_layout *layout, uint32_t steps)
{
    return row_bytes(layout, sequence_shape(steps));
}
