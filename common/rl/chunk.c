/*
 * Chunks: one block for header and columns, so that storing, counting and freeing an experience is
 * one object, and a chunk evicted from replay leaves no fragments.
 */
#include "common/rl/chunk.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/rl/columns.h"
#include "common/rl/finite.h"

/* Where each column lies in the block of a chunk, and the block's size. */
typedef struct chunk_columns {
    size_t obs, action, reward, version, bytes;
} chunk_columns;

static chunk_columns columns_of(const aq_chunk_layout *layout, uint32_t room)
{
    chunk_columns at = {.bytes = sizeof(aq_chunk)};
    at.obs = aq_columns_add(&at.bytes, (size_t)room + 1, layout->obs_bytes);
    at.action = aq_columns_add(&at.bytes, room, layout->action_bytes);
    at.reward = aq_columns_add(&at.bytes, room, sizeof(float));
    at.version = aq_columns_add(&at.bytes, room, sizeof(uint32_t));
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

static int ends_episode(const aq_chunk *chunk)
{
    return chunk->terminated || chunk->truncated;
}

uint32_t aq_chunk_items(const aq_chunk *chunk, const aq_chunk_layout *layout)
{
    if (ends_episode(chunk)) {
        return chunk->length;
    }
    return chunk->length < layout->n_step ? 0 : chunk->length - layout->n_step + 1;
}

static int validate_sizes(const aq_chunk *chunk, const aq_chunk_layout *layout, aq_error *error)
{
    if (chunk->length < 1 || chunk->length > layout->length_max) {
        return aq_fail(error, AQ_E_CORRUPT, "a chunk of %u transitions; 1 to %u are possible",
                       chunk->length, layout->length_max);
    }
    if (chunk->terminated > 1 || chunk->truncated > 1) {
        return aq_fail(error, AQ_E_CORRUPT, "a flag that is neither 0 nor 1");
    }
    if (chunk->terminated && chunk->truncated) {
        return aq_fail(error, AQ_E_CORRUPT, "an episode that both terminated and was truncated");
    }
    if (chunk->overlap >= layout->n_step || chunk->overlap >= chunk->length) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "%u of %u transitions are repeated; less than that, and less than %u "
                       "steps, is possible",
                       chunk->overlap, chunk->length, layout->n_step);
    }
    if (chunk->first == 0 && chunk->overlap != 0) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "the first chunk of an episode repeats %u transitions of none",
                       chunk->overlap);
    }
    if (chunk->first > UINT32_MAX - chunk->length) {
        return aq_fail(error, AQ_E_CORRUPT, "transition %u + %u is out of any episode",
                       chunk->first, chunk->length);
    }
    if (aq_chunk_items(chunk, layout) == 0) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "%u transitions of an episode that goes on hold no return over %u steps",
                       chunk->length, layout->n_step);
    }
    return 0;
}

static int validate_floats(const void *column, size_t rows, size_t row_bytes, const char *name,
                           aq_error *error)
{
    size_t row_values = row_bytes / sizeof(float);
    size_t bad = aq_find_nonfinite(column, rows * row_values);
    if (bad == rows * row_values) {
        return 0;
    }
    return aq_fail(error, AQ_E_CORRUPT, "%s %zu, element %zu is NaN or infinite", name,
                   bad / row_values, bad % row_values);
}

static int validate_choices(const aq_chunk *chunk, uint32_t choice_count, aq_error *error)
{
    for (uint32_t row = 0; row < chunk->length; row++) {
        int32_t choice;
        memcpy(&choice, chunk->action + row * sizeof(choice), sizeof(choice));
        if (choice < 0 || (uint32_t)choice >= choice_count) {
            return aq_fail(error, AQ_E_SCHEMA, "action %u is %d; 0 to %u are possible", row, choice,
                           choice_count - 1);
        }
    }
    return 0;
}

int aq_chunk_validate(const aq_chunk *chunk, const aq_chunk_layout *layout, aq_error *error)
{
    int rc = validate_sizes(chunk, layout, error);
    if (rc == 0 && layout->obs_is_f32) {
        rc = validate_floats(chunk->obs, (size_t)chunk->length + 1, layout->obs_bytes,
                             "observation", error);
    }
    if (rc == 0) {
        rc = validate_floats(chunk->reward, chunk->length, sizeof(float), "reward", error);
    }
    if (rc == 0 && layout->action_is_f32) {
        rc = validate_floats(chunk->action, chunk->length, layout->action_bytes, "action", error);
    }
    if (rc == 0 && layout->choice_count > 0) {
        rc = validate_choices(chunk, layout->choice_count, error);
    }
    return rc;
}

void aq_chunk_fold(const aq_chunk *chunk, const aq_chunk_layout *layout, uint32_t row,
                   float discount, float *ret_return, float *ret_bootstrap, uint32_t *ret_next_row)
{
    AQ_ASSERT(row < aq_chunk_items(chunk, layout));
    uint32_t left = chunk->length - row;
    uint32_t steps = left < layout->n_step ? left : layout->n_step;
    double sum = 0.0;
    double factor = 1.0;
    for (uint32_t i = 0; i < steps; i++) {
        sum += factor * (double)chunk->reward[row + i];
        factor *= (double)discount;
    }
    bool terminal = chunk->terminated && row + steps == chunk->length;
    *ret_return = (float)sum;
    *ret_bootstrap = terminal ? 0.0f : (float)factor;
    *ret_next_row = row + steps;
}
