/*
 * A row per shard, looked through for every chunk: they are few.
 */
#include "actor/core/shard_spread.h"

#include "common/base/assert.h"
#include "common/base/memory.h"

typedef struct spread_shard {
    aq_outbox *outbox;
    uint64_t granted; /* fresh transitions that may be sent to it in all */
    uint64_t put;     /* its outbox's put_steps: looked at in every step */
    uint64_t version_min;
    bool takes;
    bool has_room; /* and credit, as of the last begin */
} spread_shard;

struct aq_shard_spread {
    aq_outbox_config config;
    spread_shard shards[AQ_SPREAD_SHARDS_MAX];
    uint32_t count;
    uint32_t turn; /* who is asked first; at most `count` */
};

int aq_shard_spread_create(const aq_outbox_config *config, aq_shard_spread **ret_spread,
                           aq_error *error)
{
    int rc = aq_outbox_check(config, error);
    if (rc != 0) {
        return rc;
    }
    aq_shard_spread *spread = aq_alloc(1, sizeof(*spread));
    if (spread == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a spread");
    }
    spread->config = *config;
    *ret_spread = spread;
    return 0;
}

void aq_shard_spread_destroy(aq_shard_spread *spread)
{
    if (spread == NULL) {
        return;
    }
    for (uint32_t i = 0; i < spread->count; i++) {
        aq_outbox_destroy(spread->shards[i].outbox);
    }
    aq_free(spread);
}

/* ---- shards --------------------------------------------------------------------------------- */

static spread_shard *shard_at(aq_shard_spread *spread, uint32_t shard)
{
    AQ_ASSERT(shard < spread->count);
    return &spread->shards[shard];
}

static const spread_shard *look_at(const aq_shard_spread *spread, uint32_t shard)
{
    AQ_ASSERT(shard < spread->count);
    return &spread->shards[shard];
}

int aq_shard_spread_open(aq_shard_spread *spread, uint64_t store, uint32_t *ret_shard)
{
    if (spread->count == AQ_SPREAD_SHARDS_MAX) {
        return AQ_E_FULL;
    }
    aq_outbox_config config = spread->config;
    config.store = store;
    spread_shard added = {.takes = false};
    int rc = aq_outbox_create(&config, &added.outbox);
    if (rc != 0) {
        return rc;
    }
    spread->shards[spread->count] = added;
    *ret_shard = spread->count++;
    return 0;
}

uint32_t aq_shard_spread_count(const aq_shard_spread *spread)
{
    return spread->count;
}

void aq_shard_spread_set_taking(aq_shard_spread *spread, uint32_t shard, bool takes)
{
    spread_shard *at = shard_at(spread, shard);
    at->takes = takes;
    at->has_room = false; /* until the next begin has looked */
}

void aq_shard_spread_answered(aq_shard_spread *spread, uint32_t shard, int64_t now_ns,
                              const aq_shard_mark *mark, uint64_t granted)
{
    spread_shard *at = shard_at(spread, shard);
    if (granted > at->granted) {
        at->granted = granted;
    }
    aq_outbox_acknowledge(at->outbox, now_ns, mark);
}

void aq_shard_spread_expect(aq_shard_spread *spread, uint32_t shard, uint64_t version_min)
{
    shard_at(spread, shard)->version_min = version_min;
}

void aq_shard_spread_resend(aq_shard_spread *spread, uint32_t shard, int64_t now_ns)
{
    aq_outbox_resend(shard_at(spread, shard)->outbox, now_ns);
}

void aq_shard_spread_move(aq_shard_spread *spread, uint32_t shard, int64_t now_ns, uint64_t store)
{
    aq_outbox_move(shard_at(spread, shard)->outbox, now_ns, store);
}

void aq_shard_spread_known(const aq_shard_spread *spread, uint32_t shard,
                           uint64_t *ret_acknowledged, uint64_t *ret_granted)
{
    const spread_shard *at = look_at(spread, shard);
    *ret_acknowledged = aq_outbox_count(at->outbox).acknowledged;
    *ret_granted = at->granted;
}

/* ---- chunks --------------------------------------------------------------------------------- */

static uint64_t left_of(const spread_shard *at)
{
    return at->granted > at->put ? at->granted - at->put : 0;
}

/* Grants are a peer's numbers, up to anything. */
static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b >= a ? a + b : UINT64_MAX;
}

/* That each outbox may hold: shards that are away, and owe nothing, have no share. */
static size_t share_bytes(const aq_shard_spread *spread)
{
    uint32_t sharers = 0;
    for (uint32_t i = 0; i < spread->count; i++) {
        sharers += spread->shards[i].takes || !aq_shard_spread_is_empty_of(spread, i);
    }
    const size_t share = (size_t)AQ_SPREAD_BYTES_MAX / (sharers > 0 ? sharers : 1);
    return share < AQ_OUTBOX_BYTES_MAX ? share : AQ_OUTBOX_BYTES_MAX;
}

/* Room that there is credit for. */
static bool has_room(const spread_shard *at, size_t bytes_max)
{
    return at->takes && left_of(at) > 0 && aq_outbox_room(at->outbox, bytes_max);
}

uint64_t aq_shard_spread_credit(const aq_shard_spread *spread)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < spread->count; i++) {
        sum = add(sum, spread->shards[i].takes ? left_of(&spread->shards[i]) : 0);
    }
    return sum;
}

uint64_t aq_shard_spread_version_min(const aq_shard_spread *spread)
{
    uint64_t version_min = 0;
    for (uint32_t i = 0; i < spread->count; i++) {
        const spread_shard *at = &spread->shards[i];
        if (at->takes && left_of(at) > 0 && at->version_min > version_min) {
            version_min = at->version_min;
        }
    }
    return version_min;
}

uint64_t aq_shard_spread_begin(aq_shard_spread *spread)
{
    const size_t bytes_max = share_bytes(spread);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < spread->count; i++) {
        spread_shard *at = &spread->shards[i];
        at->has_room = has_room(at, bytes_max);
        sum = add(sum, at->has_room ? left_of(at) : 0);
    }
    return sum;
}

bool aq_shard_spread_may_put(const aq_shard_spread *spread)
{
    const size_t bytes_max = share_bytes(spread);
    for (uint32_t i = 0; i < spread->count; i++) {
        if (has_room(&spread->shards[i], bytes_max)) {
            return true;
        }
    }
    return false;
}

/* The i-th in turn. */
static uint32_t in_turn(const aq_shard_spread *spread, uint32_t i)
{
    const uint32_t at = spread->turn + i;
    return at < spread->count ? at : at - spread->count;
}

static void put_at(aq_shard_spread *spread, uint32_t shard, aq_chunk *chunk, int64_t since_ns)
{
    spread_shard *at = shard_at(spread, shard);
    at->put += aq_chunk_view_fresh(&chunk->view);
    spread->turn = shard + 1;
    aq_outbox_put(at->outbox, chunk, since_ns);
}

/* Shards take turns. The one with the most credit would be the same again and again, since who is
 * sent much is granted much; it is taken only where none has enough for all of the chunk. */
void aq_shard_spread_put(aq_shard_spread *spread, aq_chunk *chunk, int64_t since_ns)
{
    const uint64_t fresh = aq_chunk_view_fresh(&chunk->view);
    uint64_t most = 0;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < spread->count && most < fresh; i++) {
        const uint32_t shard = in_turn(spread, i);
        const spread_shard *at = &spread->shards[shard];
        if (at->has_room && left_of(at) > most) {
            most = left_of(at);
            best = shard;
        }
    }
    AQ_ASSERT(best != UINT32_MAX); /* the caller has seen that there is credit */
    put_at(spread, best, chunk, since_ns);
}

/* Every ring has room for one more chunk of each environment: what was put since it had room for a
 * burst is half of one at most. */
void aq_shard_spread_put_last(aq_shard_spread *spread, aq_chunk *chunk, int64_t since_ns)
{
    uint32_t best = UINT32_MAX;
    AQ_ASSERT(spread->count > 0);
    for (uint32_t i = 0; i < spread->count; i++) {
        const uint32_t shard = in_turn(spread, i);
        const spread_shard *at = &spread->shards[shard];
        const spread_shard *rival = best != UINT32_MAX ? &spread->shards[best] : NULL;
        if (rival == NULL || (at->takes && !rival->takes) ||
            (at->takes == rival->takes && left_of(at) > left_of(rival))) {
            best = shard;
        }
    }
    put_at(spread, best, chunk, since_ns);
}

/* ---- messages ------------------------------------------------------------------------------- */

static bool is_urgent(const spread_shard *at)
{
    return !at->takes || left_of(at) == 0;
}

bool aq_shard_spread_next(aq_shard_spread *spread, uint32_t shard, int64_t now_ns, bool urgent,
                          const uint8_t **ret_frame, size_t *ret_size)
{
    spread_shard *at = shard_at(spread, shard);
    return aq_outbox_next(at->outbox, now_ns, urgent || is_urgent(at), ret_frame, ret_size);
}

void aq_shard_spread_sent(aq_shard_spread *spread, uint32_t shard, int64_t now_ns)
{
    aq_outbox_sent(shard_at(spread, shard)->outbox, now_ns);
}

int64_t aq_shard_spread_due_ns(const aq_shard_spread *spread, uint32_t shard, bool urgent)
{
    const spread_shard *at = look_at(spread, shard);
    return aq_outbox_due_ns(at->outbox, urgent || is_urgent(at));
}

bool aq_shard_spread_is_empty_of(const aq_shard_spread *spread, uint32_t shard)
{
    const aq_outbox_counters counters = aq_shard_spread_count_of(spread, shard);
    return counters.unacknowledged == 0 && counters.waiting_chunks == 0;
}

bool aq_shard_spread_is_empty(const aq_shard_spread *spread)
{
    for (uint32_t i = 0; i < spread->count; i++) {
        if (!aq_shard_spread_is_empty_of(spread, i)) {
            return false;
        }
    }
    return true;
}

aq_outbox_counters aq_shard_spread_count_of(const aq_shard_spread *spread, uint32_t shard)
{
    return aq_outbox_count(look_at(spread, shard)->outbox);
}

aq_outbox_counters aq_shard_spread_count_all(const aq_shard_spread *spread)
{
    aq_outbox_counters sum = {.acknowledged = 0};
    for (uint32_t i = 0; i < spread->count; i++) {
        const aq_outbox_counters one = aq_outbox_count(spread->shards[i].outbox);
        sum.unacknowledged += one.unacknowledged;
        sum.unarrived += one.unarrived;
        sum.waiting_chunks += one.waiting_chunks;
        sum.bytes += one.bytes;
        sum.sent += one.sent;
        sum.resent += one.resent;
        sum.put_steps += one.put_steps;
        sum.acknowledged_steps += one.acknowledged_steps;
        sum.shard_steps += one.shard_steps;
    }
    return sum;
}
