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
#include "proto/sampling.pb-c.h"

enum { RETRY_MS = 1000 };

typedef struct link {
    aq_shard_links *links;
    aq_shard_place place; /* an incarnation of 0: free */
    aq_rpc_client *client;
    aq_rpc_stub stub;
    bool wanted;
    bool asking;     /* whether it is there */
    bool is_reached; /* it was there, and its connection still is */
    bool is_sampled; /* the prefetcher has it */
    uint64_t ask_at_ms;
} link;

struct aq_shard_links {
    aq_shard_links_config config;
    aq_shard_links_owner owner;
    uint64_t seen_change;
    bool incomplete; /* a link could not be opened */
    uint64_t retry_at_ms;
    link links[AQ_SHARDS_MAX];
};

int aq_shard_links_create(const aq_shard_links_config *config, const aq_shard_links_owner *owner,
                          aq_shard_links **ret_links)
{
    aq_shard_links *links = aq_alloc(1, sizeof(*links));
    if (!links) {
        return AQ_E_NOMEM;
    }
    links->config = *config;
    links->owner = *owner;
    *ret_links = links;
    return 0;
}

static void drop(aq_shard_links *links, link *gone)
{
    if (gone->is_sampled) {
        aq_prefetch_remove_shard(links->config.prefetch, gone->place.incarnation);
    }
    aq_rpc_client_close(gone->client);
    *gone = (link){0};
}

static link *find(aq_shard_links *links, uint64_t incarnation)
{
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        if (links->links[i].place.incarnation == incarnation) {
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

static int dial(aq_shard_links *links, const aq_shard_place *place, aq_error *error)
{
    const aq_shard_links_config *config = &links->config;
    link *added = find(links, 0);
    if (!added) {
        return aq_fail(error, AQ_E_FULL, "more than %d shards", AQ_SHARDS_MAX);
    }
    aq_rpc_client *client = NULL;
    int rc = aq_rpc_client_create(config->loop, place->rpc_url, &config->limits,
                                  config->calls_max + 1, &client, error);
    if (rc != 0) {
        return rc;
    }
    *added = (link){.links = links, .place = *place, .client = client, .wanted = true};
    aq_rpc_channel *channel = aq_rpc_client_channel(client);
    aq_rpc_channel_expect(channel, AQ_ACCESS_REPLAY, aq_incarnation_name(place->incarnation));
    aq_rpc_stub_init(&added->stub, channel, &actorq__v1__sampling__descriptor, config->timeout_ms);
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
            known->wanted = known->place.unique == places->places[i].unique;
        }
    }
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        if (links->links[i].place.incarnation != 0 && !links->links[i].wanted) {
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
            links->retry_at_ms = uv_now(links->config.loop) + RETRY_MS;
            links->owner.trouble(links->owner.user, place->rpc_url, &error);
        }
    }
}

static void on_there(const Actorq__V1__PrioritizeReply *reply, void *user)
{
    link *asked = user;
    aq_shard_links *links = asked->links;
    const aq_rpc_status *status = aq_rpc_stub_status(&asked->stub);
    aq_error error = {.code = AQ_E_PEER};
    int rc = 0;
    asked->asking = false;
    asked->ask_at_ms = uv_now(links->config.loop) + RETRY_MS;
    if (reply == NULL && status->code == AQ_RPC_CANCELLED) { /* the link is being closed */
        return;
    }
    if (reply == NULL) {
        rc = aq_fail(&error, AQ_E_PEER, "%s", status->message);
    } else if (!asked->is_sampled) {
        rc = aq_prefetch_add_shard(links->config.prefetch, asked->place.incarnation,
                                   asked->place.rpc_url, aq_rpc_client_channel(asked->client));
        rc = rc != 0 ? aq_fail(&error, rc, "more than %d shards", AQ_SHARDS_MAX) : 0;
    }
    if (rc != 0) {
        links->owner.trouble(links->owner.user, asked->place.rpc_url, &error);
        return;
    }
    asked->ask_at_ms = 0;
    asked->is_sampled = asked->is_reached = true;
    links->owner.reached(links->owner.user, asked->place.incarnation, true);
}

/* New priorities for nothing: it changes nothing, and another start of a shard refuses it. */
static void ask(aq_shard_links *links, link *asked)
{
    Actorq__V1__PrioritizeRequest request = ACTORQ__V1__PRIORITIZE_REQUEST__INIT;
    request.run_id = links->config.run_id;
    request.shard_incarnation = aq_incarnation_name(asked->place.incarnation);
    asked->asking = true;
    actorq__v1__sampling__prioritize(&asked->stub.base, &request, on_there, asked);
}

/* Who comes back after its connection was lost may be another process. */
static void look_after(aq_shard_links *links, link *known)
{
    if (known->is_reached && !aq_rpc_client_connected(known->client)) {
        known->is_reached = false;
        links->owner.reached(links->owner.user, known->place.incarnation, false);
    }
    if (!known->is_reached && !known->asking && uv_now(links->config.loop) >= known->ask_at_ms) {
        ask(links, known);
    }
}

void aq_shard_links_follow(aq_shard_links *links, const aq_shard_places *places)
{
    bool retry = links->incomplete && uv_now(links->config.loop) >= links->retry_at_ms;
    if (places->change != links->seen_change || retry) {
        links->seen_change = places->change;
        drop_gone(links, places);
        dial_new(links, places);
    }
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        if (links->links[i].place.incarnation != 0) {
            look_after(links, &links->links[i]);
        }
    }
}

void aq_shard_links_destroy(aq_shard_links *links)
{
    if (!links) {
        return;
    }
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        if (links->links[i].place.incarnation != 0) {
            drop(links, &links->links[i]);
        }
    }
    aq_free(links);
}
