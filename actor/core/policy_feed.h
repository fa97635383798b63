/*
 * Policy feed: what is heard of the policy of one run, from the frame to an engine that is ready to
 * run. Frames are checked and unpacked on one thread, the feeder; the stepping thread only ever
 * exchanges a pointer. A frame that is no good is counted and said once a second at most; the
 * policy in use stays. So it does when a change is heard of a version that is not here: a gap.
 *
 * The feeder logs policy_rejected and policy_gap.
 */
#ifndef AQ_ACTOR_CORE_POLICY_FEED_H
#define AQ_ACTOR_CORE_POLICY_FEED_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "quantizer/engine/engine.h"
#include "rollout/env_task.h"

typedef struct aq_policy_feed aq_policy_feed;

typedef struct aq_policy_feed_config {
    uint64_t run_id;
    uint64_t network_hash; /* 0: any */
    aq_env_task task;      /* the feed takes a copy of its own */
    uint32_t rows_max;     /* of a forward pass */
    uint32_t cpu_flags;
} aq_policy_feed_config;

int aq_policy_feed_create(const aq_policy_feed_config *config,
                          aq_policy_feed **ret_feed) AQ_MUST_USE;

/* Nobody may be in a call. Engines that were taken must have been given back. NULL is fine. */
void aq_policy_feed_destroy(aq_policy_feed *feed);

enum aq_policy_verdict {
    AQ_POLICY_NEW,      /* an engine newer than all before is ready */
    AQ_POLICY_OLD,      /* nothing that was not known */
    AQ_POLICY_GAP,      /* a change of a version that is not here: a full one is needed */
    AQ_POLICY_REJECTED, /* corrupt, of another run, or not a policy for the task */
};

/* The feeder: a POLICY or a POLICY_DELTA frame, heard or fetched. Of NEW the engine is there after
 * aq_policy_feed_settle. */
enum aq_policy_verdict aq_policy_feed_hear(aq_policy_feed *feed, int64_t now_ns,
                                           const uint8_t *frame, size_t size);

/* The feeder, when nothing more waits to be heard: makes the engine of the newest version, if that
 * is new. */
enum aq_policy_verdict aq_policy_feed_settle(aq_policy_feed *feed, int64_t now_ns);

/* The feeder: the newest version that was heard, or NULL; valid until the next call. */
const aq_snapshot *aq_policy_feed_newest(const aq_policy_feed *feed);

/* The stepping thread: a newer engine than the one it has, or NULL. The one that it had must be
 * given back before it asks again. */
aq_engine *aq_policy_feed_take(aq_policy_feed *feed);
void aq_policy_feed_give_back(aq_policy_feed *feed, aq_engine *engine); /* NULL is fine */

/* Any thread. */
typedef struct aq_policy_news {
    uint64_t version;  /* the newest that was accepted; 0: none */
    uint64_t heard;    /* the newest of which a change came that could not be used */
    uint64_t rejected; /* frames */
    uint64_t gaps;     /* times that versions were missed and a full one was needed */
} aq_policy_news;

aq_policy_news aq_policy_feed_news(const aq_policy_feed *feed);

#endif
