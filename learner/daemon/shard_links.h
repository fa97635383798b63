/*
 * Shard links: one RPC client to each live replay shard, kept in step with the coordinator's
 * members and handed to the prefetcher. Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_SHARD_LINKS_H
#define AQ_LEARNER_DAEMON_SHARD_LINKS_H

#include <uv.h>

#include "common/net/sockets/net.h"
#include "learner/run/coordinator.h"
#include "learner/sampling/prefetch.h"

typedef struct aq_shard_links aq_shard_links;

typedef void (*aq_shard_links_trouble_fn)(void *user, const char *url, const aq_error *error);

int aq_shard_links_create(uv_loop_t *loop, aq_prefetch *prefetch, const aq_net_limits *limits,
                          size_t calls_max, aq_shard_links_trouble_fn trouble, void *user,
                          aq_shard_links **ret_links) AQ_MUST_USE;

/* Opens links to shards that joined and closes those to shards that went; cheap when nothing
 * changed. A link that can't be opened is trouble, and tried again a second later. */
void aq_shard_links_follow(aq_shard_links *links, const aq_coordinator *coordinator);

/* Closes all. Run the loop before freeing what the prefetcher's calls point at. NULL is fine. */
void aq_shard_links_destroy(aq_shard_links *links);

#endif
