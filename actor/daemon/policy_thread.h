/*
 * Policy thread: hears the broadcast and gives every frame to a policy feed, so that unpacking and
 * packing a policy never holds up a step. Also takes frames that were fetched on the loop's thread.
 */
#ifndef AQ_ACTOR_DAEMON_POLICY_THREAD_H
#define AQ_ACTOR_DAEMON_POLICY_THREAD_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "actor/core/policy_feed.h"
#include "common/base/error.h"
#include "common/net/sockets/net.h"

typedef struct aq_policy_thread aq_policy_thread;

/* `wake` is sent whenever the feed has news for the loop; it must outlive the thread. */
int aq_policy_thread_start(const char *url, const aq_net_limits *limits, aq_policy_feed *feed,
                           uv_async_t *wake, aq_policy_thread **ret_thread,
                           aq_error *error) AQ_MUST_USE;

/* Loop thread. Copies the frame and has it given to the feed soon. When several wait already, or
 * memory is short, it is forgotten, which is noticed: it is missing, and fetched again. */
void aq_policy_thread_pass(aq_policy_thread *thread, const uint8_t *frame, size_t size);

/* Loop thread. When it returns, nobody is in the feed any more. NULL is fine. */
void aq_policy_thread_stop(aq_policy_thread *thread);

#endif
