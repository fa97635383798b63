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
    uint32_t steps; /* that it spans */
} found_item;

typedef struct found_block {
    found_item items[BLOCK_ROWS];
    const uint8_t *from[AQ_BATCH_COLUMNS_MAX][BLOCK_ROWS]; /* of each of the plan's copies */
} found_block;

/* A column that is gathered without arithmetic. */
typedef struct gather_copy {
    uint8_t *to;
    size_t value_bytes, row_bytes;
    size_t stride;    /* from one value to the next in the chunk */
    aq_frames frames; /* to be stacked */
    uint32_t source;
    bool is_next;      /* it is the value after the item's steps */
    bool has_one_more; /* than the sequence has steps */
} gather_copy;

/* What all rows of one call share. */
typedef struct gather_plan {
    const aq_table_spec *spec;
    aq_chunk_ring *ring;
    aq_batch *batch;
    float discount;
    aq_reward_shape shape;
    uint32_t n_step;
    uint32_t copy_count;
    gather_copy copies[AQ_BATCH_COLUMNS_MAX];
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

/* The last byte of `bytes` that is asked for: of a value that is copied in one go, all; the
 * processor guesses the rest. */
static inline size_t prefetched(size_t bytes)
{
    return (bytes < PREFETCH_BYTES_MAX ? bytes : PREFETCH_BYTES_MAX) - 1;
}

/* Two requests may be for one line: leaving them out takes longer than making them. */
static inline void prefetch(const uint8_t *at, size_t last)
{
    __builtin_prefetch(at);
    for (size_t line = LINE_BYTES; line < last; line += LINE_BYTES) {
        __builtin_prefetch(at + line);
    }
    __builtin_prefetch(at + last);
}

/* That an item spans which starts at a row. */
static inline uint32_t steps_from(const aq_chunk_view *view, uint32_t row, uint32_t most)
{
    const uint32_t left = view->length - row;
    return left < most ? left : most;
}

static void prefetch_rewards(const gather_plan *plan, uint32_t count, found_item *items)
{
    for (uint32_t i = 0; i < count; i++) {
        const aq_chunk_view *view = items[i].view;
        uint32_t row = aq_chunk_items_row(plan->spec, view, items[i].index);
        items[i].index = row;
        items[i].steps = steps_from(view, row, plan->n_step);
        prefetch(aq_chunk_view_column(view, AQ_COLUMN_REWARD) + row * sizeof(float),
                 prefetched(items[i].steps * sizeof(float)));
    }
}

/* Where one column's values are; `is_next` is a constant where this is inlined. */
static inline void find_values(const gather_copy *copy, uint32_t count, const found_item *items,
                               const uint8_t **ret_from, const bool is_next)
{
    const size_t last = prefetched(copy->value_bytes);
    for (uint32_t i = 0; i < count; i++) {
        const size_t row = items[i].index + (is_next ? items[i].steps : 0);
        ret_from[i] = aq_chunk_view_column(items[i].view, copy->source) + row * copy->stride;
        prefetch(ret_from[i], last);
    }
}

static void prefetch_copies(const gather_copy *copy, uint32_t count, const found_item *items,
                            const uint8_t **ret_from)
{
    if (copy->is_next) {
        find_values(copy, count, items, ret_from, true);
    } else {
        find_values(copy, count, items, ret_from, false);
    }
}

static void prefetch_block(const gather_plan *plan, uint32_t count, found_block *found)
{
    prefetch_rewards(plan, count, found->items);
    for (uint32_t k = 0; k < plan->copy_count; k++) {
        prefetch_copies(&plan->copies[k], count, found->items, found->from[k]);
    }
}

static inline float shaped(const aq_reward_shape *shape, float reward)
{
    if (shape->clip > 0.0f) {
        reward = reward < -shape->clip ? -shape->clip : reward > shape->clip ? shape->clip : reward;
    }
    return reward * shape->scale;
}

/* ---- n-step items ---------------------------------------------------------------------------- */

static void fold_block(const gather_plan *plan, uint32_t start, uint32_t count,
                       const found_item *found)
{
    aq_batch *batch = plan->batch;
    for (uint32_t i = 0; i < count; i++) {
        const aq_chunk_view *view = found[i].view;
        const uint32_t row = found[i].index;
        const uint32_t steps = found[i].steps;
        double sum = 0.0;
        for (uint32_t k = 0; k < steps; k++) {
            const float reward = shaped(&plan->shape, aq_chunk_view_reward(view, row + k));
            sum += plan->power[k] * (double)reward;
        }
        bool terminal = view->terminated && row + steps == view->length;
        batch->reward[start + i] = (float)sum;
        batch->bootstrap[start + i] = terminal ? 0.0f : (float)plan->power[steps];
    }
}

/* The values of one column, each into the next place. */
static inline void copy_each(uint8_t *to, const uint8_t *const *from, uint32_t count, size_t bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to + i * bytes, from[i], bytes);
    }
}

/* A call for each value of a few words would take longer than the words. */
static void copy_vectors(uint8_t *to, const uint8_t *const *from, uint32_t count, size_t bytes)
{
    const size_t last = bytes - VECTOR_BYTES; /* overlaps the one before unless it divides evenly */
    for (uint32_t i = 0; i < count; i++, to += bytes) {
        for (size_t at = 0; at < last; at += VECTOR_BYTES) {
            memcpy(to + at, from[i] + at, VECTOR_BYTES);
        }
        memcpy(to + last, from[i] + last, VECTOR_BYTES);
    }
}

static void copy_values(uint8_t *to, const uint8_t *const *from, uint32_t count, size_t bytes)
{
    if (bytes == sizeof(uint32_t)) {
        copy_each(to, from, count, sizeof(uint32_t)); /* without a call: the size is known */
    } else if (bytes >= VECTOR_BYTES && bytes <= PREFETCH_BYTES_MAX) {
        copy_vectors(to, from, count, bytes);
    } else {
        copy_each(to, from, count, bytes);
    }
}

static void stack_values(const gather_copy *copy, uint8_t *to, const uint8_t *const *from,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        aq_frames_join(&copy->frames, from[i], to + i * copy->value_bytes);
    }
}

static void gather_items(const gather_plan *plan, uint32_t start, uint32_t count,
                         const found_block *found)
{
    fold_block(plan, start, count, found->items);
    for (uint32_t k = 0; k < plan->copy_count; k++) {
        const gather_copy *copy = &plan->copies[k];
        uint8_t *to = copy->to + start * copy->row_bytes;
        if (copy->frames.count > 0) {
            stack_values(copy, to, found->from[k], count);
        } else {
            copy_values(to, found->from[k], count, copy->value_bytes);
        }
    }
}

/* ---- sequences ------------------------------------------------------------------------------- */

/* Copies what is real of the values of each row and makes the rest zero. */
static void copy_sequences(const gather_copy *copy, uint32_t start, uint32_t count,
                           const found_item *items, const uint8_t *const *from)
{
    uint8_t *to = copy->to + start * copy->row_bytes;
    for (uint32_t i = 0; i < count; i++, to += copy->row_bytes) {
        const size_t values = items[i].steps + (size_t)copy->has_one_more;
        const size_t used = values * copy->value_bytes;
        if (copy->frames.count == 0) {
            memcpy(to, from[i], used);
        }
        for (size_t k = 0; k < values && copy->frames.count > 0; k++) {
            aq_frames_join(&copy->frames, from[i] + k * copy->stride, to + k * copy->value_bytes);
        }
        memset(to + used, 0, copy->row_bytes - used);
    }
}

static void gather_sequences(const gather_plan *plan, uint32_t start, uint32_t count,
                             const found_block *found)
{
    aq_batch *batch = plan->batch;
    for (uint32_t k = 0; k < plan->copy_count; k++) {
        copy_sequences(&plan->copies[k], start, count, found->items, found->from[k]);
    }
    for (uint32_t i = 0; i < count; i++) {
        const found_item *item = &found->items[i];
        float *bootstrap = batch->bootstrap + (size_t)(start + i) * batch->steps;
        float *reward = batch->reward + (size_t)(start + i) * batch->steps;
        for (uint32_t step = 0; step < batch->steps; step++) {
            bootstrap[step] = step < item->steps ? plan->discount : 0.0f;
            reward[step] = shaped(&plan->shape, reward[step]);
        }
        if (item->view->terminated && item->index + item->steps == item->view->length) {
            bootstrap[item->steps - 1] = 0.0f;
        }
        batch->length[start + i] = item->steps;
    }
}

/* Of the rows of a batch, which are known by their items; quick where most are whole. */
static uint32_t longest_sequence(const aq_table_spec *spec, const aq_chunk_ring *ring,
                                 const aq_batch *batch)
{
    uint32_t longest = 1;
    for (uint32_t row = 0; row < batch->rows && longest < spec->sequence_length; row++) {
        const uint64_t item = batch->item[row];
        const aq_chunk_slot *slot = aq_chunk_ring_slot(ring, aq_chunk_ring_find(ring, item));
        const uint32_t first =
            aq_chunk_items_row(spec, slot->view, (uint32_t)(item - slot->first_item));
        const uint32_t steps = steps_from(slot->view, first, spec->sequence_length);
        longest = steps > longest ? steps : longest;
    }
    return longest;
}

/* ---- the conveyor ---------------------------------------------------------------------------- */

static void do_stage(const gather_plan *plan, uint32_t stage, uint32_t start, found_block *found)
{
    uint32_t left = plan->batch->rows - start;
    uint32_t count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
    switch (stage) {
    case 0:
        guess_block(plan, start, count, found->items);
        break;
    case 1:
        find_block(plan, start, count, found->items);
        break;
    case 2:
        prefetch_block(plan, count, found);
        break;
    default:
        if (aq_batch_has_sequences(plan->batch)) {
            gather_sequences(plan, start, count, found);
        } else {
            gather_items(plan, start, count, found);
        }
        break;
    }
}

static void list_copies(gather_plan *plan)
{
    for (uint32_t i = 0; i < plan->batch->column_count; i++) {
        const aq_batch_column *column = &plan->batch->columns[i];
        if (column->values > 0 &&
            (column->gather == AQ_GATHER_COPY || column->gather == AQ_GATHER_NEXT)) {
            plan->copies[plan->copy_count++] = (gather_copy){
                .to = column->bytes,
                .value_bytes = column->is.bytes,
                .stride = column->frames.count > 0 ? column->frames.bytes : column->is.bytes,
                .frames = column->frames,
                .row_bytes = aq_batch_column_bytes(column),
                .source = column->source,
                .is_next = column->gather == AQ_GATHER_NEXT,
                .has_one_more = column->is.per == AQ_PER_BOUNDARY,
            };
        }
    }
}

static gather_plan plan_of(const aq_table_spec *spec, aq_chunk_ring *ring, float discount,
                           aq_reward_shape shape, aq_batch *batch)
{
    gather_plan plan = {
        .spec = spec, .ring = ring, .batch = batch, .discount = discount, .shape = shape};
    plan.n_step = aq_table_spec_steps(spec);
    double power = 1.0;
    for (uint32_t i = 0; spec->sequence_length == 0 && i <= spec->n_step; i++) {
        plan.power[i] = power;
        power *= (double)discount;
    }
    list_copies(&plan);
    return plan;
}

void aq_replay_gather(const aq_table_spec *spec, aq_chunk_ring *ring, float discount,
                      aq_reward_shape shape, aq_batch *batch)
{
    AQ_ASSERT(batch->rows <= batch->rows_max);
    AQ_ASSERT(aq_batch_has_sequences(batch) == (spec->sequence_length > 0));
    AQ_ASSERT(batch->steps_max == (spec->sequence_length > 0 ? spec->sequence_length : 1));
    AQ_ASSERT(spec->sequence_length > 0 || spec->n_step <= FOLD_STEPS_MAX);
    if (aq_batch_has_sequences(batch)) {
        aq_batch_fit(batch, longest_sequence(spec, ring, batch));
    }
    gather_plan plan = plan_of(spec, ring, discount, shape, batch);
    found_block found[STAGES];
    uint32_t blocks = (batch->rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    for (uint32_t step = 0; step < blocks + STAGES - 1; step++) {
        for (uint32_t stage = 0; stage < STAGES && stage <= step; stage++) {
            uint32_t block = step - stage;
            if (block < blocks) {
                do_stage(&plan, stage, block * BLOCK_ROWS, &found[block % STAGES]);
            }
        }
    }
}
