/*
 * Shard links: one RPC client to each live replay shard, kept in step with where shards are. What a
 * Join says of an address is a word; so a shard is asked there first, and is handed to the
 * prefetcher when it has answered as the process that joined. Loop thread only.
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

typedef struct aq_shard_links_owner {
    void *user;
    /* The shard has answered at its address, as the process that joined; or its connection is
     * gone. */
    void (*reached)(void *user, uint64_t incarnation, bool is_reached);
    void (*trouble)(void *user, const char *url, const aq_error *error);
} aq_shard_links_owner;

/* All lent but the limits, which are copied. */
typedef struct aq_shard_links_config {
    uv_loop_t *loop;
    aq_prefetch *prefetch;
    uint64_t run_id;
    aq_net_limits limits;
    size_t calls_max; /* of the prefetcher to a shard */
    uint32_t timeout_ms;
} aq_shard_links_config;

int aq_shard_links_create(const aq_shard_links_config *config, const aq_shard_links_owner *owner,
                          aq_shard_links **ret_links) AQ_MUST_USE;

/* To be called every few ms. Opens links to shards that joined and closes those to shards that
 * went. A link that can't be opened is trouble, and so is a shard that does not answer; each is
 * tried again a second later. */
void aq_shard_links_follow(aq_shard_links *links, const aq_shard_places *places);

/* Closes all. Run the loop before freeing what the prefetcher's calls point at. NULL is fine. */
void aq_shard_links_destroy(aq_shard_links *links);

#endif
