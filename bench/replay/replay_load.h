/*
 * Load: the steps that the replay bench sends, and what they must look like when they come back.
 *
 * Every number of step s follows from s, which its observation begins with, so a row of a batch can
 * be checked by itself. The steps are made once, as chunks that are sent again and again: what is
 * measured is the shard and not the making of random numbers.
 */
#ifndef AQ_BENCH_REPLAY_REPLAY_LOAD_H
#define AQ_BENCH_REPLAY_REPLAY_LOAD_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/batch.h"
#include "common/experience/chunk.h"
#include "common/experience/schema.h"

typedef struct aq_load_shape {
    uint32_t obs_count, action_count; /* floats */
    uint32_t n_step;
    uint32_t chunk_length;
    uint32_t chunk_count; /* different ones */
} aq_load_shape;

typedef struct aq_replay_load {
    aq_load_shape shape;
    aq_schema schema;
    aq_layout layout;
    uint32_t fresh; /* transitions of a chunk that the one before didn't have */
    aq_chunk **chunks;
    uint8_t *row; /* scratch */
} aq_replay_load;

int aq_replay_load_init(const aq_load_shape *shape, aq_replay_load *ret_load,
                        aq_error *error) AQ_MUST_USE;
void aq_replay_load_fini(aq_replay_load *load); /* a zeroed one is fine */

/* Bytes of one step by itself: an observation and an action. */
size_t aq_replay_load_step_bytes(const aq_replay_load *load);

/* Whether the batch holds what was sent, row by row. AQ_E_CORRUPT, naming the row. */
int aq_replay_load_check(aq_replay_load *load, const aq_batch *batch, float discount,
                         aq_error *error) AQ_MUST_USE;

#endif
