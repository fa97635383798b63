/*
 * Shard feed: batches from all live shards: the prefetcher, and a link to each shard, which it
 * keeps in step with where they are. Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_SHARD_FEED_H
#define AQ_LEARNER_DAEMON_SHARD_FEED_H

#include <uv.h>

#include "learner/daemon/shard_links.h"
#include "learner/run/run_plan.h"
#include "learner/sampling/prefetch.h"

typedef struct aq_shard_feed aq_shard_feed;

/* All lent. */
typedef struct aq_feed_config {
    uv_loop_t *loop;
    uint64_t run_id;
    const aq_run_plan *plan;
    const struct aq_security *security;
    const aq_shard_places *places; /* kept up to date by the owner */
    aq_coordinator *coordinator;   /* told what each shard has taken in; NULL: nobody is */
    void (*ready)(void *user, aq_batch *group); /* to be given back */
    void *user;
} aq_feed_config;

int aq_shard_feed_create(const aq_feed_config *config, aq_shard_feed **ret_feed) AQ_MUST_USE;

/* Closes the links; the loop must run before the feed is destroyed. NULL is fine, for both. */
void aq_shard_feed_close(aq_shard_feed *feed);
void aq_shard_feed_destroy(aq_shard_feed *feed);

void aq_shard_feed_tick(aq_shard_feed *feed, int64_t now_ns); /* every few ms */

/* What draws the batches: groups are given back to it, and it is told and asked what concerns
 * them. */
aq_prefetch *aq_shard_feed_prefetch(const aq_shard_feed *feed);

#endif
