/*
 * Prefetch: see prefetch.h.
 *
 * Each request owns one group from the moment that it is sent until its answer has come, so an
 * answer always has a place to be read into and memory is bounded by the groups. It names the shard
 * by the life that was asked, since the shard may be gone, or back on another channel, by then.
 */
#include "learner/sampling/prefetch.h"

#include <inttypes.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/experience/importance.h"
#include "common/wire/wire_sample.h"
#include "learner/sampling/shard_board.h"

/* A tick that comes later than this was no wait for groups: the loop was busy elsewhere. */
#define TICK_GAP_NS AQ_NS_PER_S

/* Calls with priorities that may be under way for each request: groups come back in bursts. */
enum { RETURNS_PER_REQUEST = 4 };

/* The longest that the protocol lets a shard hold an answer back. */
enum { WAIT_MS_MAX = 10000 };

typedef struct group {
    aq_batch *batch;
    uint64_t life;        /* of the shard that it came from */
    uint64_t incarnation; /* the start that numbered its items */
    bool lent;            /* to the owner */
} group;

typedef struct request {
    aq_prefetch *prefetch;
    group *group;
    uint64_t life; /* of the shard that was asked */
    int64_t asked_ns;
    bool busy;
} request;

struct aq_prefetch {
    aq_prefetch_config config;
    aq_layout layout;
    aq_prefetch_owner owner;
    aq_shard_board board;
    request *requests; /* in_flight of them */
    group *groups;     /* all of them */
    group **empty;     /* a stack of those that can be asked for */
    size_t group_count;
    size_t empty_count;
    size_t lent_count;
    aq_priority_return *returns;              /* NULL: nobody asks for priorities */
    bool weighs;                              /* draws are uneven, and that is corrected */
    uint64_t newest_version, coming_versions; /* when paced */
    aq_prefetch_counts counts;
    int64_t awaited_ns; /* waited for an answer, which is to say whose doing it was */
    int64_t now_ns;     /* until which time has passed; 0: there was no tick yet */
};

static int create_groups(aq_prefetch *prefetch, size_t group_count)
{
    const aq_prefetch_config *config = &prefetch->config;
    for (; prefetch->group_count < group_count; prefetch->group_count++) {
        group *made = &prefetch->groups[prefetch->group_count];
        uint32_t rows = config->batch_rows * config->batch_count;
        int rc =
            aq_batch_create(&prefetch->layout, config->table.sequence_length, rows, &made->batch);
        if (rc != 0) {
            return rc;
        }
        prefetch->empty[prefetch->empty_count++] = made;
    }
    return 0;
}

int aq_prefetch_create(const aq_prefetch_config *config, const aq_layout *layout,
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
    prefetch->weighs = config->table.selector == AQ_SELECTOR_PRIORITIZED &&
                       config->table.priority_exponent > 0 && config->importance_exponent > 0;
    size_t group_count = (size_t)config->in_flight * 2;
    prefetch->requests = aq_alloc(config->in_flight, sizeof(*prefetch->requests));
    prefetch->groups = aq_alloc(group_count, sizeof(*prefetch->groups));
    prefetch->empty = aq_alloc(group_count, sizeof(group *));
    if (!prefetch->requests || !prefetch->groups || !prefetch->empty) {
        goto fail;
    }
    for (uint32_t i = 0; i < config->in_flight; i++) {
        prefetch->requests[i].prefetch = prefetch;
    }
    rc = create_groups(prefetch, group_count);
    if (rc == 0 && aq_table_spec_uses_priorities(&config->table)) {
        rc = aq_priority_return_create(config->run_id, config->table.name,
                                       config->in_flight * RETURNS_PER_REQUEST, owner->trouble,
                                       owner->user, &prefetch->returns);
    }
    if (rc != 0) {
        goto fail;
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
        aq_batch_destroy(prefetch->groups[i].batch);
    }
    aq_priority_return_destroy(prefetch->returns);
    aq_free(prefetch->requests);
    aq_free(prefetch->groups);
    aq_free(prefetch->empty);
    aq_free(prefetch);
}

uint32_t aq_prefetch_calls_max(uint32_t in_flight)
{
    return in_flight * (1 + RETURNS_PER_REQUEST);
}

static bool is_paced(const aq_prefetch *prefetch)
{
    return prefetch->config.versions_max > 0;
}

/* ---- shards --------------------------------------------------------------------------------- */

int aq_prefetch_add_shard(aq_prefetch *prefetch, uint64_t incarnation, const char *name,
                          aq_rpc_channel *channel)
{
    aq_board_shard *added = NULL;
    int rc = aq_shard_board_add(&prefetch->board, incarnation, name, &added);
    if (rc == 0) {
        aq_rpc_stub_init(&added->stub, channel, &actorq__v1__sampling__descriptor,
                         prefetch->config.timeout_ms);
    }
    return rc;
}

void aq_prefetch_remove_shard(aq_prefetch *prefetch, uint64_t incarnation)
{
    aq_board_shard *gone = aq_shard_board_find(&prefetch->board, incarnation);
    if (gone) {
        aq_shard_board_remove(&prefetch->board, gone);
    }
}

/* What a paced queue holds is what was asked of it: all shards count alike. */
static void tell_mass(aq_prefetch *prefetch, const aq_board_shard *from, double mass)
{
    aq_shard_board_told_mass(&prefetch->board, from, is_paced(prefetch) ? 1.0 : mass);
}

void aq_prefetch_tell_mass(aq_prefetch *prefetch, uint64_t incarnation, double mass)
{
    const aq_board_shard *from = aq_shard_board_find(&prefetch->board, incarnation);
    if (from) {
        tell_mass(prefetch, from, mass);
    }
}

/* An answer ends what was waited for it. Had the limiter not held the request, it would have come
 * so much sooner. */
static void settle_wait(aq_prefetch *prefetch, int64_t held_ns)
{
    const int64_t limiter_ns = held_ns < prefetch->awaited_ns ? held_ns : prefetch->awaited_ns;
    prefetch->counts.waited_ns[AQ_WAIT_LIMITER] += limiter_ns;
    prefetch->counts.waited_ns[AQ_WAIT_ANSWER] += prefetch->awaited_ns - limiter_ns;
    prefetch->awaited_ns = 0;
}

/* What has passed was a wait where no group was there: before the count of these changes. */
static void pass_time(aq_prefetch *prefetch, int64_t now_ns)
{
    const int64_t passed_ns = now_ns - prefetch->now_ns;
    if (passed_ns <= 0) {
        return;
    }
    if (prefetch->lent_count == 0 && prefetch->now_ns != 0 && passed_ns < TICK_GAP_NS) {
        const enum aq_sample_wait reason = aq_shard_board_reason_to_wait(&prefetch->board);
        *(reason == AQ_WAIT_ANSWER ? &prefetch->awaited_ns : &prefetch->counts.waited_ns[reason]) +=
            passed_ns;
    }
    prefetch->now_ns = now_ns;
}

static void say_trouble(aq_prefetch *prefetch, aq_board_shard *from, const char *reason)
{
    prefetch->counts.failures++;
    settle_wait(prefetch, 0);
    aq_shard_board_failed(&prefetch->board, from, prefetch->now_ns, AQ_SHARD_SAID_TROUBLE);
    prefetch->owner.trouble(prefetch->owner.user, from->name, reason);
}

/* ---- answers -------------------------------------------------------------------------------- */

/* Rows are drawn until they make the steps that were asked for, so it is the last one alone that
 * may go beyond; algorithms have room for no more. */
static int check_steps(const aq_prefetch *prefetch, const aq_batch *batch, aq_error *error)
{
    const uint64_t most =
        (uint64_t)prefetch->config.steps + prefetch->config.table.sequence_length - 1;
    uint64_t steps = 0;
    for (uint32_t row = 0; row < batch->rows; row++) {
        steps += batch->length[row];
    }
    return steps <= most
               ? 0
               : aq_fail(error, AQ_E_CORRUPT, "sample of %" PRIu64 " steps; %u were asked for",
                         steps, prefetch->config.steps);
}

/* A group that is of so many steps has as many rows as make them. */
static int read_group(const aq_prefetch *prefetch, const Actorq__V1__SampleReply *reply,
                      aq_batch *batch, aq_error *error)
{
    int rc = aq_wire_sample_read(reply, batch, error);
    if (rc == 0 && prefetch->config.steps == 0 && batch->rows != batch->rows_max) {
        rc = aq_fail(error, AQ_E_CORRUPT, "sample of %u rows; %u were asked for", batch->rows,
                     batch->rows_max);
    }
    if (rc == 0 && prefetch->config.steps > 0 && aq_batch_has_sequences(batch)) {
        rc = check_steps(prefetch, batch, error);
    }
    return rc;
}

/* Probabilities become weights, batch by batch. */
static void weigh(aq_prefetch *prefetch, aq_board_shard *from, double mass, aq_batch *batch)
{
    uint32_t batch_rows = prefetch->config.steps > 0 ? batch->rows : prefetch->config.batch_rows;
    for (uint32_t first = 0; first < batch->rows; first += batch_rows) {
        float *weight = batch->weight + first;
        if (!prefetch->weighs) {
            for (uint32_t i = 0; i < batch_rows; i++) {
                weight[i] = 1;
            }
            continue;
        }
        from->least = aq_importance_least(weight, batch_rows, mass);
        aq_importance_weigh(weight, batch_rows, mass, aq_shard_board_least(&prefetch->board),
                            prefetch->config.importance_exponent, weight);
    }
}

static void take_time(aq_prefetch *prefetch, const request *answered, aq_board_shard *from,
                      uint32_t held_us)
{
    int64_t taken_ns = prefetch->now_ns - answered->asked_ns;
    settle_wait(prefetch, held_us * AQ_NS_PER_US);
    prefetch->counts.answers++;
    prefetch->counts.answers_ns += taken_ns;
    aq_shard_board_sampled(&prefetch->board, from, prefetch->now_ns, taken_ns);
}

/* The limiter's "not yet": what was waited since the request is its doing. */
static void take_not_yet(aq_prefetch *prefetch, const request *answered, aq_board_shard *from)
{
    settle_wait(prefetch, prefetch->now_ns - answered->asked_ns);
    prefetch->counts.not_yet++;
    aq_shard_board_failed(&prefetch->board, from, prefetch->now_ns, AQ_SHARD_SAID_NOT_YET);
}

/* Reads the reply into the request's group; true when it is full. */
static bool take_reply(request *answered, aq_board_shard *from,
                       const Actorq__V1__SampleReply *reply)
{
    aq_prefetch *prefetch = answered->prefetch;
    aq_batch *batch = answered->group->batch;
    aq_error error;
    if (!reply) {
        const aq_rpc_status *status = aq_rpc_stub_status(&from->stub);
        if (status->code == AQ_RPC_UNAVAILABLE) {
            take_not_yet(prefetch, answered, from);
        } else {
            say_trouble(prefetch, from, status->message);
        }
        return false;
    }
    int rc = read_group(prefetch, reply, batch, &error);
    prefetch->counts.unusable_in_row =
        rc == AQ_E_CORRUPT ? prefetch->counts.unusable_in_row + 1 : 0;
    if (rc != 0) {
        say_trouble(prefetch, from, error.text);
        return false;
    }
    answered->group->life = from->life;
    answered->group->incarnation = reply->shard_incarnation;
    take_time(prefetch, answered, from, reply->held_us);
    tell_mass(prefetch, from, reply->mass);
    weigh(prefetch, from, reply->mass, batch);
    aq_priority_return_clear(batch);
    /* Another process may live at the address by now; its steps are not to be counted as this
     * one's. Its own heartbeats tell of them. */
    if (reply->shard_incarnation == from->start) {
        prefetch->owner.progress(prefetch->owner.user, from->incarnation, reply->inserted);
    }
    return true;
}

static bool is_empty(const aq_prefetch *prefetch, const group *sought)
{
    for (size_t i = 0; i < prefetch->empty_count; i++) {
        if (prefetch->empty[i] == sought) {
            return true;
        }
    }
    return false;
}

static void put_empty(aq_prefetch *prefetch, group *emptied)
{
    AQ_ASSERT(prefetch->empty_count < prefetch->group_count);
    AQ_ASSERT(!is_empty(prefetch, emptied)); /* else two requests would fill one group */
    emptied->batch->rows = 0;
    prefetch->empty[prefetch->empty_count++] = emptied;
}

static void on_sample(const Actorq__V1__SampleReply *reply, void *user)
{
    request *answered = user;
    aq_prefetch *prefetch = answered->prefetch;
    group *filled = answered->group;
    pass_time(prefetch, prefetch->owner.now_ns(prefetch->owner.user));
    aq_board_shard *from = aq_shard_board_find_life(&prefetch->board, answered->life);
    bool full = from && take_reply(answered, from, reply);
    answered->busy = false;
    answered->group = NULL;
    if (full) {
        filled->lent = true;
        prefetch->lent_count++;
        prefetch->owner.ready(prefetch->owner.user, filled->batch);
    } else {
        put_empty(prefetch, filled);
    }
}

/* ---- asking --------------------------------------------------------------------------------- */

/* How long a shard may hold an answer back. Where shards outnumber requests, one that has nothing
 * to give must not keep a request that another could answer; a paced one has nothing until it is
 * asked. */
static uint32_t wait_ms_of(const aq_prefetch *prefetch)
{
    if (!is_paced(prefetch) &&
        aq_shard_board_count(&prefetch->board) > prefetch->config.in_flight) {
        return 0;
    }
    return prefetch->config.wait_ms < WAIT_MS_MAX ? prefetch->config.wait_ms : WAIT_MS_MAX;
}

/* Groups ahead of the next one. */
static uint64_t groups_ahead(const aq_prefetch *prefetch)
{
    return prefetch->group_count - prefetch->empty_count + prefetch->coming_versions;
}

static bool may_ask(const aq_prefetch *prefetch)
{
    return !is_paced(prefetch) ||
           (prefetch->newest_version > 0 && groups_ahead(prefetch) < prefetch->config.versions_max);
}

/* For a group that was taken just now, and counts itself as ahead. */
static uint64_t version_min(const aq_prefetch *prefetch)
{
    const uint64_t after_training = prefetch->newest_version + groups_ahead(prefetch);
    const uint64_t versions_max = prefetch->config.versions_max;
    return after_training > versions_max ? after_training - versions_max : 1;
}

static void ask(aq_prefetch *prefetch, request *next, aq_board_shard *from)
{
    aq_prefetch_config *config = &prefetch->config;
    next->busy = true;
    next->life = from->life;
    next->asked_ns = prefetch->now_ns;
    next->group = prefetch->empty[--prefetch->empty_count];

    Actorq__V1__SampleRequest message = ACTORQ__V1__SAMPLE_REQUEST__INIT;
    message.run_id = config->run_id;
    message.schema_hash = prefetch->layout.hash;
    message.batch_rows = config->batch_rows;
    message.batch_count = config->batch_count;
    message.discount = config->discount;
    message.wait_ms = wait_ms_of(prefetch);
    message.table = config->table.name;
    message.steps = config->steps;
    message.version_min = is_paced(prefetch) ? version_min(prefetch) : 0;
    actorq__v1__sampling__sample(&from->stub.base, &message, on_sample, next);
}

void aq_prefetch_tick(aq_prefetch *prefetch, int64_t now_ns)
{
    pass_time(prefetch, now_ns);
    for (uint32_t i = 0; i < prefetch->config.in_flight && prefetch->empty_count > 0; i++) {
        if (prefetch->requests[i].busy) {
            continue;
        }
        if (!may_ask(prefetch)) {
            return;
        }
        aq_board_shard *from =
            aq_shard_board_next(&prefetch->board, now_ns, prefetch->config.in_flight);
        if (!from) {
            return;
        }
        ask(prefetch, &prefetch->requests[i], from);
    }
}

void aq_prefetch_tell_versions(aq_prefetch *prefetch, uint64_t newest, uint64_t coming)
{
    prefetch->newest_version = newest;
    prefetch->coming_versions = coming;
}

void aq_prefetch_give_back(aq_prefetch *prefetch, aq_batch *batch)
{
    pass_time(prefetch, prefetch->owner.now_ns(prefetch->owner.user));
    for (size_t i = 0; i < prefetch->group_count; i++) {
        group *given = &prefetch->groups[i];
        if (given->batch != batch) {
            continue;
        }
        AQ_ASSERT(given->lent);
        given->lent = false;
        prefetch->lent_count--;
        if (prefetch->returns) {
            const aq_board_shard *from = aq_shard_board_find_life(&prefetch->board, given->life);
            aq_priority_return_send(prefetch->returns, from ? &from->stub : NULL,
                                    from ? from->name : "", given->incarnation, batch);
        }
        put_empty(prefetch, given);
        return;
    }
    AQ_ASSERT(false); /* no group of ours */
}

aq_prefetch_counts aq_prefetch_counts_of(const aq_prefetch *prefetch)
{
    aq_prefetch_counts counts = prefetch->counts;
    if (prefetch->returns) {
        counts.priorities = aq_priority_return_counts(prefetch->returns);
    }
    return counts;
}
