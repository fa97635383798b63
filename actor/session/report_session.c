/*
 * A ring of results and one call.
 */
#include "actor/session/report_session.h"

#include <inttypes.h>

#include "actor/core/back_off.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/sys/log.h"
#include "proto/membership.pb-c.h"

enum report_outcome { REPORT_NONE, REPORT_TAKEN, REPORT_REFUSED, REPORT_FAILED };

struct aq_report_session {
    aq_rpc_stub stub;
    aq_rng jitter;
    uint64_t incarnation;
    uint64_t run_id; /* 0: no run yet */
    uint32_t pause_ms_min, pause_ms_max;
    aq_evaluation waiting[AQ_REPORTS_MAX]; /* ring */
    uint32_t first, count;
    uint64_t number; /* of the first */
    bool is_calling;
    bool is_stale;               /* the call under way is about another run */
    enum report_outcome outcome; /* of the last call, for the next tick */
    uint64_t leader;             /* version; 0: none */
    uint32_t failures;
    int64_t call_at_ns;
    int64_t now_ns; /* of the last tick */
    aq_log_limit failed_limit;
};

int aq_report_session_create(aq_rpc_channel *learner, uint64_t incarnation, uint64_t seed,
                             aq_report_session **ret_session)
{
    aq_report_session *session = aq_alloc(1, sizeof(*session));
    if (session == NULL) {
        return AQ_E_NOMEM;
    }
    session->incarnation = incarnation;
    session->number = 1;
    aq_rng_init(&session->jitter, seed, 0);
    aq_rpc_stub_init(&session->stub, learner, &actorq__v1__membership__descriptor, 1);
    *ret_session = session;
    return 0;
}

void aq_report_session_destroy(aq_report_session *session)
{
    aq_free(session);
}

void aq_report_session_start(aq_report_session *session, const aq_member_view *view)
{
    const aq_run_config *config = &view->settings.config;
    session->stub.timeout_ms = (uint32_t)config->net.rpc_timeout_ms;
    session->pause_ms_min = (uint32_t)config->net.reconnect_min_ms;
    session->pause_ms_max = (uint32_t)config->net.reconnect_max_ms;
    if (session->run_id == view->run_id) {
        return;
    }
    session->run_id = view->run_id;
    session->number += session->count;
    session->count = 0;
    session->leader = 0;
    session->is_stale = session->is_calling;
    session->outcome = REPORT_NONE;
    session->failures = 0;
    session->call_at_ns = INT64_MIN;
}

bool aq_report_session_empty(const aq_report_session *session)
{
    return session->count == 0;
}

uint64_t aq_report_session_leader(const aq_report_session *session)
{
    return session->leader;
}

void aq_report_session_put(aq_report_session *session, const aq_evaluation *evaluation)
{
    AQ_ASSERT(session->run_id != 0);
    AQ_ASSERT(session->count < AQ_REPORTS_MAX);
    session->waiting[(session->first + session->count) % AQ_REPORTS_MAX] = *evaluation;
    session->count++;
}

/* Asking again would bring the same answer. */
static bool is_final(uint32_t code)
{
    return code == AQ_RPC_FAILED_PRECONDITION || code == AQ_RPC_INVALID_ARGUMENT;
}

static void log_failure(aq_report_session *session, const aq_rpc_status *status)
{
    if (session->outcome == REPORT_REFUSED) {
        aq_log(AQ_LOG_WARN, "evaluation_refused", "it is forgotten", "code=%s reason=%s",
               aq_rpc_code_name(status->code), AQ_LOG_QUOTED(status->message));
    } else if (status->code != AQ_RPC_CANCELLED) { /* else this process ends */
        aq_log_limited(&session->failed_limit, session->now_ns, AQ_LOG_WARN, "report_failed",
                       "asking again until the learner answers", "code=%s reason=%s",
                       aq_rpc_code_name(status->code), AQ_LOG_QUOTED(status->message));
    }
}

static void on_reported(const Actorq__V1__EvaluationReply *reply, void *user)
{
    aq_report_session *session = user;
    session->is_calling = false;
    if (session->is_stale) {
        session->is_stale = false;
        return;
    }
    if (reply != NULL) {
        session->outcome = REPORT_TAKEN;
        session->leader = reply->leader;
        return;
    }
    const aq_rpc_status *status = aq_rpc_stub_status(&session->stub);
    session->outcome = is_final(status->code) ? REPORT_REFUSED : REPORT_FAILED;
    log_failure(session, status);
}

static void call(aq_report_session *session, uint64_t member)
{
    const aq_evaluation *evaluation = &session->waiting[session->first];
    Actorq__V1__PrecisionGap gap;
    actorq__v1__precision_gap__init(&gap);
    gap.episodes = evaluation->gap.episodes;
    gap.return_fp32 = evaluation->gap.return_fp32;
    gap.mean = evaluation->gap.mean;
    gap.std = evaluation->gap.std;
    gap.return_fp32_std = evaluation->gap.return_fp32_std;
    Actorq__V1__EvaluationReport request;
    actorq__v1__evaluation_report__init(&request);
    request.run_id = session->run_id;
    request.member = member;
    request.incarnation = session->incarnation;
    request.version = evaluation->version;
    request.format = evaluation->format;
    request.episodes = evaluation->episodes;
    request.return_mean = evaluation->return_mean;
    request.return_std = evaluation->return_std;
    request.return_min = evaluation->return_min;
    request.return_max = evaluation->return_max;
    request.cut_off = evaluation->cut_off;
    request.confirmed = evaluation->confirmed;
    request.ranks_only = evaluation->ranks_only;
    request.number = session->number;
    request.gap = evaluation->gap.episodes > 0 ? &gap : NULL;
    session->is_calling = true;
    actorq__v1__membership__report_evaluation(&session->stub.base, &request, on_reported, session);
}

static void take_outcome(aq_report_session *session)
{
    enum report_outcome outcome = session->outcome;
    session->outcome = REPORT_NONE;
    if (outcome == REPORT_FAILED) {
        session->call_at_ns =
            session->now_ns + aq_back_off_ns(&session->jitter, session->pause_ms_min,
                                             session->pause_ms_max, session->failures);
        session->failures++;
    } else if (outcome != REPORT_NONE) {
        if (outcome == REPORT_TAKEN) {
            aq_log(AQ_LOG_DEBUG, "evaluation_reported", "", "version=%" PRIu64,
                   session->waiting[session->first].version);
        }
        session->first = (session->first + 1) % AQ_REPORTS_MAX;
        session->number++;
        session->count--;
        session->failures = 0;
    }
}

void aq_report_session_tick(aq_report_session *session, int64_t now_ns, uint64_t member)
{
    session->now_ns = now_ns;
    take_outcome(session);
    if (session->count > 0 && !session->is_calling && now_ns >= session->call_at_ns) {
        call(session, member);
        take_outcome(session); /* what could not even be sent has failed already */
    }
}

int64_t aq_report_session_next_ns(const aq_report_session *session)
{
    return session->count > 0 && !session->is_calling ? session->call_at_ns : INT64_MAX;
}
