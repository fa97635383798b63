/*
 * The thread waits in the subscriber. A fetched frame does not wake it there; it is looked for
 * between two waits, which are short, since a fetch is rare and already late.
 */
#include "actor/daemon/policy_thread.h"

#include <pthread.h>

#include "common/base/assert.h"
#include "common/base/buffer.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/queue.h"
#include "common/net/sockets/pubsub.h"

/* At most so many frames are heard before an engine is made. */
enum { WAIT_MS = 50, FETCHED_MAX = 2, HEARD_MAX = 64 };

struct aq_policy_thread {
    pthread_t thread;
    aq_subscriber *subscriber;
    aq_policy_feed *feed;
    uv_async_t *wake;
    aq_queue *fetched; /* of aq_buffer */
    aq_buffer heard;
};

static void wake_for(aq_policy_thread *thread, enum aq_policy_verdict verdict)
{
    if (verdict != AQ_POLICY_OLD) {
        (void)uv_async_send(thread->wake);
    }
}

static void hear(aq_policy_thread *thread, const aq_buffer *frame)
{
    wake_for(thread,
             aq_policy_feed_hear(thread->feed, aq_clock_monotonic_ns(), frame->data, frame->size));
}

/* Hears what waits; waits up to WAIT_MS for the first. Several deltas become one engine. */
static int hear_all(aq_policy_thread *thread)
{
    int timeout_ms = WAIT_MS;
    int rc = 0;
    for (int i = 0; rc == 0 && i < HEARD_MAX; i++) {
        rc = aq_subscriber_receive(thread->subscriber, timeout_ms, &thread->heard);
        if (rc == 0) {
            hear(thread, &thread->heard);
        }
        timeout_ms = 0;
    }
    return rc;
}

static void free_buffer(aq_buffer *buffer)
{
    aq_buffer_fini(buffer);
    aq_free(buffer);
}

/* Hears what was fetched; waits up to timeout_ms for the first. */
static void hear_fetched(aq_policy_thread *thread, int timeout_ms)
{
    void *item;
    while (aq_queue_pop(thread->fetched, timeout_ms, &item) == 0) {
        hear(thread, item);
        free_buffer(item);
        timeout_ms = 0;
    }
}

static void *listen_until_stopped(void *argument)
{
    aq_policy_thread *thread = argument;
    for (;;) {
        int rc = hear_all(thread);
        if (rc == AQ_E_CLOSED) {
            return NULL;
        }
        /* A failure, such as no memory for a message, must not become a busy loop. */
        bool is_usual = rc == 0 || rc == AQ_E_TIMEOUT;
        hear_fetched(thread, is_usual ? 0 : WAIT_MS);
        wake_for(thread, aq_policy_feed_settle(thread->feed, aq_clock_monotonic_ns()));
    }
}

int aq_policy_thread_start(const char *url, const aq_net_limits *limits, aq_policy_feed *feed,
                           uv_async_t *wake, aq_policy_thread **ret_thread, aq_error *error)
{
    aq_policy_thread *thread = aq_alloc(1, sizeof(*thread));
    if (thread == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the policy's thread");
    }
    thread->feed = feed;
    thread->wake = wake;
    aq_buffer_init(&thread->heard, limits->message_bytes_max);
    int rc = aq_queue_create(FETCHED_MAX, &thread->fetched);
    if (rc != 0) {
        rc = aq_fail(error, rc, "no memory for the policy's thread");
        goto fail_queue;
    }
    rc = aq_subscriber_create(url, limits, &thread->subscriber, error);
    if (rc != 0) {
        goto fail_subscriber;
    }
    int problem = pthread_create(&thread->thread, NULL, listen_until_stopped, thread);
    if (problem != 0) {
        rc = aq_fail(error, aq_error_from_errno(problem), "no thread for the policy");
        goto fail_thread;
    }
    *ret_thread = thread;
    return 0;

fail_thread:
    aq_subscriber_destroy(thread->subscriber);
fail_subscriber:
    aq_queue_destroy(thread->fetched);
fail_queue:
    aq_free(thread);
    return rc;
}

void aq_policy_thread_pass(aq_policy_thread *thread, const uint8_t *frame, size_t size)
{
    aq_buffer *copy = aq_alloc(1, sizeof(*copy));
    if (copy == NULL) {
        return;
    }
    aq_buffer_init(copy, size > 0 ? size : 1);
    if (aq_buffer_append(copy, frame, size) != 0 || aq_queue_push(thread->fetched, copy) != 0) {
        free_buffer(copy);
        return;
    }
    aq_subscriber_wake(thread->subscriber);
}

void aq_policy_thread_stop(aq_policy_thread *thread)
{
    void *item;
    if (thread == NULL) {
        return;
    }
    aq_subscriber_stop(thread->subscriber);
    int problem = pthread_join(thread->thread, NULL);
    AQ_ASSERT(problem == 0);
    aq_subscriber_destroy(thread->subscriber);
    while (aq_queue_pop(thread->fetched, 0, &item) == 0) {
        free_buffer(item);
    }
    aq_queue_destroy(thread->fetched);
    aq_buffer_fini(&thread->heard);
    aq_free(thread);
}
