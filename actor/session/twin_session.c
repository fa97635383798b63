/*
 * One call and what becomes of its answer.
 */
#include "actor/session/twin_session.h"

#include <inttypes.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/sys/log.h"
#include "common/wire/wire_policy.h"
#include "proto/policy.pb-c.h"

struct aq_twin_session {
    aq_rpc_stub stub;
    aq_policy_feed_config config; /* of the run; the task is its own */
    bool has_task;
    bool is_calling;
    bool is_stale;    /* the call under way is for another run */
    uint64_t version; /* asked for last */
    aq_engine *engine;
};

int aq_twin_session_create(aq_rpc_channel *learner, aq_twin_session **ret_session)
{
    aq_twin_session *session = aq_alloc(1, sizeof(*session));
    if (session == NULL) {
        return AQ_E_NOMEM;
    }
    aq_rpc_stub_init(&session->stub, learner, &actorq__v1__policy__descriptor, 1);
    *ret_session = session;
    return 0;
}

static void forget(aq_twin_session *session)
{
    aq_engine_destroy(session->engine);
    session->engine = NULL;
    if (session->has_task) {
        aq_env_task_fini(&session->config.task);
        session->has_task = false;
    }
}

void aq_twin_session_destroy(aq_twin_session *session)
{
    if (session == NULL) {
        return;
    }
    forget(session);
    aq_free(session);
}

void aq_twin_session_start(aq_twin_session *session, const aq_member_view *view,
                           const aq_policy_feed_config *config)
{
    forget(session);
    session->config = *config;
    session->config.task = aq_env_task_copy(&config->task);
    session->has_task = true;
    session->stub.timeout_ms = (uint32_t)view->settings.config.net.rpc_timeout_ms;
    session->is_stale = session->is_calling;
}

static int make_engine(aq_twin_session *session, const ProtobufCBinaryData *frame, aq_error *error)
{
    const aq_policy_feed_config *config = &session->config;
    aq_snapshot *snapshot;
    int rc =
        aq_wire_policy_unpack_of(frame->data, frame->len, config->network_hash, &snapshot, error);
    if (rc != 0) {
        return rc;
    }
    if (snapshot->run_id != config->run_id || snapshot->version != session->version) {
        rc = aq_fail(error, AQ_E_INVALID, "version %" PRIu64 " of run %016" PRIx64 " was sent",
                     snapshot->version, snapshot->run_id);
    } else {
        rc = aq_env_task_check_policy(&config->task, snapshot, error);
    }
    if (rc == 0) {
        rc = aq_engine_create(snapshot, config->rows_max, config->cpu_flags, &session->engine,
                              error);
    }
    aq_snapshot_unref(snapshot); /* the engine has a reference of its own */
    return rc;
}

static void on_fetched(const Actorq__V1__FetchPolicyReply *reply, void *user)
{
    aq_twin_session *session = user;
    aq_error error = {0};
    const char *reason = error.text;
    session->is_calling = false;
    if (session->is_stale) {
        session->is_stale = false;
        return;
    }
    if (reply == NULL) {
        reason = aq_rpc_stub_status(&session->stub)->message;
    } else if (make_engine(session, &reply->frame, &error) == 0) {
        aq_log(AQ_LOG_DEBUG, "twin_fetched", "", "version=%" PRIu64 " bytes=%zu", session->version,
               reply->frame.len);
        return;
    }
    aq_log(AQ_LOG_DEBUG, "twin_failed", "this version is not compared with fp32",
           "version=%" PRIu64 " reason=%s", session->version, AQ_LOG_QUOTED(reason));
}

bool aq_twin_session_ask(aq_twin_session *session, uint64_t version)
{
    AQ_ASSERT(session->has_task);
    AQ_ASSERT(session->engine == NULL);
    if (session->is_calling) {
        return false;
    }
    Actorq__V1__FetchPolicyRequest request;
    actorq__v1__fetch_policy_request__init(&request);
    request.run_id = session->config.run_id;
    request.format = AQ_FORMAT_F32;
    request.version = version;
    session->version = version;
    session->is_calling = true;
    actorq__v1__policy__fetch(&session->stub.base, &request, on_fetched, session);
    return true;
}

bool aq_twin_session_waits(const aq_twin_session *session)
{
    return session->is_calling && !session->is_stale;
}

aq_engine *aq_twin_session_take(aq_twin_session *session)
{
    aq_engine *engine = session->engine;
    session->engine = NULL;
    return engine;
}
