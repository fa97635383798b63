/*
 * Chunk view: a self-contained slice of one episode, whose columns (layout.h) lie somewhere in
 * bytes that belong to somebody else, at any alignment: in a message as it came, in a mapped file.
 * What reads sampled experience works on views, so that nothing is copied between the network and
 * the batch.
 *
 * A column per boundary has one value more than the slice has transitions, so each observation is
 * there once instead of twice.
 *
 * If the episode goes on, the next chunk repeats the last n-1 transitions (`overlap`), so that an
 * n-step item never crosses a chunk: items start at rows 0 .. item_count-1. A chunk that ends its
 * episode (`terminated` or `truncated`) has an item at every row; the last ones fold fewer steps.
 * A terminal observation is written before the reset. Only `terminated` cuts the bootstrap.
 *
 * Plain data; the bytes must outlive it.
 */
#ifndef AQ_COMMON_EXPERIENCE_CHUNK_VIEW_H
#define AQ_COMMON_EXPERIENCE_CHUNK_VIEW_H

#include <stdint.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/error.h"
#include "common/experience/layout.h"

/* One cache line, which a store keeps of every chunk and reads for every row that it draws. */
typedef struct aq_chunk_view {
    const uint8_t *base;         /* of the bytes that the columns lie in */
    uint32_t at[AQ_COLUMNS_MAX]; /* where each of them begins there */
    uint64_t episode;            /* counts up per (actor, incarnation, environment lane) */
    uint32_t first;              /* index in its episode of row 0 */
    uint32_t lane;               /* which of the actor's environments */
    uint32_t length;             /* transitions, repeated ones included */
    uint16_t overlap; /* of them, how many the chunk before had already; < n_step, < length */
    uint8_t terminated;
    uint8_t truncated;
} aq_chunk_view;

_Static_assert(sizeof(aq_chunk_view) == 64, "a view is one cache line");
_Static_assert(AQ_CHUNK_LENGTH_MAX - 1 <= UINT16_MAX, "an overlap is less than a length");

static inline const uint8_t *aq_chunk_view_column(const aq_chunk_view *view, uint32_t column)
{
    return view->base + view->at[column];
}

static inline float aq_chunk_view_reward(const aq_chunk_view *view, uint32_t row)
{
    float value;
    memcpy(&value, aq_chunk_view_column(view, AQ_COLUMN_REWARD) + (size_t)row * sizeof(value),
           sizeof(value));
    return value;
}

static inline uint32_t aq_chunk_view_version(const aq_chunk_view *view, uint32_t row)
{
    uint32_t value;
    memcpy(&value, aq_chunk_view_column(view, AQ_COLUMN_VERSION) + (size_t)row * sizeof(value),
           sizeof(value));
    return value;
}

/* For columns that lie end to end from `base` on, as aq_layout_bytes counts them; of the view, its
 * length must be known. */
void aq_chunk_view_lay(aq_chunk_view *view, const aq_layout *layout, const uint8_t *base);

/* New transitions: length - overlap. */
static inline uint32_t aq_chunk_view_fresh(const aq_chunk_view *view)
{
    AQ_ASSERT(view->overlap <= view->length);
    return view->length - view->overlap;
}

/* Rows at which an item starts, counted from row 0: all of them when the episode ended here, else
 * length - n_step + 1, and never below 0. */
uint32_t aq_chunk_view_items(const aq_chunk_view *view, const aq_layout *layout);

/* A peer's chunk: sizes against the layout, at least one item and one fresh transition, finite
 * numbers, actions in range. AQ_E_CORRUPT, or AQ_E_SCHEMA for an action out of range; in words. */
int aq_chunk_view_validate(const aq_chunk_view *view, const aq_layout *layout,
                           aq_error *error) AQ_MUST_USE;

#endif
