/*
 * Batch: sampled items as contiguous columns, ready for BLAS. One allocation, reused; every column
 * starts on a cache line. One owner at a time, no locking.
 *
 * A row is an n-step item (steps 1), or a sequence of `steps` transitions: then obs has steps + 1
 * rows for each, action, reward, bootstrap and version `steps`, next_obs none, and `length` says
 * how many of the transitions are real; what is beyond is zero.
 */
#ifndef AQ_COMMON_EXPERIENCE_BATCH_H
#define AQ_COMMON_EXPERIENCE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/chunk.h"

#define AQ_BATCH_ROWS_MAX  UINT32_C(65536)
#define AQ_BATCH_STEPS_MAX UINT32_C(1024)

typedef struct aq_batch {
    uint32_t rows; /* in use */
    uint32_t rows_max;
    uint32_t obs_bytes; /* of one row */
    uint32_t action_bytes;
    uint32_t steps;    /* of a row */
    uint8_t *obs;      /* rows * obs_bytes */
    uint8_t *next_obs; /* rows * obs_bytes; sequences: NULL */
    uint8_t *action;   /* rows * action_bytes */
    float *reward;     /* the n-step return; sequences: each step's reward */
    float *bootstrap;  /* discount^m, 0 after a termination; sequences: m is 1 */
    float *weight;     /* from replay: the probability of the draw; in training: what the row's
                        * loss counts, 1 under a uniform selector */
    uint32_t *length;  /* sequences only, else NULL */
    uint64_t *item;    /* the item's number, for priorities */
    uint32_t *version; /* the policy that chose the action */
    float *priority;   /* by training: how wrong it was, >= 0; not on the wire */
} aq_batch;

/* Of n-step items. Empty, columns zeroed. AQ_E_INVALID unless rows_max is 1 to AQ_BATCH_ROWS_MAX;
 * AQ_E_NOMEM. */
int aq_batch_create(const aq_chunk_layout *layout, uint32_t rows_max,
                    aq_batch **ret_batch) AQ_MUST_USE;

/* Of sequences of `steps` transitions. AQ_E_INVALID also unless that is 1 to AQ_BATCH_STEPS_MAX. */
int aq_batch_create_sequences(const aq_chunk_layout *layout, uint32_t steps, uint32_t rows_max,
                              aq_batch **ret_batch) AQ_MUST_USE;
void aq_batch_destroy(aq_batch *batch); /* NULL is fine */

static inline bool aq_batch_has_sequences(const aq_batch *batch)
{
    return batch->length != NULL;
}

/* Bytes that one row takes in all columns that are on the wire. */
size_t aq_batch_row_bytes(const aq_chunk_layout *layout);
size_t aq_batch_sequence_bytes(const aq_chunk_layout *layout, uint32_t steps);

#endif
