/*
 * Segment queue: what was handed to the segment writer and isn't in a file yet, oldest first; a
 * ring with a limit in entries and one in bytes. It owns what it holds: references to frames, and
 * copies of heads.
 *
 * The owner locks.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_QUEUE_H
#define AQ_REPLAY_DISK_SEGMENT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/lease.h"
#include "replay/disk/replay_log.h"

typedef struct aq_segment_item {
    uint64_t segment;
    uint64_t number;   /* of the frame; of a head: of the first frame to come */
    aq_lease *frame;   /* or */
    aq_log_head *head; /* this opens the segment */
} aq_segment_item;

typedef struct aq_segment_queue {
    aq_segment_item *items;
    size_t capacity, first, count;
    uint64_t bytes; /* of the frames in it */
    uint64_t bytes_max;
} aq_segment_queue;

int aq_segment_queue_init(aq_segment_queue *queue, size_t capacity, uint64_t bytes_max) AQ_MUST_USE;
void aq_segment_queue_fini(aq_segment_queue *queue);

/* Takes a reference to `frame`. One that is larger than all that may wait is taken when nothing
 * waits. AQ_E_FULL. */
int aq_segment_queue_push_frame(aq_segment_queue *queue, uint64_t segment, uint64_t number,
                                aq_lease *frame) AQ_MUST_USE;
/* Copies the head. AQ_E_FULL, AQ_E_NOMEM. */
int aq_segment_queue_push_head(aq_segment_queue *queue, uint64_t segment, uint64_t number,
                               const aq_log_head *head) AQ_MUST_USE;

/* The oldest ones, which stay, up to `count_max`. */
size_t aq_segment_queue_look(const aq_segment_queue *queue, aq_segment_item *ret_items,
                             size_t count_max);

/* Removes the oldest `count`; what they hold is the caller's, as it has looked at them. */
void aq_segment_queue_remove(aq_segment_queue *queue, size_t count);

void aq_segment_item_fini(aq_segment_item *item);

#endif
