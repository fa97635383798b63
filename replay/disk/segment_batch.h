/*
 * Segment batch: pieces of a segment file in the making, from what waits in the queue: the start of
 * a segment, or as many records as one write should take. It computes check sums and compresses.
 *
 * One owner, no locking. What pieces point at is the batch's, or the frame's, until the next call.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_BATCH_H
#define AQ_REPLAY_DISK_SEGMENT_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "replay/disk/segment_file.h"
#include "replay/disk/segment_queue.h"

typedef struct aq_segment_batch aq_segment_batch;

/* `store`: whose records. */
int aq_segment_batch_create(uint64_t store, bool compressed,
                            aq_segment_batch **ret_batch) AQ_MUST_USE;
void aq_segment_batch_destroy(aq_segment_batch *batch); /* NULL is fine */

/* One piece: the file's header and its head. AQ_E_NOMEM, AQ_E_TOO_BIG. */
int aq_segment_batch_start(aq_segment_batch *batch, const aq_segment_item *item,
                           const uint64_t *live, uint64_t live_count) AQ_MUST_USE;

/* Records for the file of `segment`: first that `drops` are dropped, then frames, as many of
 * `items` as are worth one write. */
void aq_segment_batch_fill(aq_segment_batch *batch, uint64_t segment, const uint64_t *drops,
                           size_t drop_count, const aq_segment_item *items, size_t item_count);

const aq_segment_piece *aq_segment_batch_pieces(const aq_segment_batch *batch, size_t *ret_count);

#endif
