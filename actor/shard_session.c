/*
 * One shard at a time. Closures only note the answer; the tick, which knows the time, acts on it.
 */
#include "actor/shard_session.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "common/sys/log.h"
#include "proto/experience.pb-c.h"

/* How long the shard may hold a Credit call: short against the time after which it takes a silent
 * actor for dead. */
enum { CREDIT_WAIT_MS = 500, QUOTED_MAX = 2 * AQ_RPC_MESSAGE_MAX };

/* A shard that answers at once each time must not keep both busy with nothing else. */
#define CALL_NS_MIN AQ_NS_PER_MS

/* A shard that is listed but does not acknowledge is left for the new one after this. */
#define MOVE_NS_MAX (5 * AQ_NS_PER_S)

typedef struct shard_address {
    uint64_t member; /* 0: none */
    char rpc_url[AQ_URL_MAX];
    char push_url[AQ_URL_MAX];
} shard_address;

struct aq_shard_session {
    aq_shard_transport transport;
    aq_rng jitter;
    int64_t now_ns; /* of the last tick */

    aq_actor_core *core; /* NULL: no run */
    uint64_t run_id, actor, incarnation;
    uint32_t slot;
    aq_net_limits limits;
    uint32_t rpc_timeout_ms;

    shard_address current; /* the one that is served by, open or to be opened */
    shard_address wanted;  /* when it differs: on the way there */
    bool current_is_listed;
    int64_t move_by_ns; /* INT64_MAX: not on the way */

    bool is_open;
    bool is_connected;
    bool is_blocked; /* a send was refused; an event tells when to go on */
    uint32_t open_failures;
    int64_t open_at_ns;
    uint64_t resent_seen;

    aq_rpc_stub flow;
    bool is_calling;
    bool has_answer; /* for the next tick */
    bool has_failed; /* likewise */
    aq_credit_answer answer;
    uint32_t call_failures;
    int64_t call_at_ns;

    aq_log_limit unreachable_limit, failed_limit, resending_limit;
};

int aq_shard_session_create(const aq_shard_transport *transport, uint64_t seed,
                            aq_shard_session **ret_session)
{
    aq_shard_session *session = aq_alloc(1, sizeof(*session));
    if (session == NULL) {
        return AQ_E_NOMEM;
    }
    session->transport = *transport;
    aq_rng_init(&session->jitter, seed, 0);
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

/* ---- which shard ---------------------------------------------------------------------------- */

/* The same place, whoever is there: a shard that was restarted has another number. */
static bool is_same(const shard_address *a, const shard_address *b)
{
    return strcmp(a->rpc_url, b->rpc_url) == 0 && strcmp(a->push_url, b->push_url) == 0;
}

static shard_address listed(const aq_member_view *view, uint32_t index)
{
    shard_address address = {.member = view->shards[index].member};
    int rc = aq_text_set(address.rpc_url, sizeof(address.rpc_url), view->shards[index].rpc_url);
    AQ_ASSERT(rc == 0);
    rc = aq_text_set(address.push_url, sizeof(address.push_url), view->shards[index].push_url);
    AQ_ASSERT(rc == 0);
    return address;
}

static bool is_listed(const aq_member_view *view, const shard_address *wanted)
{
    for (uint32_t i = 0; i < view->shard_count; i++) {
        shard_address address = listed(view, i);
        if (is_same(&address, wanted)) {
            return true;
        }
    }
    return false;
}

static void choose(aq_shard_session *session, const aq_member_view *view)
{
    session->current_is_listed = is_listed(view, &session->current);
    if (view->shard_count > 0) {
        session->wanted = listed(view, session->slot % view->shard_count);
    }
    if (is_same(&session->current, &session->wanted)) {
        session->current.member = session->wanted.member;
    }
}

static bool is_moving(const aq_shard_session *session)
{
    return !is_same(&session->current, &session->wanted);
}

static void close_transport(aq_shard_session *session)
{
    if (session->is_open) {
        session->is_open = false;
        session->transport.close(session->transport.user);
    }
    AQ_ASSERT(!session->is_calling);
    session->is_connected = false;
    session->is_blocked = false;
    session->has_answer = false;
    session->has_failed = false;
    session->call_failures = 0;
    session->call_at_ns = INT64_MIN;
    session->open_failures = 0;
    session->open_at_ns = INT64_MIN;
}

void aq_shard_session_start(aq_shard_session *session, const aq_member_view *view,
                            uint64_t incarnation, aq_actor_core *core)
{
    aq_shard_session_stop(session);
    session->core = core;
    session->run_id = view->run_id;
    session->actor = view->member;
    session->incarnation = incarnation;
    session->slot = view->slot;
    session->rpc_timeout_ms = view->settings.rpc_timeout_ms;
    session->limits = (aq_net_limits){
        .message_bytes_max = view->settings.message_bytes,
        .reconnect_min_ms = view->settings.reconnect_min_ms,
        .reconnect_max_ms = view->settings.reconnect_max_ms,
    };
    session->resent_seen = 0;
    choose(session, view);
}

void aq_shard_session_stop(aq_shard_session *session)
{
    close_transport(session);
    session->core = NULL;
    session->current = (shard_address){0};
    session->wanted = (shard_address){0};
    session->move_by_ns = INT64_MAX;
}

void aq_shard_session_changed(aq_shard_session *session, const aq_member_view *view)
{
    if (session->core != NULL) {
        choose(session, view);
    }
}

/* Doubles with every failure in a row; half of it is drawn, so that many actors that lost one shard
 * do not come back in step. */
static int64_t draw_pause_ns(aq_shard_session *session, uint32_t failures)
{
    uint64_t max_ms = session->limits.reconnect_max_ms;
    uint64_t ms = failures < 32 ? (uint64_t)session->limits.reconnect_min_ms << failures : max_ms;
    ms = ms < max_ms ? ms : max_ms;
    return (int64_t)(ms / 2 + aq_rng_below(&session->jitter, ms / 2 + 1)) * AQ_NS_PER_MS;
}

static void open_transport(aq_shard_session *session)
{
    char quoted[QUOTED_MAX];
    uint64_t suppressed;
    aq_error error = {0};
    aq_rpc_channel *channel;
    int rc = session->transport.open(session->transport.user, session->current.rpc_url,
                                     session->current.push_url, &session->limits, &channel, &error);
    if (rc == 0) {
        session->is_open = true;
        aq_rpc_stub_init(&session->flow, channel, &actorq__v1__flow__descriptor,
                         CREDIT_WAIT_MS + session->rpc_timeout_ms);
        return;
    }
    session->open_at_ns = session->now_ns + draw_pause_ns(session, session->open_failures);
    if (session->open_failures < UINT32_MAX) {
        session->open_failures++;
    }
    if (aq_log_allowed(&session->unreachable_limit, session->now_ns, &suppressed)) {
        aq_log(AQ_LOG_WARN, "shard_unreachable", "trying again until it works",
               "shard=%" PRIu64 " url=%s reason=%s suppressed=%" PRIu64, session->current.member,
               session->current.push_url, aq_log_quote(quoted, sizeof(quoted), error.text),
               suppressed);
    }
}

static void move_if_possible(aq_shard_session *session)
{
    if (!is_moving(session)) {
        session->move_by_ns = INT64_MAX;
        return;
    }
    if (session->move_by_ns == INT64_MAX) {
        session->move_by_ns = session->now_ns + MOVE_NS_MAX;
    }
    bool must_wait = session->is_open && session->current_is_listed &&
                     aq_actor_core_counters(session->core).unacknowledged > 0;
    if (!must_wait || session->now_ns >= session->move_by_ns) {
        close_transport(session);
        session->current = session->wanted;
        session->current_is_listed = true;
        session->move_by_ns = INT64_MAX;
    }
}

/* ---- credit --------------------------------------------------------------------------------- */

static void on_credit(const Actorq__V1__CreditReply *reply, void *user)
{
    aq_shard_session *session = user;
    char quoted[QUOTED_MAX];
    uint64_t suppressed;
    session->is_calling = false;
    if (reply != NULL) {
        session->has_answer = true;
        session->answer = (aq_credit_answer){
            .shard_incarnation = reply->shard_incarnation,
            .acknowledged = reply->acknowledged,
            .granted = reply->granted,
            .expected = reply->expected,
            .gaps = reply->gaps,
        };
        return;
    }
    session->has_failed = true;
    if (session->is_open && aq_log_allowed(&session->failed_limit, session->now_ns, &suppressed)) {
        const aq_rpc_status *status = aq_rpc_stub_status(&session->flow);
        aq_log(AQ_LOG_WARN, "credit_failed", "asking again until it answers",
               "shard=%" PRIu64 " code=%s reason=%s suppressed=%" PRIu64, session->current.member,
               aq_rpc_code_name(status->code),
               aq_log_quote(quoted, sizeof(quoted), status->message), suppressed);
    }
}

static void call_credit(aq_shard_session *session)
{
    Actorq__V1__CreditRequest request;
    actorq__v1__credit_request__init(&request);
    request.run_id = session->run_id;
    request.actor = session->actor;
    request.incarnation = session->incarnation;
    aq_actor_core_known(session->core, &request.known_acknowledged, &request.known_granted);
    request.wait_ms = CREDIT_WAIT_MS;
    session->is_calling = true;
    session->call_at_ns = session->now_ns + CALL_NS_MIN;
    actorq__v1__flow__credit(&session->flow.base, &request, on_credit, session);
}

static void take_outcome(aq_shard_session *session)
{
    if (session->has_answer) {
        session->has_answer = false;
        session->call_failures = 0;
        aq_actor_core_credit(session->core, session->now_ns, &session->answer);
    }
    if (session->has_failed) {
        session->has_failed = false;
        session->call_at_ns = session->now_ns + draw_pause_ns(session, session->call_failures);
        if (session->call_failures < UINT32_MAX) {
            session->call_failures++;
        }
    }
}

static void log_resending(aq_shard_session *session)
{
    const aq_actor_counters counters = aq_actor_core_counters(session->core);
    uint64_t suppressed;
    if (counters.resent > session->resent_seen &&
        aq_log_allowed(&session->resending_limit, session->now_ns, &suppressed)) {
        aq_log(AQ_LOG_INFO, "resending", "the shard may have lost them",
               "messages=%" PRIu64 " unacknowledged=%" PRIu64,
               counters.resent - session->resent_seen, counters.unacknowledged);
        session->resent_seen = counters.resent;
    }
}

void aq_shard_session_tick(aq_shard_session *session, int64_t now_ns)
{
    session->now_ns = now_ns;
    if (session->core == NULL) {
        return;
    }
    take_outcome(session);
    log_resending(session);
    move_if_possible(session);
    if (!session->is_open && session->current.member != 0 && now_ns >= session->open_at_ns) {
        open_transport(session);
    }
    if (session->is_open && !session->is_calling && now_ns >= session->call_at_ns) {
        call_credit(session);
        take_outcome(session); /* what could not even be sent has failed already */
    }
}

static bool may_send(const aq_shard_session *session)
{
    return session->core != NULL && session->is_connected && !session->is_blocked;
}

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t aq_shard_session_next_ns(const aq_shard_session *session)
{
    int64_t next_ns = session->move_by_ns;
    if (session->core == NULL) {
        return INT64_MAX;
    }
    if (!session->is_open && session->current.member != 0) {
        next_ns = least_of(next_ns, session->open_at_ns);
    }
    if (session->is_open && !session->is_calling) {
        next_ns = least_of(next_ns, session->call_at_ns);
    }
    if (may_send(session)) {
        next_ns = least_of(next_ns, aq_actor_core_due_ns(session->core));
    }
    return next_ns;
}

/* ---- sending -------------------------------------------------------------------------------- */

void aq_shard_session_pump(aq_shard_session *session, int64_t now_ns)
{
    const uint8_t *frame;
    size_t size;
    while (may_send(session) && aq_actor_core_next(session->core, now_ns, &frame, &size)) {
        int rc = session->transport.send(session->transport.user, frame, size);
        AQ_ASSERT(rc != AQ_E_TOO_BIG); /* cut to the limit that was agreed on */
        if (rc != 0) {
            session->is_blocked = rc == AQ_E_AGAIN;
            return; /* else there was no memory for now: the next round tries again */
        }
        aq_actor_core_sent(session->core, now_ns);
    }
}

bool aq_shard_session_may_step(const aq_shard_session *session)
{
    return session->core != NULL && !is_moving(session);
}

void aq_shard_session_connected(aq_shard_session *session, int64_t now_ns)
{
    if (!session->is_open) {
        return;
    }
    session->is_connected = true;
    session->is_blocked = false;
    aq_log(AQ_LOG_INFO, "shard_connected", "", "shard=%" PRIu64 " url=%s unacknowledged=%" PRIu64,
           session->current.member, session->current.push_url,
           aq_actor_core_counters(session->core).unacknowledged);
    aq_actor_core_reconnected(session->core, now_ns);
}

void aq_shard_session_disconnected(aq_shard_session *session)
{
    if (session->is_open) {
        session->is_connected = false;
        aq_log(AQ_LOG_WARN, "shard_lost", "dialling until it is back; nothing sent is forgotten",
               "shard=%" PRIu64 " unacknowledged=%" PRIu64, session->current.member,
               aq_actor_core_counters(session->core).unacknowledged);
    }
}

void aq_shard_session_writable(aq_shard_session *session)
{
    session->is_blocked = false;
}
