/*
 * Policy session: keeps a participant supplied with the newest policy of its run. The broadcast is
 * heard on another thread (the listener's); here is noticed when that falls behind what the learner
 * says there is, and then the policy is fetched over RPC.
 *
 * Loop thread only, but for the feed, whose threads are its own matter. Logs policy_adopted,
 * policy_fetched, policy_fetch_failed, policy_deaf.
 */
#ifndef AQ_ACTOR_SESSION_POLICY_SESSION_H
#define AQ_ACTOR_SESSION_POLICY_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "actor/core/policy_feed.h"
#include "common/base/error.h"
#include "common/member/member.h"
#include "common/net/rpc/rpc.h"

/* Who hears the broadcast. */
typedef struct aq_policy_listener {
    void *user;
    /* From here on, every frame heard at `url` is given to the feed, on a thread of the listener's
     * choice. Only called when it does not listen. */
    int (*listen)(void *user, const char *url, aq_policy_feed *feed, aq_error *error);
    /* When it returns, nobody is in the feed any more. Only called when it listens. */
    void (*unlisten)(void *user);
    /* A frame that was fetched: give it to the feed in the same way. It copies what it needs, or
     * forgets the frame when there is no memory. Only called when it listens. */
    void (*pass)(void *user, const uint8_t *frame, size_t size);
} aq_policy_listener;

typedef struct aq_policy_session aq_policy_session;

int aq_policy_session_create(aq_rpc_channel *learner, const aq_policy_listener *listener,
                             aq_policy_session **ret_session) AQ_MUST_USE;

/* The channel must have been closed, or have answered every call; all engines were given back. NULL
 * is fine. */
void aq_policy_session_destroy(aq_policy_session *session);

/* A run begins: all engines of the one before have been given back. Of a policy that is awaited
 * nothing is done without the newest version: it is fetched sooner. AQ_E_NOMEM. */
int aq_policy_session_start(aq_policy_session *session, const aq_member_view *view,
                            const aq_policy_feed_config *config, bool is_awaited,
                            aq_error *error) AQ_MUST_USE;

/* The same run, joined again: the broadcast may have moved. */
void aq_policy_session_moved(aq_policy_session *session, const char *url);

/* `newest` is the version that the learner says there is. To be called after anything happened and
 * at aq_policy_session_next_ns. */
void aq_policy_session_tick(aq_policy_session *session, int64_t now_ns, uint64_t newest);
int64_t aq_policy_session_next_ns(const aq_policy_session *session);

/* A newer engine than the one that the caller has, or NULL; then the one that it had must be given
 * back before it asks again. NULL before the first start. */
aq_engine *aq_policy_session_take(aq_policy_session *session);
void aq_policy_session_give_back(aq_policy_session *session, aq_engine *engine);

/* All zero before the first start. */
aq_policy_news aq_policy_session_news(const aq_policy_session *session);

#endif
