/*
 * One shard: dialling, credit, sending. Events only note what happened where they do not know the
 * time; the tick acts.
 */
#include "actor/session/shard_lane.h"

#include <inttypes.h>
#include <string.h>

#include "actor/core/back_off.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/sys/log.h"

/* A connection can be dead without a sign. TCP finds a host that went away after AQ_TCP_SILENCE_MS
 * (tcp_patience.h), but not something in between that acknowledges what it does not pass on. So one
 * is made anew when the shard answers calls, and all the same takes nothing of what is sent for so
 * many of the run's rpc_timeout_ms, each of which sent again what it does not have. */
enum { STALL_TIMEOUTS = 3 };
#define STALL_NS_MIN (3 * AQ_NS_PER_S)

struct aq_shard_lane {
    aq_shard_lane_config config;
    aq_shard_spread *spread;
    uint32_t number; /* of the shard in the spread, and of the lane in the transport */
    aq_rng jitter;
    int64_t now_ns; /* of the last tick */

    aq_member_shard place;
    uint64_t store_before; /* that it passed from last; 0: none */
    bool is_listed;
    bool is_known;     /* the store has answered, and only then was it sent something */
    bool is_durable;   /* as it said */
    uint64_t stranger; /* see aq_shard_lane_stranger */

    bool is_open;
    bool is_connected;
    bool is_blocked; /* a send was refused; an event tells when to go on */
    uint32_t open_failures;
    int64_t open_at_ns;
    uint64_t resent_seen;
    uint64_t arrived_seen; /* messages that it has, as of stall_from_ns */
    int64_t stall_from_ns; /* since then it takes nothing, although there is more */

    aq_credit_session credit;

    aq_log_limit unreachable_limit, resending_limit, stranger_limit;
};

bool aq_shard_is_same_place(const aq_member_shard *a, const aq_member_shard *b)
{
    return strcmp(a->rpc_url, b->rpc_url) == 0 && strcmp(a->push_url, b->push_url) == 0;
}

/* ---- life ----------------------------------------------------------------------------------- */

int aq_shard_lane_create(const aq_shard_lane_config *config, const aq_member_shard *place,
                         aq_shard_lane **ret_lane)
{
    aq_shard_lane *lane = aq_alloc(1, sizeof(*lane));
    if (lane == NULL) {
        return AQ_E_NOMEM;
    }
    lane->config = *config;
    lane->spread = aq_actor_core_spread(config->core);
    lane->place = *place;
    lane->is_listed = true;
    lane->open_at_ns = INT64_MIN;
    int rc = aq_shard_spread_open(lane->spread, place->store, &lane->number);
    if (rc != 0) {
        aq_free(lane);
        return rc;
    }
    aq_rng_init(&lane->jitter, config->seed, 2 * lane->number + 1);
    aq_credit_session_init(&lane->credit, config->seed, 2 * lane->number);
    *ret_lane = lane;
    return 0;
}

/* Chunks are put for a shard that is in the run and can be sent to. */
static void tell_spread(aq_shard_lane *lane)
{
    aq_shard_spread_set_taking(lane->spread, lane->number,
                               lane->is_listed && lane->is_connected && lane->stranger == 0);
}

static void close_transport(aq_shard_lane *lane)
{
    if (lane->is_open) {
        lane->is_open = false;
        aq_credit_session_close(&lane->credit);
        lane->config.transport.close(lane->config.transport.user, lane->number);
    }
    lane->is_connected = false;
    lane->is_blocked = false;
    lane->stranger = 0;
    lane->open_failures = 0;
    lane->open_at_ns = INT64_MIN;
    tell_spread(lane);
}

void aq_shard_lane_destroy(aq_shard_lane *lane)
{
    if (lane != NULL) {
        close_transport(lane);
        aq_free(lane);
    }
}

/* ---- whose it is, and where that is --------------------------------------------------------- */

const aq_member_shard *aq_shard_lane_place(const aq_shard_lane *lane)
{
    return &lane->place;
}

bool aq_shard_lane_is_at(const aq_shard_lane *lane, const aq_member_shard *place)
{
    return place->store == lane->place.store ||
           (lane->store_before != 0 && place->store == lane->store_before &&
            aq_shard_is_same_place(place, &lane->place));
}

void aq_shard_lane_list(aq_shard_lane *lane, const aq_member_shard *place)
{
    AQ_ASSERT(aq_shard_lane_is_at(lane, place));
    if (!aq_shard_is_same_place(place, &lane->place)) {
        close_transport(lane);
    }
    if (place->store == lane->place.store) {
        if (lane->is_open && place->instance != lane->place.instance) {
            aq_rpc_channel_expect(lane->credit.stub.channel, AQ_ACCESS_REPLAY, place->instance);
        }
        lane->place = *place;
    }
    lane->is_listed = true;
    tell_spread(lane);
}

void aq_shard_lane_unlist(aq_shard_lane *lane)
{
    lane->is_listed = false;
    tell_spread(lane);
}

bool aq_shard_lane_may_pass(const aq_shard_lane *lane)
{
    return !lane->is_known || !lane->is_durable;
}

void aq_shard_lane_pass(aq_shard_lane *lane, uint64_t store)
{
    AQ_ASSERT(aq_shard_lane_may_pass(lane));
    aq_shard_spread_move(lane->spread, lane->number, lane->now_ns, store);
    lane->store_before = lane->place.store;
    lane->place.store = store;
    lane->place.instance = 0; /* until it is listed */
    lane->is_known = false;
    lane->is_durable = false;
    lane->stranger = 0;
    aq_credit_session_hurry(&lane->credit);
    tell_spread(lane);
}

uint64_t aq_shard_lane_stranger(const aq_shard_lane *lane)
{
    return lane->stranger;
}

bool aq_shard_lane_is_connected(const aq_shard_lane *lane)
{
    return lane->is_connected && lane->stranger == 0;
}

static aq_outbox_counters count(const aq_shard_lane *lane)
{
    return aq_shard_spread_count_of(lane->spread, lane->number);
}

/* ---- the connection ------------------------------------------------------------------------- */

static void open_transport(aq_shard_lane *lane)
{
    const aq_shard_transport *transport = &lane->config.transport;
    const aq_net_limits *limits = &lane->config.limits;
    aq_error error = {0};
    aq_rpc_channel *channel;
    int rc = transport->open(transport->user, lane->number, lane->place.rpc_url,
                             lane->place.push_url, limits, &channel, &error);
    if (rc == 0) {
        lane->is_open = true;
        aq_rpc_channel_expect(channel, AQ_ACCESS_REPLAY, lane->place.instance);
        aq_credit_session_open(&lane->credit, &lane->config.asker, channel);
        return;
    }
    lane->open_at_ns = lane->now_ns + aq_back_off_ns(&lane->jitter, limits->reconnect_min_ms,
                                                     limits->reconnect_max_ms, lane->open_failures);
    if (lane->open_failures < UINT32_MAX) {
        lane->open_failures++;
    }
    aq_log_limited(&lane->unreachable_limit, lane->now_ns, AQ_LOG_WARN, "shard_unreachable",
                   "trying again until it works", "shard=%" PRIu64 " url=%s reason=%s",
                   lane->place.member, lane->place.push_url, AQ_LOG_QUOTED(error.text));
}

/* Listed, or owed an acknowledgement. */
static bool is_needed(const aq_shard_lane *lane)
{
    return lane->is_listed || !aq_shard_spread_is_empty_of(lane->spread, lane->number);
}

static bool is_stalled(aq_shard_lane *lane)
{
    const aq_outbox_counters counters = count(lane);
    int64_t patience_ns = STALL_TIMEOUTS * lane->config.asker.rpc_timeout_ms * AQ_NS_PER_MS;
    patience_ns = patience_ns > STALL_NS_MIN ? patience_ns : STALL_NS_MIN;
    const uint64_t arrived = counters.acknowledged + counters.unacknowledged - counters.unarrived;
    const bool has_more = lane->is_blocked || counters.unarrived > 0;
    const bool waits = has_more && lane->is_connected && aq_credit_session_is_heard(&lane->credit);
    if (!waits || arrived != lane->arrived_seen) {
        lane->arrived_seen = arrived;
        lane->stall_from_ns = lane->now_ns;
    }
    return lane->now_ns - lane->stall_from_ns >= patience_ns;
}

static void log_lost(const aq_shard_lane *lane, const char *message)
{
    aq_log(AQ_LOG_WARN, "shard_lost", message,
           "shard=%" PRIu64 " slot=%" PRIu32 " unacknowledged=%" PRIu32, lane->place.member,
           lane->place.slot, count(lane).unacknowledged);
}

void aq_shard_lane_connected(aq_shard_lane *lane, int64_t now_ns)
{
    if (!lane->is_open) {
        return;
    }
    lane->is_connected = true;
    lane->is_blocked = false;
    aq_log(AQ_LOG_INFO, "shard_connected", "",
           "shard=%" PRIu64 " slot=%" PRIu32 " url=%s unacknowledged=%" PRIu32, lane->place.member,
           lane->place.slot, lane->place.push_url, count(lane).unacknowledged);
    aq_shard_spread_resend(lane->spread, lane->number, now_ns);
    tell_spread(lane);
}

void aq_shard_lane_disconnected(aq_shard_lane *lane)
{
    if (lane->is_open) {
        lane->is_connected = false;
        log_lost(lane, "dialling until it is back; nothing sent is forgotten");
        tell_spread(lane);
    }
}

void aq_shard_lane_writable(aq_shard_lane *lane)
{
    lane->is_blocked = false;
}

/* ---- credit --------------------------------------------------------------------------------- */

static void meet_stranger(aq_shard_lane *lane, uint64_t store)
{
    lane->stranger = store;
    aq_credit_session_discard(&lane->credit);
    aq_log_limited(&lane->stranger_limit, lane->now_ns, AQ_LOG_WARN, "shard_stranger",
                   "another store answers where this one was: it is sent nothing of this one's",
                   "shard=%" PRIu64 " slot=%" PRIu32 " store=%016" PRIx64 " found=%016" PRIx64
                   " unacknowledged=%" PRIu32,
                   lane->place.member, lane->place.slot, lane->place.store, store,
                   count(lane).unacknowledged);
}

static void take_answer(aq_shard_lane *lane)
{
    aq_credit_answer answer;
    if (!aq_credit_session_take(&lane->credit, lane->now_ns, &answer)) {
        return;
    }
    if (answer.store != 0 && answer.store != lane->place.store) {
        meet_stranger(lane, answer.store);
    } else {
        lane->stranger = 0;
        lane->is_known = true;
        lane->is_durable = answer.durable;
        aq_shard_spread_answered(lane->spread, lane->number, lane->now_ns, &answer.mark,
                                 answer.granted);
        aq_shard_spread_expect(lane->spread, lane->number, answer.version_min);
    }
    tell_spread(lane);
}

static void ask(aq_shard_lane *lane)
{
    aq_credit_known known = {
        .store = lane->place.store,
        .acknowledged_steps = count(lane).acknowledged_steps,
    };
    aq_shard_spread_known(lane->spread, lane->number, &known.acknowledged, &known.granted);
    aq_credit_session_ask(&lane->credit, &known);
}

/* ---- time ----------------------------------------------------------------------------------- */

static void log_resending(aq_shard_lane *lane)
{
    const aq_outbox_counters counters = count(lane);
    if (counters.resent > lane->resent_seen &&
        aq_log_allowed(&lane->resending_limit, lane->now_ns)) {
        aq_log(AQ_LOG_INFO, "resending", "the shard may have lost them",
               "shard=%" PRIu64 " slot=%" PRIu32 " messages=%" PRIu64 " unacknowledged=%" PRIu32,
               lane->place.member, lane->place.slot, counters.resent - lane->resent_seen,
               counters.unacknowledged);
        lane->resent_seen = counters.resent;
    }
}

void aq_shard_lane_tick(aq_shard_lane *lane, int64_t now_ns)
{
    lane->now_ns = now_ns;
    log_resending(lane);
    if (is_stalled(lane)) {
        log_lost(lane, "it answers, but takes nothing: connecting anew");
        close_transport(lane);
    }
    take_answer(lane);
    if (!is_needed(lane)) {
        close_transport(lane);
        return;
    }
    if (!lane->is_open && now_ns >= lane->open_at_ns) {
        open_transport(lane);
    }
    ask(lane);
}

static bool may_send(const aq_shard_lane *lane)
{
    return aq_shard_lane_is_connected(lane) && lane->is_known && !lane->is_blocked;
}

int64_t aq_shard_lane_next_ns(const aq_shard_lane *lane)
{
    int64_t next_ns = aq_credit_session_next_ns(&lane->credit);
    if (!lane->is_open && is_needed(lane)) {
        next_ns = aq_earlier_ns(next_ns, lane->open_at_ns);
    }
    if (may_send(lane)) {
        next_ns = aq_earlier_ns(next_ns, aq_actor_core_due_ns(lane->config.core, lane->number));
    }
    return next_ns;
}

void aq_shard_lane_pump(aq_shard_lane *lane, int64_t now_ns)
{
    const uint8_t *frame;
    size_t size;
    while (may_send(lane) &&
           aq_actor_core_next(lane->config.core, lane->number, now_ns, &frame, &size)) {
        int rc =
            lane->config.transport.send(lane->config.transport.user, lane->number, frame, size);
        AQ_ASSERT(rc != AQ_E_TOO_BIG); /* cut to the limit that was agreed on */
        if (rc != 0) {
            lane->is_blocked = rc == AQ_E_AGAIN;
            return; /* else there was no memory for now: the next round tries again */
        }
        aq_shard_spread_sent(lane->spread, lane->number, now_ns);
    }
}
