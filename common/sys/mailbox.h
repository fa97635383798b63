/*
 * A mailbox: other threads post pointers, the loop's thread handles them.
 *
 * uv_async wake-ups coalesce, so a wake drains the mailbox until it is empty, but at most a bounded
 * number of items before other handles of the loop get their turn. Bounded: a post to a full
 * mailbox fails, and whose fault that is the poster decides.
 */
#ifndef AQ_COMMON_SYS_MAILBOX_H
#define AQ_COMMON_SYS_MAILBOX_H

#include <stddef.h>
#include <uv.h>

#include "common/base/error.h"

typedef struct aq_mailbox aq_mailbox;

/* On the loop's thread. Owns `item` from here on. */
typedef void (*aq_mailbox_fn)(void *user, void *item);

/* On the loop's thread. `handle` gets each item; `drop` (may be NULL) each that is left at close.
 * `capacity` > 0. */
int aq_mailbox_create(uv_loop_t *loop, size_t capacity, aq_mailbox_fn handle, aq_mailbox_fn drop,
                      void *user, aq_mailbox **ret_mailbox) AQ_MUST_USE;

/* Any thread. `item` is not NULL; ownership moves on success only. AQ_E_FULL, AQ_E_CLOSED. */
int aq_mailbox_post(aq_mailbox *mailbox, void *item) AQ_MUST_USE;

/* On the loop's thread, once; NULL is fine; a handler may call it. Drops what is left; posts that
 * come later are answered AQ_E_CLOSED. The memory goes when the loop runs its close callbacks, and
 * by then nobody may post any more. */
void aq_mailbox_close(aq_mailbox *mailbox);

#endif
