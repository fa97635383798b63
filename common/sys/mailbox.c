/*
 * A mailbox: a bounded queue, and a uv_async that wakes the loop to drain it.
 *
 * The mutex is what makes closing safe: a post holds it over its push and its wake-up, so once
 * aq_mailbox_close has closed the queue under it, no post can touch the handle any more.
 */
#include "common/sys/mailbox.h"

#include <pthread.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"
#include "common/base/queue.h"

#define ITEMS_PER_WAKE_MAX 256 /* then the loop's other handles get a turn */

struct aq_mailbox {
    uv_async_t async;
    pthread_mutex_t post_mutex;
    aq_queue *queue;
    aq_mailbox_fn handle;
    aq_mailbox_fn drop;
    void *user;
};

static void wake(aq_mailbox *mailbox)
{
    int rc = uv_async_send(&mailbox->async);

    AQ_ASSERT(rc == 0);
}

/* The handler may close the mailbox; its memory lasts until the loop runs the close callbacks, and
 * the closed queue is empty, so this ends by itself. */
static void on_wake(uv_async_t *async)
{
    aq_mailbox *mailbox = async->data;
    void *item = NULL;

    for (int i = 0; i < ITEMS_PER_WAKE_MAX; i++) {
        if (aq_queue_pop(mailbox->queue, 0, &item) < 0) {
            return;
        }
        mailbox->handle(mailbox->user, item);
    }
    if (aq_queue_count(mailbox->queue) > 0) {
        wake(mailbox);
    }
}

static void on_closed(uv_handle_t *handle)
{
    aq_mailbox *mailbox = handle->data;

    aq_queue_destroy(mailbox->queue);
    pthread_mutex_destroy(&mailbox->post_mutex);
    aq_free(mailbox);
}

int aq_mailbox_create(uv_loop_t *loop, size_t capacity, aq_mailbox_fn handle, aq_mailbox_fn drop,
                      void *user, aq_mailbox **ret_mailbox)
{
    int rc = AQ_E_NOMEM;

    AQ_ASSERT(handle != NULL);
    aq_mailbox *mailbox = aq_alloc(1, sizeof(*mailbox));
    if (mailbox == NULL) {
        return AQ_E_NOMEM;
    }
    mailbox->handle = handle;
    mailbox->drop = drop;
    mailbox->user = user;
    rc = aq_queue_create(capacity, &mailbox->queue);
    if (rc < 0) {
        goto fail_queue;
    }
    if (pthread_mutex_init(&mailbox->post_mutex, NULL) != 0) {
        rc = AQ_E_NOMEM;
        goto fail_mutex;
    }
    /* Last, as a handle can't be taken back without running the loop. */
    rc = uv_async_init(loop, &mailbox->async, on_wake);
    if (rc != 0) {
        rc = aq_error_from_errno(-rc); /* on Unix libuv's codes are negative errno values */
        goto fail_async;
    }
    mailbox->async.data = mailbox;
    *ret_mailbox = mailbox;
    return 0;

fail_async:
    pthread_mutex_destroy(&mailbox->post_mutex);
fail_mutex:
    aq_queue_destroy(mailbox->queue);
fail_queue:
    aq_free(mailbox);
    return rc;
}

int aq_mailbox_post(aq_mailbox *mailbox, void *item)
{
    aq_mutex_lock(&mailbox->post_mutex);
    int rc = aq_queue_push(mailbox->queue, item);
    if (rc == 0) {
        wake(mailbox);
    }
    aq_mutex_unlock(&mailbox->post_mutex);
    return rc;
}

void aq_mailbox_close(aq_mailbox *mailbox)
{
    void *item = NULL;

    if (mailbox == NULL) {
        return;
    }
    aq_mutex_lock(&mailbox->post_mutex);
    aq_queue_close(mailbox->queue);
    aq_mutex_unlock(&mailbox->post_mutex);
    while (aq_queue_pop(mailbox->queue, 0, &item) == 0) {
        if (mailbox->drop != NULL) {
            mailbox->drop(mailbox->user, item);
        }
    }
    uv_close((uv_handle_t *)&mailbox->async, on_closed);
}
