/*
 * Chunks for tests: layouts of small spaces, and the columns that every run has, to be filled and
 * looked at; and messages that own theirs.
 */
#ifndef AQ_TESTS_SUPPORT_CHUNKS_H
#define AQ_TESTS_SUPPORT_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/experience/chunk.h"
#include "common/experience/experience.h"

/* A box without bounds. */
static inline aq_space chunk_box(uint32_t dtype, uint32_t elements)
{
    return (aq_space){.kind = AQ_SPACE_BOX,
                      .dtype = dtype,
                      .rank = 1,
                      .shape = {elements},
                      .bound_count = 1,
                      .low = {-__builtin_inff()},
                      .high = {__builtin_inff()}};
}

static inline aq_layout chunk_layout_of(aq_space obs, aq_space action, uint32_t n_step,
                                        uint32_t length_max)
{
    const aq_schema schema = {.obs = obs, .action = action};
    aq_layout layout;
    int rc = aq_layout_init(&schema, n_step, length_max, &layout, NULL);
    AQ_ASSERT(rc == 0);
    return layout;
}

/* Observations of `obs` floats, and choices. */
static inline aq_layout chunk_layout(uint32_t obs, uint32_t choices, uint32_t n_step,
                                     uint32_t length_max)
{
    aq_space action;
    aq_space_init_discrete(&action, choices);
    return chunk_layout_of(chunk_box(AQ_DTYPE_F32, obs), action, n_step, length_max);
}

static inline void *chunk_column_of(const aq_chunk *chunk, uint32_t column)
{
    return (void *)(uintptr_t)aq_chunk_view_column(&chunk->view, column);
}

static inline uint8_t *obs_of(const aq_chunk *chunk)
{
    return chunk_column_of(chunk, AQ_COLUMN_OBS);
}

static inline uint8_t *action_of(const aq_chunk *chunk)
{
    return chunk_column_of(chunk, AQ_COLUMN_ACTION);
}

static inline float *reward_of(const aq_chunk *chunk)
{
    return chunk_column_of(chunk, AQ_COLUMN_REWARD);
}

static inline uint32_t *version_of(const aq_chunk *chunk)
{
    return chunk_column_of(chunk, AQ_COLUMN_VERSION);
}

/* Whether `count` transitions of `a`, from `a_row` on, are those of `b` from its first on. */
static inline bool has_same_rows(const aq_layout *layout, const aq_chunk_view *a, uint32_t a_row,
                                 const aq_chunk_view *b, uint32_t count)
{
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        if (memcmp(aq_chunk_view_column(a, i) + (size_t)a_row * column->bytes,
                   aq_chunk_view_column(b, i), aq_column_bytes(column, count)) != 0) {
            return false;
        }
    }
    return true;
}

/* The n-step item at `row`, as it is written down:
 *   m = min(n_step, length - row);  R = sum_{i<m} discount^i reward[row+i]
 *   bootstrap = discount^m, or 0 when the episode terminated at row + m
 * and *ret_next_row = row + m is the boundary to bootstrap from. */
static inline void chunk_fold(const aq_chunk_view *view, uint32_t n_step, uint32_t row,
                              float discount, float *ret_return, float *ret_bootstrap,
                              uint32_t *ret_next_row)
{
    const uint32_t left = view->length - row;
    const uint32_t steps = left < n_step ? left : n_step;
    double sum = 0.0, factor = 1.0;
    for (uint32_t i = 0; i < steps; i++) {
        sum += factor * (double)aq_chunk_view_reward(view, row + i);
        factor *= (double)discount;
    }
    *ret_return = (float)sum;
    *ret_bootstrap = view->terminated && steps == left ? 0.0f : (float)factor;
    *ret_next_row = row + steps;
}

/* Of a message that owns its chunks: drops the references and the array. */
static inline void experience_fini(aq_experience *experience)
{
    for (uint32_t i = 0; experience->chunks != NULL && i < experience->chunk_count; i++) {
        aq_chunk_unref(experience->chunks[i]);
    }
    aq_free(experience->chunks);
    memset(experience, 0, sizeof(*experience));
}

#endif
