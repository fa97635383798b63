/*
 * One call at a time. Its closure only notes the answer; the tick, which knows the time, acts on
 * it.
 */
#include "actor/session/credit_session.h"

#include "actor/core/back_off.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "proto/experience.pb-c.h"

/* How long the shard may hold a call: short against the time after which it takes a silent actor
 * for dead. */
enum { WAIT_MS = 500 };

/* A shard that answers at once each time must not keep both busy with nothing else. */
#define CALL_NS_MIN AQ_NS_PER_MS

void aq_credit_session_init(aq_credit_session *session, uint64_t seed, uint64_t stream)
{
    *session = (aq_credit_session){.is_open = false};
    aq_rng_init(&session->jitter, seed, stream);
}

void aq_credit_session_open(aq_credit_session *session, const aq_credit_asker *asker,
                            aq_rpc_channel *channel)
{
    AQ_ASSERT(!session->is_calling);
    session->asker = *asker;
    session->is_open = true;
    session->has_answer = false;
    session->has_failed = false;
    session->is_heard = false;
    session->failures = 0;
    session->call_at_ns = INT64_MIN;
    const uint32_t timeout_ms = WAIT_MS + asker->rpc_timeout_ms;
    aq_rpc_stub_init(&session->stub, channel, &actorq__v1__flow__descriptor,
                     timeout_ms < AQ_RPC_TIMEOUT_MS_MAX ? timeout_ms : AQ_RPC_TIMEOUT_MS_MAX);
}

void aq_credit_session_close(aq_credit_session *session)
{
    session->is_open = false;
}

static void log_failure(aq_credit_session *session)
{
    const aq_rpc_status *status = aq_rpc_stub_status(&session->stub);
    aq_log_limited(&session->failed_limit, session->now_ns, AQ_LOG_WARN, "credit_failed",
                   "asking again until the shard answers", "code=%s reason=%s",
                   aq_rpc_code_name(status->code), AQ_LOG_QUOTED(status->message));
}

static void on_credit(const Actorq__V1__CreditReply *reply, void *user)
{
    aq_credit_session *session = user;
    session->is_calling = false;
    if (!session->is_open) {
        return;
    }
    if (reply == NULL) {
        session->has_failed = true;
        log_failure(session);
        return;
    }
    session->has_answer = true;
    session->answer = (aq_credit_answer){
        .store = reply->store,
        .durable = reply->durable,
        .mark =
            {
                .shard_incarnation = reply->shard_incarnation,
                .acknowledged = reply->acknowledged,
                .expected = reply->expected,
                .gaps = reply->gaps,
            },
        .granted = reply->granted,
        .version_min = reply->version_min,
    };
}

static void call(aq_credit_session *session, const aq_credit_known *known)
{
    Actorq__V1__CreditRequest request;
    actorq__v1__credit_request__init(&request);
    request.run_id = session->asker.run_id;
    request.actor = session->asker.actor;
    request.incarnation = session->asker.incarnation;
    request.store = known->store;
    request.known_acknowledged = known->acknowledged;
    request.known_granted = known->granted;
    request.acknowledged_steps = known->acknowledged_steps;
    request.wait_ms = WAIT_MS;
    session->is_calling = true;
    session->call_at_ns = session->now_ns + CALL_NS_MIN;
    actorq__v1__flow__credit(&session->stub.base, &request, on_credit, session);
}

static void pause(aq_credit_session *session)
{
    session->is_heard = false;
    session->call_at_ns =
        session->now_ns + aq_back_off_ns(&session->jitter, session->asker.pause_ms_min,
                                         session->asker.pause_ms_max, session->failures);
    if (session->failures < UINT32_MAX) {
        session->failures++;
    }
}

static void take_failure(aq_credit_session *session)
{
    if (session->has_failed) {
        session->has_failed = false;
        pause(session);
    }
}

bool aq_credit_session_take(aq_credit_session *session, int64_t now_ns,
                            aq_credit_answer *ret_answer)
{
    session->now_ns = now_ns;
    if (!session->is_open) {
        return false;
    }
    take_failure(session);
    if (!session->has_answer) {
        return false;
    }
    session->has_answer = false;
    session->is_heard = true;
    *ret_answer = session->answer;
    return true;
}

void aq_credit_session_discard(aq_credit_session *session)
{
    pause(session);
}

void aq_credit_session_hurry(aq_credit_session *session)
{
    session->failures = 0;
    session->call_at_ns = INT64_MIN;
}

void aq_credit_session_ask(aq_credit_session *session, const aq_credit_known *known)
{
    if (session->is_heard) {
        session->failures = 0; /* the answer was of use */
    }
    if (session->is_open && !session->is_calling && session->now_ns >= session->call_at_ns) {
        call(session, known);
        take_failure(session); /* what could not even be sent has failed already */
    }
}

bool aq_credit_session_is_heard(const aq_credit_session *session)
{
    return session->is_open && session->is_heard;
}

int64_t aq_credit_session_next_ns(const aq_credit_session *session)
{
    return session->is_open && !session->is_calling ? session->call_at_ns : INT64_MAX;
}
