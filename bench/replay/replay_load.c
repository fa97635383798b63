/*
 * The steps of the replay bench, see replay_load.h. One thread makes and checks; chunks may be read
 * by others.
 */
#include "bench/replay/replay_load.h"

#include <math.h>
#include <string.h>

#include "common/base/memory.h"

/* Steps are in the middle of an episode that never ends: so every chunk repeats the same number. */
enum { FIRST_STEP = 1000 };

static size_t obs_bytes(const aq_replay_load *load)
{
    return load->layout.columns[AQ_COLUMN_OBS].bytes;
}

static size_t action_bytes(const aq_replay_load *load)
{
    return load->layout.columns[AQ_COLUMN_ACTION].bytes;
}

static float mixed(uint64_t step, uint32_t element)
{
    return (float)((step * 31 + element * 7u) % 1024) / 1024.0f;
}

static void fill_obs(const aq_replay_load *load, uint64_t step, uint8_t *row)
{
    for (uint32_t i = 0; i < load->shape.obs_count; i++) {
        const float value = i == 0 ? (float)step : mixed(step, i);
        memcpy(row + i * sizeof(value), &value, sizeof(value));
    }
}

static void fill_action(const aq_replay_load *load, uint64_t step, uint8_t *row)
{
    for (uint32_t i = 0; i < load->shape.action_count; i++) {
        const float value = -mixed(step, i);
        memcpy(row + i * sizeof(value), &value, sizeof(value));
    }
}

static float reward_of(uint64_t step)
{
    return (float)(step % 64) / 64.0f;
}

static uint64_t first_step_of(const aq_replay_load *load, uint32_t index)
{
    return FIRST_STEP + (uint64_t)index * load->fresh;
}

static int make_chunk(const aq_replay_load *load, uint32_t index, aq_chunk **ret_chunk)
{
    const uint64_t first = first_step_of(load, index);
    aq_chunk *chunk;
    int rc = aq_chunk_create(&load->layout, load->shape.chunk_length, &chunk);
    if (rc != 0) {
        return rc;
    }
    chunk->view.first = (uint32_t)first;
    chunk->view.length = load->shape.chunk_length;
    chunk->view.overlap = (uint16_t)(load->shape.n_step - 1);
    uint8_t *obs = aq_chunk_column(chunk, AQ_COLUMN_OBS);
    uint8_t *action = aq_chunk_column(chunk, AQ_COLUMN_ACTION);
    float *reward = aq_chunk_column(chunk, AQ_COLUMN_REWARD);
    uint32_t *version = aq_chunk_column(chunk, AQ_COLUMN_VERSION);
    for (uint32_t i = 0; i <= load->shape.chunk_length; i++) {
        fill_obs(load, first + i, obs + i * obs_bytes(load));
    }
    for (uint32_t i = 0; i < load->shape.chunk_length; i++) {
        fill_action(load, first + i, action + i * action_bytes(load));
        reward[i] = reward_of(first + i);
        version[i] = (uint32_t)(first + i);
    }
    *ret_chunk = chunk;
    return 0;
}

static int make_chunks(aq_replay_load *load)
{
    load->chunks = aq_alloc(load->shape.chunk_count, sizeof(aq_chunk *));
    load->row = aq_alloc(1, aq_replay_load_step_bytes(load));
    int rc = load->chunks == NULL || load->row == NULL ? AQ_E_NOMEM : 0;
    for (uint32_t i = 0; rc == 0 && i < load->shape.chunk_count; i++) {
        rc = make_chunk(load, i, &load->chunks[i]);
    }
    return rc;
}

int aq_replay_load_init(const aq_load_shape *shape, aq_replay_load *ret_load, aq_error *error)
{
    const float low = -INFINITY, high = INFINITY;
    aq_replay_load load = {.shape = *shape, .fresh = shape->chunk_length - (shape->n_step - 1)};
    load.schema.obs = (aq_space){.kind = AQ_SPACE_BOX,
                                 .dtype = AQ_DTYPE_F32,
                                 .rank = 1,
                                 .shape = {shape->obs_count},
                                 .bound_count = 1,
                                 .low = {low},
                                 .high = {high}};
    load.schema.action = load.schema.obs;
    load.schema.action.shape[0] = shape->action_count;
    int rc = aq_layout_init(&load.schema, shape->n_step, shape->chunk_length, &load.layout, error);
    if (rc != 0) {
        return rc;
    }
    rc = make_chunks(&load);
    if (rc != 0) {
        aq_replay_load_fini(&load);
        return aq_fail(error, rc, "no memory for the steps to send");
    }
    *ret_load = load;
    return 0;
}

void aq_replay_load_fini(aq_replay_load *load)
{
    for (uint32_t i = 0; load->chunks != NULL && i < load->shape.chunk_count; i++) {
        aq_chunk_unref(load->chunks[i]);
    }
    aq_free(load->chunks);
    aq_free(load->row);
    *load = (aq_replay_load){.chunks = NULL};
}

size_t aq_replay_load_step_bytes(const aq_replay_load *load)
{
    return obs_bytes(load) + action_bytes(load);
}

static bool is_obs(aq_replay_load *load, const uint8_t *row, uint64_t step)
{
    fill_obs(load, step, load->row);
    return memcmp(row, load->row, obs_bytes(load)) == 0;
}

static bool is_action(aq_replay_load *load, const uint8_t *row, uint64_t step)
{
    fill_action(load, step, load->row);
    return memcmp(row, load->row, action_bytes(load)) == 0;
}

/* What an n-step item at `step` must say, as chunk.h has it. */
static bool is_return(const aq_replay_load *load, const aq_batch *batch, uint32_t row,
                      uint64_t step, float discount)
{
    double sum = 0.0, factor = 1.0;
    for (uint32_t i = 0; i < load->shape.n_step; i++) {
        sum += factor * (double)reward_of(step + i);
        factor *= (double)discount;
    }
    return batch->reward[row] == (float)sum && batch->bootstrap[row] == (float)factor;
}

int aq_replay_load_check(aq_replay_load *load, const aq_batch *batch, float discount,
                         aq_error *error)
{
    const uint64_t end = first_step_of(load, load->shape.chunk_count);
    for (uint32_t i = 0; i < batch->rows; i++) {
        const uint64_t step = batch->version[i];
        if (step < FIRST_STEP || step >= end ||
            !is_obs(load, batch->obs + i * obs_bytes(load), step) ||
            !is_obs(load, batch->next_obs + i * obs_bytes(load), step + load->shape.n_step) ||
            !is_action(load, batch->action + i * action_bytes(load), step) ||
            !is_return(load, batch, i, step, discount)) {
            return aq_fail(error, AQ_E_CORRUPT, "row %u of a batch is not what was sent", i);
        }
    }
    return 0;
}
