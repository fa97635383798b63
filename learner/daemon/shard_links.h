/*
 * Shard links: one RPC client to each live replay shard, kept in step with where shards are and
 * handed to the prefetcher. Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_SHARD_LINKS_H
#define AQ_LEARNER_DAEMON_SHARD_LINKS_H

#include <uv.h>

#include "common/net/sockets/net.h"
#include "learner/run/coordinator.h"
#include "learner/sampling/prefetch.h"

/* Where the live shards are; plain data, which another rank of the learner can be told. */
typedef struct aq_shard_place {
    uint64_t incarnation; /* or its name (common/net/security/incarnation.h) */
    uint64_t unique;      /* of the record; another one when the shard has moved */
    char rpc_url[AQ_URL_MAX];
} aq_shard_place;

typedef struct aq_shard_places {
    uint64_t change; /* aq_coordinator_shards_changed; 0: nothing was heard yet */
    uint64_t count;
    aq_shard_place places[AQ_SHARDS_MAX];
} aq_shard_places;

/* Takes them from the coordinator, if they have changed: true. */
bool aq_shard_places_take(const aq_coordinator *coordinator, aq_shard_places *places);

typedef struct aq_shard_links aq_shard_links;

typedef void (*aq_shard_links_trouble_fn)(void *user, const char *url, const aq_error *error);

int aq_shard_links_create(uv_loop_t *loop, aq_prefetch *prefetch, const aq_net_limits *limits,
                          size_t calls_max, aq_shard_links_trouble_fn trouble, void *user,
                          aq_shard_links **ret_links) AQ_MUST_USE;

/* Opens links to shards that joined and closes those to shards that went; cheap when nothing
 * changed. A link that can't be opened is trouble, and tried again a second later. */
void aq_shard_links_follow(aq_shard_links *links, const aq_shard_places *places);

/* Closes all. Run the loop before freeing what the prefetcher's calls point at. NULL is fine. */
void aq_shard_links_destroy(aq_shard_links *links);

#endif
