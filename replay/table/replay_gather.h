/*
 * Gather: from item numbers to the columns of a batch. The n-step return is folded here, when an
 * item is sampled, so that a store of single transitions serves any discount:
 *
 *   m = min(n, length - row);  R = sum_{i<m} discount^i r[row+i], in double
 *   r = scale * the reward, held between -clip and clip
 *   bootstrap = discount^m, or 0 when the episode terminated at row + m
 *
 * A sequence is copied as it is, m being 1 at each step; what is beyond the end of its episode is
 * zero. It never reaches beyond its chunk.
 */
#ifndef AQ_REPLAY_TABLE_REPLAY_GATHER_H
#define AQ_REPLAY_TABLE_REPLAY_GATHER_H

#include "common/config/table_spec.h"
#include "common/experience/batch.h"
#include "replay/table/chunk_ring.h"

/* What is learned of a reward. */
typedef struct aq_reward_shape {
    float clip; /* 0: it is not held */
    float scale;
} aq_reward_shape;

/* Fills all columns of the batch's rows but weight and priority from the items that its `item`
 * column names, whose chunks must be there; counts their draws. */
void aq_replay_gather(const aq_table_spec *spec, aq_chunk_ring *ring, float discount,
                      aq_reward_shape shape, aq_batch *batch);

#endif
