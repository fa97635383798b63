/*
 * The learner's list against the lanes, and all lanes in turn.
 */
#include "actor/session/shard_session.h"

#include <inttypes.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/sys/log.h"

struct aq_shard_session {
    aq_shard_lane_config config; /* its core: NULL: no run */
    int64_t now_ns;              /* of the last tick */

    aq_shard_lane *lanes[AQ_SPREAD_SHARDS_MAX]; /* by their numbers */
    uint32_t count;

    aq_member_shard places[AQ_MEMBER_SHARDS_MAX]; /* the list that was not empty last */
    uint32_t place_count;
    int64_t match_at_ns; /* when there was no memory for a lane; INT64_MAX: there was */

    bool has_given_up;
    int64_t away_from_ns; /* since then it drains and only those away are owing; INT64_MAX: not */
    aq_log_limit ignored_limit;
};

int aq_shard_session_create(const aq_shard_transport *transport, uint64_t seed,
                            aq_shard_session **ret_session)
{
    aq_shard_session *session = aq_alloc(1, sizeof(*session));
    if (session == NULL) {
        return AQ_E_NOMEM;
    }
    session->config.transport = *transport;
    session->config.seed = seed;
    session->match_at_ns = INT64_MAX;
    session->away_from_ns = INT64_MAX;
    *ret_session = session;
    return 0;
}

void aq_shard_session_destroy(aq_shard_session *session)
{
    if (session == NULL) {
        return;
    }
    aq_shard_session_stop(session);
    aq_free(session);
}

/* ---- the list ------------------------------------------------------------------------------- */

/* Of two at one address, or of one store, the one that joined later lives; the other has not been
 * missed yet. */
static bool is_outlived(const aq_member_view *view, const aq_member_shard *place)
{
    for (uint32_t i = 0; i < view->shard_count; i++) {
        const aq_member_shard *other = &view->shards[i];
        if (other->member > place->member &&
            (other->store == place->store || aq_shard_is_same_place(other, place))) {
            return true;
        }
    }
    return false;
}

static void read_list(aq_shard_session *session, const aq_member_view *view)
{
    if (view->shard_count == 0) {
        return;
    }
    session->place_count = 0;
    for (uint32_t i = 0; i < view->shard_count; i++) {
        if (!is_outlived(view, &view->shards[i])) {
            session->places[session->place_count++] = view->shards[i];
        }
    }
}

static bool has_lane(const aq_shard_session *session, uint64_t store)
{
    for (uint32_t i = 0; i < session->count; i++) {
        if (aq_shard_lane_place(session->lanes[i])->store == store) {
            return true;
        }
    }
    return false;
}

static aq_shard_lane *lane_of(const aq_shard_session *session, const aq_member_shard *place)
{
    for (uint32_t i = 0; i < session->count; i++) {
        if (aq_shard_lane_is_at(session->lanes[i], place)) {
            return session->lanes[i];
        }
    }
    return NULL;
}

static bool is_listed(const aq_shard_session *session, const aq_shard_lane *lane)
{
    for (uint32_t i = 0; i < session->place_count; i++) {
        if (aq_shard_lane_is_at(lane, &session->places[i])) {
            return true;
        }
    }
    return false;
}

/* The lane that passes to a store which is not known and took its place, if any. The slot alone
 * says nothing: a learner that was restarted may give it to another store before the first is back.
 */
static aq_shard_lane *heir_of(const aq_shard_session *session, const aq_member_shard *place)
{
    for (uint32_t i = 0; i < session->count; i++) {
        aq_shard_lane *lane = session->lanes[i];
        if (!is_listed(session, lane) && aq_shard_lane_may_pass(lane) &&
            aq_shard_is_same_place(aq_shard_lane_place(lane), place)) {
            return lane;
        }
    }
    return NULL;
}

static void pass(aq_shard_lane *lane, uint64_t store)
{
    const aq_member_shard *before = aq_shard_lane_place(lane);
    aq_log(AQ_LOG_INFO, "shard_inherited", "the store before was in memory only, and is gone",
           "shard=%" PRIu64 " slot=%" PRIu32 " store=%016" PRIx64 " before=%016" PRIx64,
           before->member, before->slot, store, before->store);
    aq_shard_lane_pass(lane, store);
}

static int add_lane(aq_shard_session *session, const aq_member_shard *place)
{
    aq_shard_lane *lane;
    int rc = session->count < AQ_SPREAD_SHARDS_MAX
                 ? aq_shard_lane_create(&session->config, place, &lane)
                 : AQ_E_FULL;
    if (rc == 0) {
        session->lanes[session->count++] = lane;
    } else {
        aq_log_limited(&session->ignored_limit, session->now_ns, AQ_LOG_WARN, "shard_ignored",
                       "it gets nothing of this actor for now",
                       "shard=%" PRIu64 " slot=%" PRIu32 " reason=\"%s\"", place->member,
                       place->slot, aq_error_text(rc));
    }
    return rc;
}

/* Gives each store in the list its lane. */
static void match(aq_shard_session *session)
{
    session->match_at_ns = INT64_MAX;
    for (uint32_t i = 0; i < session->count; i++) {
        if (!is_listed(session, session->lanes[i])) {
            aq_shard_lane_unlist(session->lanes[i]);
        }
    }
    for (uint32_t i = 0; i < session->place_count; i++) {
        const aq_member_shard *place = &session->places[i];
        aq_shard_lane *lane = lane_of(session, place);
        if (lane == NULL) {
            lane = heir_of(session, place);
            if (lane != NULL) {
                pass(lane, place->store);
            }
        }
        if (lane != NULL) {
            aq_shard_lane_list(lane, place);
        } else if (add_lane(session, place) == AQ_E_NOMEM) {
            session->match_at_ns =
                session->now_ns + session->config.limits.reconnect_max_ms * AQ_NS_PER_MS;
        }
    }
}

/* A process that answers where a store in memory only was, under another name, is the next one. */
static void receive_stranger(aq_shard_session *session, aq_shard_lane *lane)
{
    const uint64_t store = aq_shard_lane_stranger(lane);
    if (store != 0 && !has_lane(session, store) && aq_shard_lane_may_pass(lane)) {
        pass(lane, store);
        aq_shard_lane_tick(lane, session->now_ns);
    }
}

/* ---- life ----------------------------------------------------------------------------------- */

void aq_shard_session_start(aq_shard_session *session, const aq_member_view *view,
                            uint64_t incarnation, aq_actor_core *core)
{
    const aq_run_config *config = &view->settings.config;
    aq_shard_session_stop(session);
    session->config.core = core;
    session->config.asker = (aq_credit_asker){
        .run_id = view->run_id,
        .actor = view->member,
        .incarnation = incarnation,
        .rpc_timeout_ms = (uint32_t)config->net.rpc_timeout_ms,
        .pause_ms_min = (uint32_t)config->net.reconnect_min_ms,
        .pause_ms_max = (uint32_t)config->net.reconnect_max_ms,
    };
    session->config.limits = (aq_net_limits){
        .message_bytes_max = (uint32_t)config->net.message_bytes,
        .reconnect_min_ms = (uint32_t)config->net.reconnect_min_ms,
        .reconnect_max_ms = (uint32_t)config->net.reconnect_max_ms,
    };
    read_list(session, view);
    match(session);
}

static void log_given_up(const aq_shard_session *session, uint32_t number)
{
    const aq_shard_spread *spread = aq_actor_core_spread(session->config.core);
    const aq_member_shard *place = aq_shard_lane_place(session->lanes[number]);
    const aq_outbox_counters counters = aq_shard_spread_count_of(spread, number);
    if (!aq_shard_spread_is_empty_of(spread, number)) {
        aq_log(AQ_LOG_INFO, "given_up", "the shard has not said that it has them",
               "shard=%" PRIu64 " slot=%" PRIu32 " store=%016" PRIx64 " acknowledged=%" PRIu64
               " messages=%" PRIu32 " steps=%" PRIu64,
               place->member, place->slot, place->store, counters.acknowledged,
               counters.unacknowledged, counters.put_steps - counters.acknowledged_steps);
    }
}

void aq_shard_session_give_up(aq_shard_session *session)
{
    for (uint32_t i = 0; !session->has_given_up && i < session->count; i++) {
        log_given_up(session, i);
    }
    session->has_given_up = true;
}

void aq_shard_session_stop(aq_shard_session *session)
{
    aq_shard_session_give_up(session);
    for (uint32_t i = 0; i < session->count; i++) {
        aq_shard_lane_destroy(session->lanes[i]);
        session->lanes[i] = NULL;
    }
    session->has_given_up = false;
    session->count = 0;
    session->place_count = 0;
    session->config.core = NULL;
    session->match_at_ns = INT64_MAX;
    session->away_from_ns = INT64_MAX;
}

int aq_shard_session_changed(aq_shard_session *session, const aq_member_view *view, aq_error *error)
{
    if (session->config.core == NULL) {
        return 0;
    }
    read_list(session, view);
    match(session);
    for (uint32_t i = 0; i < session->place_count; i++) {
        if (session->count < AQ_SPREAD_SHARDS_MAX || lane_of(session, &session->places[i])) {
            return 0;
        }
    }
    return session->place_count == 0
               ? 0
               : aq_fail(error, AQ_E_FULL, "this actor has met too many stores");
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Something is unacknowledged, and nobody is there who could acknowledge it. */
static bool only_absent_owe(const aq_shard_session *session)
{
    const aq_shard_spread *spread = aq_actor_core_spread(session->config.core);
    for (uint32_t i = 0; i < session->count; i++) {
        if (aq_shard_lane_is_connected(session->lanes[i]) &&
            !aq_shard_spread_is_empty_of(spread, i)) {
            return false;
        }
    }
    return !aq_shard_spread_is_empty(spread);
}

static void watch_end(aq_shard_session *session)
{
    const bool is_away =
        aq_actor_core_is_draining(session->config.core) && only_absent_owe(session);
    if (!is_away) {
        session->away_from_ns = INT64_MAX;
    } else if (session->away_from_ns == INT64_MAX) {
        session->away_from_ns = session->now_ns;
    }
}

static int64_t give_up_ns(const aq_shard_session *session)
{
    return session->away_from_ns != INT64_MAX
               ? session->away_from_ns + AQ_FINISH_AWAY_MS * AQ_NS_PER_MS
               : INT64_MAX;
}

enum aq_finish_state aq_shard_session_finished(const aq_shard_session *session)
{
    if (session->config.core == NULL || aq_actor_core_drained(session->config.core)) {
        return AQ_FINISH_COMPLETE;
    }
    return session->now_ns >= give_up_ns(session) ? AQ_FINISH_GIVEN_UP : AQ_FINISH_PENDING;
}

/* ---- time ----------------------------------------------------------------------------------- */

void aq_shard_session_tick(aq_shard_session *session, int64_t now_ns)
{
    session->now_ns = now_ns;
    if (session->config.core == NULL) {
        return;
    }
    if (now_ns >= session->match_at_ns) {
        match(session);
    }
    for (uint32_t i = 0; i < session->count; i++) {
        aq_shard_lane_tick(session->lanes[i], now_ns);
        receive_stranger(session, session->lanes[i]);
    }
    watch_end(session);
}

int64_t aq_shard_session_next_ns(const aq_shard_session *session)
{
    int64_t next_ns = session->match_at_ns;
    if (session->now_ns < give_up_ns(session)) {
        next_ns = aq_earlier_ns(next_ns, give_up_ns(session));
    }
    for (uint32_t i = 0; i < session->count; i++) {
        next_ns = aq_earlier_ns(next_ns, aq_shard_lane_next_ns(session->lanes[i]));
    }
    return next_ns;
}

void aq_shard_session_pump(aq_shard_session *session, int64_t now_ns)
{
    for (uint32_t i = 0; i < session->count; i++) {
        aq_shard_lane_pump(session->lanes[i], now_ns);
    }
}

/* ---- what the transport tells --------------------------------------------------------------- */

static aq_shard_lane *lane_at(const aq_shard_session *session, uint32_t lane)
{
    AQ_ASSERT(lane < session->count);
    return session->lanes[lane];
}

void aq_shard_session_connected(aq_shard_session *session, uint32_t lane, int64_t now_ns)
{
    aq_shard_lane_connected(lane_at(session, lane), now_ns);
}

void aq_shard_session_disconnected(aq_shard_session *session, uint32_t lane)
{
    aq_shard_lane_disconnected(lane_at(session, lane));
}

void aq_shard_session_writable(aq_shard_session *session, uint32_t lane)
{
    aq_shard_lane_writable(lane_at(session, lane));
}
