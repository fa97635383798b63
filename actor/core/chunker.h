/*
 * Chunker: turns the transitions of each environment lane into chunks (common/experience/chunk.h).
 *
 * A chunk closes when it is full, when its episode ends, or when the caller asks because it was
 * open for too long. The next chunk of an episode begins with the last n - 1 transitions of the one
 * before, so each n-step item of an episode is in exactly one chunk. A chunk is never closed
 * without something new in it, nor, in the middle of an episode, shorter than one item. It takes
 * memory as it fills: at most twice what its transitions need, or what some dozens do.
 *
 * One thread at a time.
 */
#ifndef AQ_ACTOR_CORE_CHUNKER_H
#define AQ_ACTOR_CORE_CHUNKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/chunk.h"

typedef struct aq_chunker aq_chunker;

/* Of each of the layout's columns a value: of those per step the step's, of those per boundary the
 * one after it, which is the terminal one where the episode ended. */
typedef struct aq_step_values {
    const void *of[AQ_COLUMNS_MAX];
    bool terminated, truncated;
} aq_step_values;

typedef struct aq_closed_chunk {
    aq_chunk *chunk;  /* one reference, the receiver's */
    int64_t since_ns; /* when its oldest new transition happened */
} aq_closed_chunk;

int aq_chunker_create(const aq_layout *layout, uint32_t lanes,
                      aq_chunker **ret_chunker) AQ_MUST_USE;
void aq_chunker_destroy(aq_chunker *chunker); /* NULL is fine; drops what is open */

/* An episode of the lane begins with these values of the columns per boundary; others are not
 * looked at. First thing for each lane, and again after each transition that ended an episode and
 * after each aq_chunker_abandon. */
void aq_chunker_begin(aq_chunker *chunker, uint32_t lane, const aq_step_values *values);

/* The lane's episode, if there is one, goes no further, and what no closed chunk has of it is
 * forgotten: returns how many new transitions that were. */
uint32_t aq_chunker_abandon(aq_chunker *chunker, uint32_t lane);

/* Makes room for one more transition in every lane that has an episode, so that a step that was
 * made can be kept. Must have succeeded before each round of appends. AQ_E_NOMEM: try again later.
 */
int aq_chunker_reserve(aq_chunker *chunker) AQ_MUST_USE;

/* Adds one transition of the lane; true when that closed a chunk. */
bool aq_chunker_append(aq_chunker *chunker, uint32_t lane, int64_t now_ns,
                       const aq_step_values *values, aq_closed_chunk *ret_closed);

/* Closes the lane's chunk if its oldest new transition is from `until_ns` or before and it may be
 * closed. True when it did. */
bool aq_chunker_flush(aq_chunker *chunker, uint32_t lane, int64_t until_ns,
                      aq_closed_chunk *ret_closed);

/* No open chunk that may be closed holds a new transition from before this; INT64_MAX when there is
 * no such chunk. Exact after aq_chunker_look, a bound from below after more was appended. */
int64_t aq_chunker_oldest_ns(const aq_chunker *chunker);
void aq_chunker_look(aq_chunker *chunker);

#endif
