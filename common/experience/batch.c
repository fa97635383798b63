/*
 * One block for all columns: a batch is created at start, refilled for every sample request and
 * never grows.
 */
#include "common/experience/batch.h"

#include <stdio.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"

/* ---- which columns there are ----------------------------------------------------------------- */

static aq_batch_column copied(const aq_layout *layout, uint32_t source, uint32_t sequence_length)
{
    const aq_column *column = &layout->columns[source];
    aq_column whole = *column;
    whole.frames = (aq_frames){0};
    return (aq_batch_column){
        .is = whole,
        .gather = AQ_GATHER_COPY,
        .source = source,
        .frames = column->frames,
        .values = sequence_length > 0 ? (uint32_t)aq_column_values(column, sequence_length) : 1,
    };
}

/* What an n-step item leads to; the values of a sequence have it among them. */
static aq_batch_column next_of(const aq_layout *layout, uint32_t source, uint32_t sequence_length)
{
    const aq_column *column = &layout->columns[source];
    aq_batch_column next = copied(layout, source, sequence_length);
    next.gather = AQ_GATHER_NEXT;
    next.values = sequence_length == 0 && column->per == AQ_PER_BOUNDARY;
    (void)snprintf(next.is.name, sizeof(next.is.name), "next_%.18s", column->name);
    return next;
}

static aq_batch_column own(aq_column is, uint32_t values)
{
    return (aq_batch_column){.is = is, .gather = AQ_GATHER_NONE, .values = values};
}

/* How many there are. */
static uint32_t list_columns(const aq_layout *layout, uint32_t sequence_length,
                             aq_batch_column *columns)
{
    const uint32_t steps = sequence_length > 0 ? sequence_length : 1;
    columns[AQ_BATCH_OBS] = copied(layout, AQ_COLUMN_OBS, sequence_length);
    columns[AQ_BATCH_NEXT_OBS] = next_of(layout, AQ_COLUMN_OBS, sequence_length);
    columns[AQ_BATCH_ACTION] = copied(layout, AQ_COLUMN_ACTION, sequence_length);
    columns[AQ_BATCH_REWARD] = copied(layout, AQ_COLUMN_REWARD, sequence_length);
    if (sequence_length == 0) {
        columns[AQ_BATCH_REWARD].gather = AQ_GATHER_FOLD;
    }
    columns[AQ_BATCH_VERSION] = copied(layout, AQ_COLUMN_VERSION, sequence_length);
    columns[AQ_BATCH_BOOTSTRAP] =
        own((aq_column){.name = "bootstrap", .bytes = sizeof(float)}, steps);
    columns[AQ_BATCH_WEIGHT] = own((aq_column){.name = "probability", .bytes = sizeof(float)}, 1);
    columns[AQ_BATCH_LENGTH] =
        own((aq_column){.name = "length", .bytes = sizeof(uint32_t)}, sequence_length > 0);
    columns[AQ_BATCH_ITEM] = own((aq_column){.name = "item", .bytes = sizeof(uint64_t)}, 1);
    columns[AQ_BATCH_PRIORITY] = own((aq_column){.name = "priority", .bytes = sizeof(float)}, 1);
    uint32_t count = AQ_BATCH_RECORDED;
    for (uint32_t source = AQ_COLUMNS_STANDARD; source < layout->column_count; source++) {
        columns[count++] = copied(layout, source, sequence_length);
        columns[count++] = next_of(layout, source, sequence_length);
    }
    return count;
}

/* ---- a batch --------------------------------------------------------------------------------- */

static void point_at_columns(aq_batch *batch)
{
    const aq_batch_column *columns = batch->columns;
    batch->obs = columns[AQ_BATCH_OBS].bytes;
    batch->next_obs = columns[AQ_BATCH_NEXT_OBS].bytes;
    batch->action = columns[AQ_BATCH_ACTION].bytes;
    batch->reward = (float *)(void *)columns[AQ_BATCH_REWARD].bytes;
    batch->bootstrap = (float *)(void *)columns[AQ_BATCH_BOOTSTRAP].bytes;
    batch->weight = (float *)(void *)columns[AQ_BATCH_WEIGHT].bytes;
    batch->length = (uint32_t *)(void *)columns[AQ_BATCH_LENGTH].bytes;
    batch->item = (uint64_t *)(void *)columns[AQ_BATCH_ITEM].bytes;
    batch->version = (uint32_t *)(void *)columns[AQ_BATCH_VERSION].bytes;
    batch->priority = (float *)(void *)columns[AQ_BATCH_PRIORITY].bytes;
}

int aq_batch_create(const aq_layout *layout, uint32_t sequence_length, uint32_t rows_max,
                    aq_batch **ret_batch)
{
    if (rows_max < 1 || rows_max > AQ_BATCH_ROWS_MAX || sequence_length > AQ_BATCH_STEPS_MAX) {
        return AQ_E_INVALID;
    }
    aq_batch made = {
        .layout_hash = layout->hash,
        .rows_max = rows_max,
        .obs_bytes = layout->columns[AQ_COLUMN_OBS].bytes,
        .action_bytes = layout->columns[AQ_COLUMN_ACTION].bytes,
        .steps = sequence_length > 0 ? sequence_length : 1,
        .steps_max = sequence_length > 0 ? sequence_length : 1,
    };
    size_t at[AQ_BATCH_COLUMNS_MAX];
    size_t bytes = sizeof(aq_batch);
    made.column_count = list_columns(layout, sequence_length, made.columns);
    for (uint32_t i = 0; i < made.column_count; i++) {
        at[i] = aq_arrays_add(&bytes, rows_max, aq_batch_column_bytes(&made.columns[i]));
    }
    uint8_t *block = aq_alloc(1, bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    for (uint32_t i = 0; i < made.column_count; i++) {
        made.columns[i].bytes = made.columns[i].values > 0 ? block + at[i] : NULL;
    }
    point_at_columns(&made);
    aq_batch *batch = (aq_batch *)(void *)block;
    *batch = made;
    *ret_batch = batch;
    return 0;
}

void aq_batch_destroy(aq_batch *batch)
{
    aq_free(batch);
}

void aq_batch_fit(aq_batch *batch, uint32_t steps)
{
    AQ_ASSERT(aq_batch_has_sequences(batch) && steps > 0 && steps <= batch->steps_max);
    batch->steps = steps;
    batch->columns[AQ_BATCH_BOOTSTRAP].values = steps;
    for (uint32_t i = 0; i < batch->column_count; i++) {
        aq_batch_column *column = &batch->columns[i];
        if (column->gather == AQ_GATHER_COPY) {
            column->values = (uint32_t)aq_column_values(&column->is, steps);
        }
    }
}

aq_batch aq_batch_slice(const aq_batch *batch, uint32_t first, uint32_t count)
{
    aq_batch slice = *batch;
    AQ_ASSERT(first <= batch->rows && count <= batch->rows - first);
    slice.rows = count;
    slice.rows_max = count;
    for (uint32_t i = 0; i < batch->column_count; i++) {
        if (slice.columns[i].values > 0) {
            slice.columns[i].bytes += first * aq_batch_column_bytes(&slice.columns[i]);
        }
    }
    point_at_columns(&slice);
    return slice;
}

size_t aq_batch_row_bytes(const aq_layout *layout, uint32_t sequence_length)
{
    aq_batch_column columns[AQ_BATCH_COLUMNS_MAX];
    size_t bytes = 0;
    const uint32_t count = list_columns(layout, sequence_length, columns);
    for (uint32_t i = 0; i < count; i++) {
        bytes += i != AQ_BATCH_PRIORITY ? aq_batch_column_bytes(&columns[i]) : 0;
    }
    return bytes;
}
