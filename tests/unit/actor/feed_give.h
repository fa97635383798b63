/*
 * What the policy's thread does with one frame, at once.
 */
#ifndef AQ_TESTS_UNIT_ACTOR_FEED_GIVE_H
#define AQ_TESTS_UNIT_ACTOR_FEED_GIVE_H

#include "actor/core/policy_feed.h"

static inline enum aq_policy_verdict feed_give(aq_policy_feed *feed, int64_t now_ns,
                                               const uint8_t *frame, size_t size)
{
    const enum aq_policy_verdict heard = aq_policy_feed_hear(feed, now_ns, frame, size);
    const enum aq_policy_verdict settled = aq_policy_feed_settle(feed, now_ns);
    return settled != AQ_POLICY_OLD ? settled : heard;
}

#endif
