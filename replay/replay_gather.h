/*
 * Gather: from item numbers to the columns of a batch. The n-step return is folded here, when an
 * item is sampled, so that a store of single transitions serves any discount.
 */
#ifndef AQ_REPLAY_REPLAY_GATHER_H
#define AQ_REPLAY_REPLAY_GATHER_H

#include "common/rl/batch.h"
#include "replay/replay_table.h"

/* Fills obs, next_obs, action, reward, bootstrap and version of the batch's rows from the live
 * items that its `item` column names. `layout` is the table's. */
void aq_replay_gather(const aq_replay_table *table, const aq_chunk_layout *layout, float discount,
                      aq_batch *batch);

#endif
