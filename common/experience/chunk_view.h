/*
 * Chunk view: a chunk (chunk.h) whose columns lie somewhere in bytes that belong to somebody else,
 * at any alignment: in a message as it came, in a mapped file. What reads sampled experience works
 * on views, so that nothing is copied between the network and the batch.
 *
 * Plain data; the bytes must outlive it.
 */
#ifndef AQ_COMMON_EXPERIENCE_CHUNK_VIEW_H
#define AQ_COMMON_EXPERIENCE_CHUNK_VIEW_H

#include <stdint.h>
#include <string.h>

#include "common/base/error.h"
#include "common/experience/chunk.h"

typedef struct aq_chunk_view {
    const uint8_t *obs;     /* (length + 1) rows */
    const uint8_t *action;  /* length rows */
    const uint8_t *reward;  /* length float, unaligned */
    const uint8_t *version; /* length uint32_t, unaligned */
    uint64_t episode;
    uint32_t first, lane, length, overlap; /* as in aq_chunk */
    uint8_t terminated, truncated;
} aq_chunk_view;

/* `chunk` must outlive the view. */
aq_chunk_view aq_chunk_view_of(const aq_chunk *chunk);

static inline float aq_chunk_view_reward(const aq_chunk_view *view, uint32_t row)
{
    float value;
    memcpy(&value, view->reward + (size_t)row * sizeof(value), sizeof(value));
    return value;
}

static inline uint32_t aq_chunk_view_version(const aq_chunk_view *view, uint32_t row)
{
    uint32_t value;
    memcpy(&value, view->version + (size_t)row * sizeof(value), sizeof(value));
    return value;
}

/* As the functions of aq_chunk with the same names. */
uint32_t aq_chunk_view_fresh(const aq_chunk_view *view);
uint32_t aq_chunk_view_items(const aq_chunk_view *view, const aq_chunk_layout *layout);
int aq_chunk_view_validate(const aq_chunk_view *view, const aq_chunk_layout *layout,
                           aq_error *error) AQ_MUST_USE;

/* The item at `row` over `n_step` steps, at most the layout's: what aq_chunk_fold says. */
void aq_chunk_view_fold(const aq_chunk_view *view, uint32_t n_step, uint32_t row, float discount,
                        float *ret_return, float *ret_bootstrap, uint32_t *ret_next_row);

#endif
