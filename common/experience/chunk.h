/*
 * Chunk: a self-contained slice of one episode, the unit that actors send and replay stores.
 *
 *   obs      [length + 1] rows     the row after the last transition is there, so each observation
 *   action   [length] rows         is stored once instead of twice
 *   reward   [length] float
 *   version  [length] uint32       the policy version that chose each action
 *
 * If the episode goes on, the next chunk repeats the last n-1 transitions (`overlap`), so that an
 * n-step item never crosses a chunk: items start at rows 0 .. item_count-1. A chunk that ends its
 * episode (`terminated` or `truncated`) has an item at every row; the last ones fold fewer steps.
 * A terminal observation is written before the reset. Only `terminated` cuts the bootstrap.
 *
 * One allocation a chunk: header and columns. Immutable once closed; reference-counted.
 */
#ifndef AQ_COMMON_EXPERIENCE_CHUNK_H
#define AQ_COMMON_EXPERIENCE_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/schema.h"

#define AQ_CHUNK_LENGTH_MAX UINT32_C(65536)
#define AQ_CHUNK_BYTES_MAX  (UINT64_C(1) << 28)

/* An n_step for those who read chunks of any run: whatever a chunk repeats is fine. */
#define AQ_CHUNK_SPAN_ANY UINT32_C(0)

/* The sizes that every chunk of a run shares. */
typedef struct aq_chunk_layout {
    uint32_t obs_bytes;    /* of one row */
    uint32_t action_bytes; /* of one row */
    uint32_t n_step;       /* >= 1; or AQ_CHUNK_SPAN_ANY, to validate only */
    uint32_t length_max;   /* transitions a chunk, > n_step - 1 */
    uint8_t obs_is_f32;    /* finiteness is checked */
    uint8_t action_is_f32;
    uint32_t choice_count; /* discrete actions are in [0, choice_count); 0: a box */
} aq_chunk_layout;

typedef struct aq_chunk {
    uint64_t episode; /* counts up per (actor, incarnation, environment lane) */
    uint32_t first;   /* index in its episode of row 0 */
    uint32_t lane;    /* which of the actor's environments */
    uint32_t length;  /* transitions, repeated ones included */
    uint32_t overlap; /* of them, how many the chunk before had already; < n_step */
    uint8_t terminated;
    uint8_t truncated;
    uint8_t *obs;                /* (length + 1) * obs_bytes */
    uint8_t *action;             /* length * action_bytes */
    float *reward;               /* length */
    uint32_t *version;           /* length */
    size_t bytes;                /* of the whole allocation, for budgets */
    _Atomic uint32_t references; /* use ref and unref */
} aq_chunk;

/* AQ_E_INVALID for an n_step or a length_max that cannot work, AQ_E_TOO_BIG for chunks of more than
 * AQ_CHUNK_BYTES_MAX, AQ_E_SCHEMA for a schema that cannot be. */
int aq_chunk_layout_init(const aq_schema *schema, uint32_t n_step, uint32_t length_max,
                         aq_chunk_layout *ret_layout, aq_error *error) AQ_MUST_USE;

/* An empty chunk with room for `room` transitions and one reference; columns are zeroed. Its
 * `length` is 0, for the caller to set as rows are written. AQ_E_INVALID for no room at all,
 * AQ_E_TOO_BIG for more than the layout's length_max, AQ_E_NOMEM. */
int aq_chunk_create(const aq_chunk_layout *layout, uint32_t room, aq_chunk **ret_chunk) AQ_MUST_USE;

/* Any thread that holds a reference. Returns `chunk`. */
aq_chunk *aq_chunk_ref(aq_chunk *chunk);
void aq_chunk_unref(aq_chunk *chunk); /* NULL is fine */

/* New transitions: length - overlap. */
uint32_t aq_chunk_fresh(const aq_chunk *chunk);

/* Rows at which an item starts, counted from row 0: all of them when the episode ended here, else
 * length - n_step + 1, and never below 0. */
uint32_t aq_chunk_items(const aq_chunk *chunk, const aq_chunk_layout *layout);

/* A peer's chunk: sizes against the layout, at least one item and one fresh transition, finite
 * numbers, actions in range. AQ_E_CORRUPT, or AQ_E_SCHEMA for an action out of range; in words. */
int aq_chunk_validate(const aq_chunk *chunk, const aq_chunk_layout *layout,
                      aq_error *error) AQ_MUST_USE;

/* The n-step item at `row`, one of the aq_chunk_items:
 *   m = min(n_step, length - row);  R = sum_{i<m} discount^i reward[row+i]
 *   bootstrap = discount^m, or 0 when the episode terminated at row + m
 * and *ret_next_row = row + m is the observation row to bootstrap from. Sums in double. */
void aq_chunk_fold(const aq_chunk *chunk, const aq_chunk_layout *layout, uint32_t row,
                   float discount, float *ret_return, float *ret_bootstrap, uint32_t *ret_next_row);

#endif
