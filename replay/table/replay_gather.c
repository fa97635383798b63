/*
 * Sampled rows lie scattered over the whole store, so the time goes into waiting for memory. Four
 * lines lead to a row, each known from the one before: the ring's index, the chunk's slot, its
 * view, and the columns. So rows are taken in blocks that go through four steps, as on a conveyor:
 * while one block is copied, the lines of the next are on their way, and the ones after it are
 * looked up.
 */
#include "replay/table/replay_gather.h"

#include <string.h>

#include "common/base/assert.h"
#include "replay/table/chunk_items.h"

enum {
    BLOCK_ROWS = 16,
    STAGES = 4,
    LINE_BYTES = 64,
    PREFETCH_BYTES_MAX = 1024,
    VECTOR_BYTES = 16,
    FOLD_STEPS_MAX = 64,
};

/* How far a row is known; each step reads what the one before has asked for. */
typedef struct found_item {
    uint64_t ordinal; /* of the item's chunk, or of one shortly before */
    const aq_chunk_view *view;
    uint32_t index; /* of the item in its chunk, then the row at which it starts */
} found_item;

/* What all rows of one call share. */
typedef struct gather_plan {
    const aq_table_spec *spec;
    aq_chunk_ring *ring;
    aq_batch *batch;
    float discount;
    uint32_t n_step;
    double power[FOLD_STEPS_MAX + 1]; /* discount^i */
} gather_plan;

static void guess_block(const gather_plan *plan, uint32_t start, uint32_t count, found_item *found)
{
    for (uint32_t i = 0; i < count; i++) {
        found[i].ordinal = aq_chunk_ring_guess(plan->ring, plan->batch->item[start + i]);
        __builtin_prefetch(aq_chunk_ring_slot(plan->ring, found[i].ordinal));
        __builtin_prefetch(aq_chunk_ring_slot(plan->ring, found[i].ordinal + 1));
    }
}

static void find_block(const gather_plan *plan, uint32_t start, uint32_t count, found_item *found)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t item = plan->batch->item[start + i];
        uint64_t ordinal = aq_chunk_ring_find_from(plan->ring, found[i].ordinal, item);
        aq_chunk_slot *slot = aq_chunk_ring_slot(plan->ring, ordinal);
        found[i].view = slot->view;
        found[i].index = (uint32_t)(item - slot->first_item);
        slot->draws++;
        __builtin_prefetch(slot->view);
    }
}

/* Of `bytes`, at most those of a row that is copied in one go; the processor guesses the rest. Two
 * requests may be for one line: leaving them out takes longer than making them. */
static inline void prefetch(const uint8_t *at, size_t bytes)
{
    const uint8_t *end = at + (bytes < PREFETCH_BYTES_MAX ? bytes : PREFETCH_BYTES_MAX);
    for (; at < end; at += LINE_BYTES) {
        __builtin_prefetch(at);
    }
    __builtin_prefetch(end - 1);
}

static void prefetch_block(const gather_plan *plan, uint32_t count, found_item *found)
{
    size_t obs_bytes = plan->batch->obs_bytes;
    size_t action_bytes = plan->batch->action_bytes;
    for (uint32_t i = 0; i < count; i++) {
        const aq_chunk_view *view = found[i].view;
        uint32_t row = aq_chunk_items_row(plan->spec, view, found[i].index);
        uint32_t left = view->length - row;
        uint32_t steps = left < plan->n_step ? left : plan->n_step;
        found[i].index = row;
        prefetch(view->obs + row * obs_bytes, obs_bytes);
        prefetch(view->obs + (row + steps) * obs_bytes, obs_bytes);
        prefetch(view->action + row * action_bytes, action_bytes);
        prefetch(view->reward + row * sizeof(float), steps * sizeof(float));
        __builtin_prefetch(view->version + row * sizeof(uint32_t));
    }
}

/* A call for each row of a few words would take longer than the words. */
static inline void copy_row(uint8_t *to, const uint8_t *from, size_t bytes)
{
    if (bytes < VECTOR_BYTES || bytes > PREFETCH_BYTES_MAX) {
        memcpy(to, from, bytes);
        return;
    }
    size_t last = bytes - VECTOR_BYTES; /* overlaps the one before unless it divides evenly */
    for (size_t at = 0; at < last; at += VECTOR_BYTES) {
        memcpy(to + at, from + at, VECTOR_BYTES);
    }
    memcpy(to + last, from + last, VECTOR_BYTES);
}

static inline void gather_item(const gather_plan *plan, const aq_chunk_view *view, uint32_t row,
                               size_t to)
{
    aq_batch *batch = plan->batch;
    size_t obs_bytes = batch->obs_bytes;
    size_t action_bytes = batch->action_bytes;
    uint32_t left = view->length - row;
    uint32_t steps = left < plan->n_step ? left : plan->n_step;
    double sum = 0.0;
    for (uint32_t i = 0; i < steps; i++) {
        sum += plan->power[i] * (double)aq_chunk_view_reward(view, row + i);
    }
    int terminal = view->terminated && steps == left;
    batch->reward[to] = (float)sum;
    batch->bootstrap[to] = terminal ? 0.0f : (float)plan->power[steps];
    batch->version[to] = aq_chunk_view_version(view, row);
    copy_row(batch->obs + to * obs_bytes, view->obs + row * obs_bytes, obs_bytes);
    copy_row(batch->next_obs + to * obs_bytes, view->obs + (row + steps) * obs_bytes, obs_bytes);
    copy_row(batch->action + to * action_bytes, view->action + row * action_bytes, action_bytes);
}

/* Copies `used` rows and makes the rest of `rows` zero. */
static void copy_rows(uint8_t *to, const uint8_t *from, size_t used, size_t rows, size_t row_bytes)
{
    memcpy(to, from, used * row_bytes);
    memset(to + used * row_bytes, 0, (rows - used) * row_bytes);
}

static void gather_sequence(const gather_plan *plan, const aq_chunk_view *view, uint32_t row,
                            size_t to)
{
    aq_batch *batch = plan->batch;
    size_t steps = batch->steps;
    size_t obs_bytes = batch->obs_bytes;
    size_t action_bytes = batch->action_bytes;
    uint32_t left = view->length - row;
    uint32_t length = left < batch->steps ? left : batch->steps;
    float *bootstrap = batch->bootstrap + to * steps;
    copy_rows(batch->obs + to * (steps + 1) * obs_bytes, view->obs + row * obs_bytes,
              (size_t)length + 1, steps + 1, obs_bytes);
    copy_rows(batch->action + to * steps * action_bytes, view->action + row * action_bytes, length,
              steps, action_bytes);
    copy_rows((uint8_t *)(batch->reward + to * steps), view->reward + row * sizeof(float), length,
              steps, sizeof(float));
    copy_rows((uint8_t *)(batch->version + to * steps), view->version + row * sizeof(uint32_t),
              length, steps, sizeof(uint32_t));
    for (uint32_t i = 0; i < batch->steps; i++) {
        bootstrap[i] = i < length ? plan->discount : 0.0f;
    }
    if (view->terminated && length == left) {
        bootstrap[length - 1] = 0.0f;
    }
    batch->length[to] = length;
}

static void gather_block(const gather_plan *plan, uint32_t start, uint32_t count,
                         const found_item *found)
{
    if (aq_batch_has_sequences(plan->batch)) {
        for (uint32_t i = 0; i < count; i++) {
            gather_sequence(plan, found[i].view, found[i].index, (size_t)start + i);
        }
    } else {
        for (uint32_t i = 0; i < count; i++) {
            gather_item(plan, found[i].view, found[i].index, (size_t)start + i);
        }
    }
}

static void do_stage(const gather_plan *plan, uint32_t stage, uint32_t start, found_item *found)
{
    uint32_t left = plan->batch->rows - start;
    uint32_t count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
    switch (stage) {
    case 0:
        guess_block(plan, start, count, found);
        break;
    case 1:
        find_block(plan, start, count, found);
        break;
    case 2:
        prefetch_block(plan, count, found);
        break;
    default:
        gather_block(plan, start, count, found);
        break;
    }
}

static gather_plan plan_of(const aq_table_spec *spec, aq_chunk_ring *ring, float discount,
                           aq_batch *batch)
{
    gather_plan plan = {.spec = spec, .ring = ring, .batch = batch, .discount = discount};
    plan.n_step = aq_table_spec_span(spec);
    double power = 1.0;
    for (uint32_t i = 0; spec->sequence_length == 0 && i <= spec->n_step; i++) {
        plan.power[i] = power;
        power *= (double)discount;
    }
    return plan;
}

void aq_replay_gather(const aq_table_spec *spec, aq_chunk_ring *ring, float discount,
                      aq_batch *batch)
{
    AQ_ASSERT(batch->rows <= batch->rows_max);
    AQ_ASSERT(aq_batch_has_sequences(batch) == (spec->sequence_length > 0));
    AQ_ASSERT(batch->steps == (spec->sequence_length > 0 ? spec->sequence_length : 1));
    AQ_ASSERT(spec->sequence_length > 0 || spec->n_step <= FOLD_STEPS_MAX);
    gather_plan plan = plan_of(spec, ring, discount, batch);
    found_item found[STAGES][BLOCK_ROWS];
    uint32_t blocks = (batch->rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (uint32_t step = 0; step < blocks + STAGES - 1; step++) {
        for (uint32_t stage = 0; stage < STAGES && stage <= step; stage++) {
            uint32_t block = step - stage;
            if (block < blocks) {
                do_stage(&plan, stage, block * BLOCK_ROWS, found[block % STAGES]);
            }
        }
    }
}
