/*
 * Shard links: see shard_links.h.
 */
#include "learner/daemon/shard_links.h"

#include <stdbool.h>
#include <stdio.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/security/incarnation.h"

enum { RETRY_MS = 1000 };

typedef struct link {
    uint64_t incarnation; /* 0: free */
    uint64_t unique;      /* of the record; another one when the shard has moved */
    aq_rpc_client *client;
    bool wanted;
} link;

struct aq_shard_links {
    uv_loop_t *loop;
    aq_prefetch *prefetch;
    aq_net_limits limits;
    size_t calls_max;
    aq_shard_links_trouble_fn trouble;
    void *user;
    uint64_t seen_change;
    bool incomplete; /* a link could not be opened */
    uint64_t retry_at_ms;
    link links[AQ_SHARDS_MAX];
};

int aq_shard_links_create(uv_loop_t *loop, aq_prefetch *prefetch, const aq_net_limits *limits,
                          size_t calls_max, aq_shard_links_trouble_fn trouble, void *user,
                          aq_shard_links **ret_links)
{
    aq_shard_links *links = aq_alloc(1, sizeof(*links));
    if (!links) {
        return AQ_E_NOMEM;
    }
    links->loop = loop;
    links->prefetch = prefetch;
    links->limits = *limits;
    links->calls_max = calls_max;
    links->trouble = trouble;
    links->user = user;
    *ret_links = links;
    return 0;
}

static void drop(aq_shard_links *links, link *gone)
{
    aq_prefetch_remove_shard(links->prefetch, gone->incarnation);
    aq_rpc_client_close(gone->client);
    *gone = (link){0};
}

static link *find(aq_shard_links *links, uint64_t incarnation)
{
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        if (links->links[i].incarnation == incarnation) {
            return &links->links[i];
        }
    }
    return NULL;
}

bool aq_shard_places_take(const aq_coordinator *coordinator, aq_shard_places *places)
{
    if (places->change == aq_coordinator_shards_changed(coordinator)) {
        return false;
    }
    places->change = aq_coordinator_shards_changed(coordinator);
    places->count = 0;
    for (size_t i = 0; i < aq_coordinator_member_count(coordinator); i++) {
        const aq_member_record *record = aq_coordinator_member_at(coordinator, i);
        if (record->role == AQ_ROLE_REPLAY) {
            AQ_ASSERT(places->count < AQ_SHARDS_MAX);
            aq_shard_place *place = &places->places[places->count++];
            *place = (aq_shard_place){.incarnation = record->incarnation, .unique = record->unique};
            (void)snprintf(place->rpc_url, sizeof(place->rpc_url), "%s", record->rpc_url);
        }
    }
    return true;
}

static int dial(aq_shard_links *links, const aq_shard_place *record, aq_error *error)
{
    link *place = find(links, 0);
    if (!place) {
        return aq_fail(error, AQ_E_FULL, "more than %d shards", AQ_SHARDS_MAX);
    }
    aq_rpc_client *client = NULL;
    int rc = aq_rpc_client_create(links->loop, record->rpc_url, &links->limits, links->calls_max,
                                  &client, error);
    if (rc != 0) {
        return rc;
    }
    aq_rpc_channel_expect(aq_rpc_client_channel(client), AQ_ACCESS_REPLAY,
                          aq_incarnation_name(record->incarnation));
    rc = aq_prefetch_add_shard(links->prefetch, record->incarnation, record->rpc_url,
                               aq_rpc_client_channel(client));
    if (rc != 0) {
        aq_rpc_client_close(client);
        return aq_fail(error, rc, "more than %d shards", AQ_SHARDS_MAX);
    }
    *place = (link){
        .incarnation = record->incarnation,
        .unique = record->unique,
        .client = client,
        .wanted = true,
    };
    return 0;
}

/* Before any link is opened: a shard that was restarted needs the place of its earlier life. */
static void drop_gone(aq_shard_links *links, const aq_shard_places *places)
{
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        links->links[i].wanted = false;
    }
    for (size_t i = 0; i < places->count; i++) {
        link *known = find(links, places->places[i].incarnation);
        if (known) {
            known->wanted = known->unique == places->places[i].unique;
        }
    }
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        if (links->links[i].incarnation != 0 && !links->links[i].wanted) {
            drop(links, &links->links[i]);
        }
    }
}

static void dial_new(aq_shard_links *links, const aq_shard_places *places)
{
    links->incomplete = false;
    for (size_t i = 0; i < places->count; i++) {
        const aq_shard_place *place = &places->places[i];
        aq_error error;
        if (find(links, place->incarnation)) {
            continue;
        }
        if (dial(links, place, &error)) {
            links->incomplete = true;
            links->retry_at_ms = uv_now(links->loop) + RETRY_MS;
            links->trouble(links->user, place->rpc_url, &error);
        }
    }
}

void aq_shard_links_follow(aq_shard_links *links, const aq_shard_places *places)
{
    bool retry = links->incomplete && uv_now(links->loop) >= links->retry_at_ms;
    if (places->change == links->seen_change && !retry) {
        return;
    }
    links->seen_change = places->change;
    drop_gone(links, places);
    dial_new(links, places);
}

void aq_shard_links_destroy(aq_shard_links *links)
{
    if (!links) {
        return;
    }
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        if (links->links[i].incarnation != 0) {
            drop(links, &links->links[i]);
        }
    }
    aq_free(links);
}
