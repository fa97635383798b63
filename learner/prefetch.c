/*
 * Prefetch: see prefetch.h.
 *
 * Each request owns one group from the moment that it is sent until its answer has come, so an
 * answer always has a place to be read into and memory is bounded by the groups. It names the shard
 * by the life that was asked, since the shard may be gone, or back on another channel, by then.
 */
#include "learner/prefetch.h"

#include <stdbool.h>
#include <stdio.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/net.h"
#include "common/wire/wire_sample.h"
#include "learner/coordinator.h"

/* A shard that failed is left alone this long, so that a dead one doesn't keep the loop busy. */
#define PAUSE_NS   (100 * AQ_NS_PER_MS)
#define NOT_YET_NS (5 * AQ_NS_PER_MS)

/* The longest that the protocol lets a shard hold an answer back. */
enum { WAIT_MS_MAX = 10000 };

typedef struct shard {
    uint64_t incarnation; /* 0: the place is free */
    uint64_t life;        /* another one each time that it is added */
    char name[AQ_URL_MAX];
    aq_rpc_stub stub;
    int64_t not_before_ns;
    uint32_t asked; /* requests that wait for its answer */
} shard;

typedef struct request {
    aq_prefetch *prefetch;
    aq_batch *group;
    uint64_t life; /* of the shard that was asked */
    bool busy;
} request;

struct aq_prefetch {
    aq_prefetch_config config;
    aq_chunk_layout layout;
    aq_prefetch_owner owner;
    shard shards[AQ_SHARDS_MAX];
    uint64_t lives;
    size_t next_shard; /* in turn */
    request *requests; /* in_flight of them */
    aq_batch **groups; /* all of them */
    aq_batch **empty;  /* a stack of those that can be asked for */
    size_t group_count;
    size_t empty_count;
    int64_t now_ns; /* of the latest tick */
};

int aq_prefetch_create(const aq_prefetch_config *config, const aq_chunk_layout *layout,
                       const aq_prefetch_owner *owner, aq_prefetch **ret_prefetch)
{
    AQ_ASSERT(config->in_flight > 0 && config->timeout_ms > config->wait_ms);
    AQ_ASSERT(config->batch_rows > 0 && config->batch_count > 0);

    int rc = AQ_E_NOMEM;
    aq_prefetch *prefetch = aq_alloc(1, sizeof(*prefetch));
    if (!prefetch) {
        return AQ_E_NOMEM;
    }
    prefetch->config = *config;
    prefetch->layout = *layout;
    prefetch->owner = *owner;
    size_t group_count = (size_t)config->in_flight * 2;
    prefetch->requests = aq_alloc(config->in_flight, sizeof(*prefetch->requests));
    prefetch->groups = aq_alloc(group_count, sizeof(aq_batch *));
    prefetch->empty = aq_alloc(group_count, sizeof(aq_batch *));
    if (!prefetch->requests || !prefetch->groups || !prefetch->empty) {
        goto fail;
    }
    for (uint32_t i = 0; i < config->in_flight; i++) {
        prefetch->requests[i].prefetch = prefetch;
    }
    for (; prefetch->group_count < group_count; prefetch->group_count++) {
        aq_batch *group = NULL;
        rc = aq_batch_create(layout, config->batch_rows * config->batch_count, &group);
        if (rc) {
            goto fail;
        }
        prefetch->groups[prefetch->group_count] = group;
        prefetch->empty[prefetch->empty_count++] = group;
    }
    *ret_prefetch = prefetch;
    return 0;

fail:
    aq_prefetch_destroy(prefetch);
    return rc;
}

void aq_prefetch_destroy(aq_prefetch *prefetch)
{
    if (!prefetch) {
        return;
    }
    for (size_t i = 0; i < prefetch->group_count; i++) {
        aq_batch_destroy(prefetch->groups[i]);
    }
    aq_free(prefetch->requests);
    aq_free(prefetch->groups);
    aq_free(prefetch->empty);
    aq_free(prefetch);
}

static shard *find_shard(aq_prefetch *prefetch, uint64_t incarnation)
{
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        if (prefetch->shards[i].incarnation == incarnation) {
            return &prefetch->shards[i];
        }
    }
    return NULL;
}

static shard *find_life(aq_prefetch *prefetch, uint64_t life)
{
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        if (prefetch->shards[i].life == life) {
            return &prefetch->shards[i];
        }
    }
    return NULL;
}

int aq_prefetch_add_shard(aq_prefetch *prefetch, uint64_t incarnation, const char *name,
                          aq_rpc_channel *channel)
{
    AQ_ASSERT(incarnation != 0);
    AQ_ASSERT(!find_shard(prefetch, incarnation));

    shard *place = find_shard(prefetch, 0);
    if (!place) {
        return AQ_E_FULL;
    }
    *place = (shard){.incarnation = incarnation, .life = ++prefetch->lives};
    (void)snprintf(place->name, sizeof(place->name), "%s", name);
    aq_rpc_stub_init(&place->stub, channel, &actorq__v1__sampling__descriptor,
                     prefetch->config.timeout_ms);
    return 0;
}

void aq_prefetch_remove_shard(aq_prefetch *prefetch, uint64_t incarnation)
{
    shard *gone = find_shard(prefetch, incarnation);
    if (gone) {
        *gone = (shard){0};
    }
}

static bool may_be_asked(const aq_prefetch *prefetch, const shard *candidate)
{
    return candidate->incarnation != 0 && candidate->not_before_ns <= prefetch->now_ns;
}

/* How the requests are shared out: each shard that may be asked has `each` to itself, and `spare`
 * are left for whoever comes first. So one that is slow to answer, or all but one, leave the others
 * their share; else the learner would go at the pace of the slowest. */
typedef struct share {
    uint32_t each, spare;
} share;

static share share_out(const aq_prefetch *prefetch)
{
    uint32_t shards = 0;
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        shards += may_be_asked(prefetch, &prefetch->shards[i]);
    }
    if (shards == 0) {
        return (share){0};
    }
    share shared = {prefetch->config.in_flight / shards, prefetch->config.in_flight % shards};
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        uint32_t asked = prefetch->shards[i].asked;
        uint32_t beyond = asked > shared.each ? asked - shared.each : 0;
        shared.spare -= beyond < shared.spare ? beyond : shared.spare;
    }
    return shared;
}

/* The shard whose turn it is, of those that are not paused and hold less than their share; NULL
 * when there is none. */
static shard *shard_in_turn(aq_prefetch *prefetch)
{
    share shared = share_out(prefetch);
    for (size_t step = 0; step < AQ_SHARDS_MAX; step++) {
        size_t index = (prefetch->next_shard + step) % AQ_SHARDS_MAX;
        shard *candidate = &prefetch->shards[index];
        if (may_be_asked(prefetch, candidate) &&
            candidate->asked < shared.each + (shared.spare > 0)) {
            prefetch->next_shard = index + 1;
            return candidate;
        }
    }
    return NULL;
}

static void say_trouble(aq_prefetch *prefetch, shard *from, const char *reason)
{
    from->not_before_ns = prefetch->now_ns + PAUSE_NS;
    prefetch->owner.trouble(prefetch->owner.user, from->name, reason);
}

static int read_group(const aq_prefetch *prefetch, const Actorq__V1__SampleReply *reply,
                      aq_batch *group, aq_error *error)
{
    int rc = aq_wire_sample_read(reply, &prefetch->layout, group, error);
    if (!rc && group->rows != group->rows_max) {
        rc = aq_fail(error, AQ_E_CORRUPT, "sample of %u rows; %u were asked for", group->rows,
                     group->rows_max);
    }
    return rc;
}

/* Reads the reply into the request's group; true when it is full. */
static bool take_reply(request *answered, shard *from, const Actorq__V1__SampleReply *reply)
{
    aq_prefetch *prefetch = answered->prefetch;
    aq_error error;
    if (!reply) {
        const aq_rpc_status *status = aq_rpc_stub_status(&from->stub);
        if (status->code == AQ_RPC_UNAVAILABLE) {
            from->not_before_ns = prefetch->now_ns + NOT_YET_NS; /* the limiter's "not yet" */
        } else {
            say_trouble(prefetch, from, status->message);
        }
        return false;
    }
    if (read_group(prefetch, reply, answered->group, &error)) {
        say_trouble(prefetch, from, error.text);
        return false;
    }
    /* Another process may live at the address by now; its steps are not to be counted as this
     * one's. Its own heartbeats tell of them. */
    if (reply->shard_incarnation == from->incarnation) {
        prefetch->owner.progress(prefetch->owner.user, from->incarnation, reply->inserted);
    }
    return true;
}

static bool is_empty(const aq_prefetch *prefetch, const aq_batch *group)
{
    for (size_t i = 0; i < prefetch->empty_count; i++) {
        if (prefetch->empty[i] == group) {
            return true;
        }
    }
    return false;
}

static void put_empty(aq_prefetch *prefetch, aq_batch *group)
{
    AQ_ASSERT(prefetch->empty_count < prefetch->group_count);
    AQ_ASSERT(!is_empty(prefetch, group)); /* else two requests would fill one group */
    group->rows = 0;
    prefetch->empty[prefetch->empty_count++] = group;
}

static void on_sample(const Actorq__V1__SampleReply *reply, void *user)
{
    request *answered = user;
    aq_prefetch *prefetch = answered->prefetch;
    aq_batch *group = answered->group;
    shard *from = find_life(prefetch, answered->life);
    if (from) {
        from->asked--;
    }
    bool full = from && take_reply(answered, from, reply);

    answered->busy = false;
    answered->group = NULL;
    if (full) {
        prefetch->owner.ready(prefetch->owner.user, group);
    } else {
        put_empty(prefetch, group);
    }
}

/* How long a shard may hold an answer back. Where shards outnumber requests, one that has nothing
 * to give must not keep a request that another could answer. */
static uint32_t wait_ms_of(const aq_prefetch *prefetch)
{
    uint32_t shards = 0;
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        shards += prefetch->shards[i].incarnation != 0;
    }
    if (shards > prefetch->config.in_flight) {
        return 0;
    }
    return prefetch->config.wait_ms < WAIT_MS_MAX ? prefetch->config.wait_ms : WAIT_MS_MAX;
}

static void ask(aq_prefetch *prefetch, request *next, shard *from)
{
    const aq_prefetch_config *config = &prefetch->config;
    next->busy = true;
    next->life = from->life;
    from->asked++;
    next->group = prefetch->empty[--prefetch->empty_count];

    Actorq__V1__SampleRequest message = ACTORQ__V1__SAMPLE_REQUEST__INIT;
    message.run_id = config->run_id;
    message.schema_hash = config->schema_hash;
    message.batch_rows = config->batch_rows;
    message.batch_count = config->batch_count;
    message.discount = config->discount;
    message.wait_ms = wait_ms_of(prefetch);
    actorq__v1__sampling__sample(&from->stub.base, &message, on_sample, next);
}

void aq_prefetch_tick(aq_prefetch *prefetch, int64_t now_ns)
{
    prefetch->now_ns = now_ns;
    for (uint32_t i = 0; i < prefetch->config.in_flight && prefetch->empty_count > 0; i++) {
        if (prefetch->requests[i].busy) {
            continue;
        }
        shard *from = shard_in_turn(prefetch);
        if (!from) {
            return;
        }
        ask(prefetch, &prefetch->requests[i], from);
    }
}

void aq_prefetch_give_back(aq_prefetch *prefetch, aq_batch *group)
{
    put_empty(prefetch, group);
}
