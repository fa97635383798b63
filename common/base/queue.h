/*
 * A bounded queue of pointers between threads.
 *
 * Workload: batches between the loop and the trainer, snapshots to the publisher, messages from
 * NNG's threads to the loop: thousands a second, not millions, so a mutex and a condition are
 * enough and are right on every processor. Any number of producers and consumers.
 * The queue never owns what the pointers point at.
 */
#ifndef AQ_COMMON_BASE_QUEUE_H
#define AQ_COMMON_BASE_QUEUE_H

#include <stddef.h>

#include "common/base/error.h"

typedef struct aq_queue aq_queue;

int aq_queue_create(size_t capacity, aq_queue **ret_queue) AQ_MUST_USE;

/* NULL is fine. Nobody may be inside a call; what it still holds is the caller's to free first. */
void aq_queue_destroy(aq_queue *queue);

/* Never waits: AQ_E_FULL when full, AQ_E_CLOSED after aq_queue_close. `item` is not NULL. */
int aq_queue_push(aq_queue *queue, void *item) AQ_MUST_USE;

/* Waits up to timeout_ms for an item (0: not at all; negative: without limit).
 * AQ_E_TIMEOUT when none came, AQ_E_CLOSED once closed and empty. */
int aq_queue_pop(aq_queue *queue, int timeout_ms, void **ret_item) AQ_MUST_USE;

/* Wakes everybody; later pushes fail, pops drain what is left. */
void aq_queue_close(aq_queue *queue);

size_t aq_queue_count(aq_queue *queue);

#endif
