/*
 * One shard at a time: choosing it, moving to another, sending to it.
 */
#include "actor/shard_session.h"

#include <inttypes.h>
#include <string.h>

#include "actor/back_off.h"
#include "actor/credit_session.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "common/sys/log.h"

enum { QUOTED_MAX = 2 * AQ_ERROR_TEXT_MAX };

/* A shard that does not acknowledge is left for the new one after this. */
#define MOVE_NS_MAX (5 * AQ_NS_PER_S)

/* A connection can be dead without a sign: a host went away, or something in between forgot it; TCP
 * finds out in a quarter of an hour. So one is made anew when the shard answers calls, and the mark
 * stands still all the same for so many of the run's rpc_timeout_ms, each of which sent again what
 * is not acknowledged. */
enum { STALL_TIMEOUTS = 3 };
#define STALL_NS_MIN (3 * AQ_NS_PER_S)

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
    uint32_t slot;
    aq_credit_asker asker;
    aq_net_limits limits;

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
    uint64_t mark_seen;    /* acknowledged, as of stall_from_ns */
    int64_t stall_from_ns; /* since then it stands still, although there is more */

    aq_credit_session credit;

    aq_log_limit unreachable_limit, resending_limit;
};

int aq_shard_session_create(const aq_shard_transport *transport, uint64_t seed,
                            aq_shard_session **ret_session)
{
    aq_shard_session *session = aq_alloc(1, sizeof(*session));
    if (session == NULL) {
        return AQ_E_NOMEM;
    }
    session->transport = *transport;
    aq_rng_init(&session->jitter, seed, 1);
    aq_credit_session_init(&session->credit, seed);
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
        aq_credit_session_close(&session->credit);
        session->transport.close(session->transport.user);
    }
    session->is_connected = false;
    session->is_blocked = false;
    session->open_failures = 0;
    session->open_at_ns = INT64_MIN;
}

void aq_shard_session_start(aq_shard_session *session, const aq_member_view *view,
                            uint64_t incarnation, aq_actor_core *core)
{
    aq_shard_session_stop(session);
    session->core = core;
    session->slot = view->slot;
    session->asker = (aq_credit_asker){
        .run_id = view->run_id,
        .actor = view->member,
        .incarnation = incarnation,
        .rpc_timeout_ms = view->settings.rpc_timeout_ms,
        .pause_ms_min = view->settings.reconnect_min_ms,
        .pause_ms_max = view->settings.reconnect_max_ms,
    };
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
        aq_credit_session_open(&session->credit, &session->asker, channel);
        return;
    }
    session->open_at_ns =
        session->now_ns + aq_back_off_ns(&session->jitter, session->limits.reconnect_min_ms,
                                         session->limits.reconnect_max_ms, session->open_failures);
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
    bool may_answer = session->is_connected || (session->is_open && session->current_is_listed);
    bool must_wait = may_answer && aq_actor_core_counters(session->core).unacknowledged > 0;
    if (!must_wait || session->now_ns >= session->move_by_ns) {
        close_transport(session);
        session->current = session->wanted;
        session->current_is_listed = true;
        session->move_by_ns = INT64_MAX;
    }
}

/* ---- time ----------------------------------------------------------------------------------- */

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

static bool is_stalled(aq_shard_session *session)
{
    uint64_t mark, granted;
    int64_t patience_ns = STALL_TIMEOUTS * session->asker.rpc_timeout_ms * AQ_NS_PER_MS;
    patience_ns = patience_ns > STALL_NS_MIN ? patience_ns : STALL_NS_MIN;
    aq_actor_core_known(session->core, &mark, &granted);
    bool has_more = session->is_blocked || aq_actor_core_counters(session->core).unacknowledged > 0;
    bool waits = has_more && session->is_connected && aq_credit_session_is_heard(&session->credit);
    if (!waits || mark != session->mark_seen) {
        session->mark_seen = mark;
        session->stall_from_ns = session->now_ns;
    }
    return session->now_ns - session->stall_from_ns >= patience_ns;
}

static void connect_anew(aq_shard_session *session)
{
    aq_log(AQ_LOG_WARN, "shard_lost", "it answers, but takes nothing: connecting anew",
           "shard=%" PRIu64 " unacknowledged=%" PRIu64, session->current.member,
           aq_actor_core_counters(session->core).unacknowledged);
    close_transport(session);
}

void aq_shard_session_tick(aq_shard_session *session, int64_t now_ns)
{
    session->now_ns = now_ns;
    if (session->core == NULL) {
        return;
    }
    log_resending(session);
    move_if_possible(session);
    if (is_stalled(session)) {
        connect_anew(session);
    }
    if (!session->is_open && session->current.member != 0 && now_ns >= session->open_at_ns) {
        open_transport(session);
    }
    aq_credit_session_tick(&session->credit, now_ns, session->core);
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
    next_ns = least_of(next_ns, aq_credit_session_next_ns(&session->credit));
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
