/*
 * A bounded queue of pointers: a ring under a mutex, and one condition that pops wait on. Pushes
 * never wait, so nobody ever waits for room.
 */
#include "common/base/queue.h"

#include <pthread.h>
#include <stdbool.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/condition.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"

struct aq_queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty; /* or closed */
    void **items;             /* [capacity] */
    size_t capacity;
    size_t head; /* the oldest item */
    size_t count;
    bool closed;
};

int aq_queue_create(size_t capacity, aq_queue **ret_queue)
{
    AQ_ASSERT(capacity > 0);
    aq_queue *queue = aq_alloc(1, sizeof(*queue));
    if (queue == NULL) {
        return AQ_E_NOMEM;
    }
    queue->capacity = capacity;
    queue->items = aq_alloc(capacity, sizeof(*queue->items));
    if (queue->items == NULL) {
        goto fail_items;
    }
    if (pthread_mutex_init(&queue->mutex, NULL) != 0) {
        goto fail_mutex;
    }
    if (aq_condition_init(&queue->not_empty) < 0) {
        goto fail_condition;
    }
    *ret_queue = queue;
    return 0;

fail_condition:
    pthread_mutex_destroy(&queue->mutex);
fail_mutex:
    aq_free(queue->items);
fail_items:
    aq_free(queue);
    return AQ_E_NOMEM;
}

void aq_queue_destroy(aq_queue *queue)
{
    if (queue == NULL) {
        return;
    }
    pthread_cond_destroy(&queue->not_empty);
    pthread_mutex_destroy(&queue->mutex);
    aq_free(queue->items);
    aq_free(queue);
}

int aq_queue_push(aq_queue *queue, void *item)
{
    int rc = 0;

    AQ_ASSERT(item != NULL);
    aq_mutex_lock(&queue->mutex);
    if (queue->closed) {
        rc = AQ_E_CLOSED;
    } else if (queue->count == queue->capacity) {
        rc = AQ_E_FULL;
    } else {
        size_t tail = queue->head + queue->count;

        queue->items[tail < queue->capacity ? tail : tail - queue->capacity] = item;
        queue->count++;
        pthread_cond_signal(&queue->not_empty);
    }
    aq_mutex_unlock(&queue->mutex);
    return rc;
}

/* Waits, locked, until there is an item, the queue is closed or the time is up. */
static void wait_not_empty(aq_queue *queue, int timeout_ms)
{
    if (timeout_ms == 0) {
        return;
    }
    const int64_t until_ns =
        timeout_ms < 0 ? INT64_MAX : aq_clock_monotonic_ns() + timeout_ms * AQ_NS_PER_MS;
    while (queue->count == 0 && !queue->closed &&
           aq_condition_wait(&queue->not_empty, &queue->mutex, until_ns)) {
    }
}

int aq_queue_pop(aq_queue *queue, int timeout_ms, void **ret_item)
{
    int rc = 0;

    aq_mutex_lock(&queue->mutex);
    wait_not_empty(queue, timeout_ms);
    if (queue->count > 0) {
        *ret_item = queue->items[queue->head];
        queue->head = queue->head + 1 < queue->capacity ? queue->head + 1 : 0;
        queue->count--;
    } else {
        rc = queue->closed ? AQ_E_CLOSED : AQ_E_TIMEOUT;
    }
    aq_mutex_unlock(&queue->mutex);
    return rc;
}

void aq_queue_close(aq_queue *queue)
{
    aq_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->not_empty);
    aq_mutex_unlock(&queue->mutex);
}

size_t aq_queue_count(aq_queue *queue)
{
    aq_mutex_lock(&queue->mutex);
    size_t count = queue->count;
    aq_mutex_unlock(&queue->mutex);
    return count;
}
