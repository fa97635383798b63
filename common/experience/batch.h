/*
 * Batch: sampled items as contiguous columns, ready for BLAS. One allocation, reused; every column
 * starts on a cache line. One owner at a time, no locking.
 *
 * A row is an n-step item (steps 1), or a sequence: then obs has steps + 1 values for each, action,
 * reward, bootstrap and version `steps`, next_obs none, and `length` says how many of the
 * transitions are real; what is beyond is zero. `steps` is the length of the longest row, so that
 * where episodes are short, little more is moved than they have.
 *
 * Which columns there are follows from the layout: what fills, sends and checks batches loops over
 * their list, what trains takes those that it knows by their pointers.
 */
#ifndef AQ_COMMON_EXPERIENCE_BATCH_H
#define AQ_COMMON_EXPERIENCE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/layout.h"

#define AQ_BATCH_ROWS_MAX  UINT32_C(65536)
#define AQ_BATCH_STEPS_MAX UINT32_C(1024)

enum {
    AQ_BATCH_OBS,
    AQ_BATCH_NEXT_OBS,
    AQ_BATCH_ACTION,
    AQ_BATCH_REWARD,
    AQ_BATCH_BOOTSTRAP,
    AQ_BATCH_WEIGHT,
    AQ_BATCH_LENGTH,
    AQ_BATCH_ITEM,
    AQ_BATCH_VERSION,
    AQ_BATCH_PRIORITY,
    AQ_BATCH_COLUMNS_STANDARD,
    /* Of each column that the run records, in the layout's order, its values, then what an n-step
     * item leads to. */
    AQ_BATCH_RECORDED = AQ_BATCH_COLUMNS_STANDARD,
    AQ_BATCH_RECORDED_MAX = 2 * AQ_COLUMNS_RECORDED_MAX,
    AQ_BATCH_COLUMNS_MAX = AQ_BATCH_COLUMNS_STANDARD + AQ_BATCH_RECORDED_MAX
};

/* Where a column's values come from. */
enum aq_gather {
    AQ_GATHER_COPY, /* the chunk's, from the row's first step on */
    AQ_GATHER_NEXT, /* the chunk's, at the boundary after the item's last step */
    AQ_GATHER_FOLD, /* the chunk's, over the item's steps */
    AQ_GATHER_NONE, /* no column of the chunk */
};

typedef struct aq_batch_column {
    aq_column is;
    uint32_t gather;  /* enum aq_gather */
    uint32_t source;  /* the layout's column that it is gathered from */
    aq_frames frames; /* of that one's values, which are whole here */
    uint32_t values;  /* of a row; 0: rows of this kind have none */
    uint8_t *bytes;
} aq_batch_column;

typedef struct aq_batch {
    uint64_t layout_hash; /* that it was made for */
    uint32_t rows;        /* in use */
    uint32_t rows_max;
    uint32_t obs_bytes; /* of one value */
    uint32_t action_bytes;
    uint32_t steps;     /* of a row */
    uint32_t steps_max; /* that it has room for */
    uint8_t *obs;       /* rows * obs_bytes */
    uint8_t *next_obs;  /* rows * obs_bytes; sequences: NULL */
    uint8_t *action;    /* rows * action_bytes */
    float *reward;      /* the n-step return; sequences: each step's reward */
    float *bootstrap;   /* discount^m, 0 after a termination; sequences: m is 1 */
    float *weight;      /* from replay: the probability of the draw; in training: what the row's
                        * loss counts, 1 under a uniform selector */
    uint32_t *length;   /* sequences only, else NULL */
    uint64_t *item;     /* the item's number, for priorities */
    uint32_t *version;  /* the policy that chose the action */
    float *priority;    /* by training: how wrong it was, >= 0; not on the wire */
    uint32_t column_count;
    aq_batch_column columns[AQ_BATCH_COLUMNS_MAX];
} aq_batch;

/* Empty, columns zeroed. Of sequences of `sequence_length` transitions; 0: of n-step items.
 * AQ_E_INVALID unless rows_max is 1 to AQ_BATCH_ROWS_MAX and sequence_length at most
 * AQ_BATCH_STEPS_MAX; AQ_E_NOMEM. */
int aq_batch_create(const aq_layout *layout, uint32_t sequence_length, uint32_t rows_max,
                    aq_batch **ret_batch) AQ_MUST_USE;
void aq_batch_destroy(aq_batch *batch); /* NULL is fine */

/* Lays out a batch of sequences, none of which is longer than `steps`, from 1 to steps_max, as one
 * is that was just created. What is in its columns means nothing then. */
void aq_batch_fit(aq_batch *batch, uint32_t steps);

/* The rows [first, first + count) as a batch that owns nothing; not to be destroyed. */
aq_batch aq_batch_slice(const aq_batch *batch, uint32_t first, uint32_t count);

static inline bool aq_batch_has_sequences(const aq_batch *batch)
{
    return batch->length != NULL;
}

/* Of one row. */
static inline size_t aq_batch_column_bytes(const aq_batch_column *column)
{
    return (size_t)column->values * column->is.bytes;
}

/* Bytes that one row takes in all columns that are on the wire. */
size_t aq_batch_row_bytes(const aq_layout *layout, uint32_t sequence_length);

#endif
