/*
 * See replay_rig.h. The shard is started, and watched, by the supervisor of `actorq train`.
 */
#include "bench/replay/replay_rig.h"

#include <fcntl.h>
#include <unistd.h>

#include "cli/launch/supervisor.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/rpc/caller.h"
#include "common/net/rpc/rpc_server.h"
#include "common/net/security/security.h"
#include "common/sys/process.h"
#include "common/wire/wire_run.h"
#include "proto/membership.pb-c.h"
#include "proto/operations.pb-c.h"

enum {
    PATH_BYTES = 4096,
    PID_BYTES = 24,
    LOG_TAIL_BYTES = 300,
    CALLS_MAX = 64,
    REPEAT_BYTES = 1 << 20,
    MESSAGE_BYTES_MAX = 16 << 20, /* a request's rows, or one experience message */
    ALARM_MS = 20,
    STATUS_TIMEOUT_MS = 10000,
    PATIENCE_MS = 20000,
    SHARD_MEMBER = 1,
};
#define PATIENCE_NS (PATIENCE_MS * AQ_NS_PER_MS)
#define RUN_ID      UINT64_C(0xbe9c)

struct aq_replay_rig {
    Actorq__V1__Membership_Service membership; /* first: it is what the service functions get */
    uv_loop_t *loop;
    uv_timer_t alarm; /* the loop looks at the time now and then */
    aq_run_settings settings;
    aq_rpc_dispatcher *dispatcher;
    aq_rpc_server *learner;
    aq_supervisor *supervisor;
    aq_security *security; /* of the environment, as the shard has it */
    bool is_serving, has_died;
    aq_rig_place place;
    char log_path[PATH_BYTES];
    char policy_url[AQ_URL_MAX]; /* of nobody: a shard listens to no broadcast */
};

/* ---- the learner ----------------------------------------------------------------------------- */

static void on_join(Actorq__V1__Membership_Service *service, const Actorq__V1__JoinRequest *input,
                    Actorq__V1__JoinReply_Closure closure, void *closure_data)
{
    aq_replay_rig *rig = (aq_replay_rig *)service;
    aq_wire_settings_view settings;
    Actorq__V1__JoinReply reply;
    int rc = aq_text_set(rig->place.rpc_url, AQ_URL_MAX, input->rpc_url);
    if (rc == 0) {
        rc = aq_text_set(rig->place.push_url, AQ_URL_MAX, input->push_url);
    }
    if (rc != 0) {
        aq_rpc_fail(closure_data, AQ_RPC_INVALID_ARGUMENT, "an address that is too long");
        return;
    }
    rig->place.store = input->store;
    rig->place.pid = (int)input->pid;
    actorq__v1__join_reply__init(&reply);
    aq_wire_settings_to(&rig->settings, &settings);
    reply.run_id = RUN_ID;
    reply.member = SHARD_MEMBER;
    reply.settings = &settings.message;
    reply.policy_url = rig->policy_url;
    reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    closure(&reply, closure_data);
}

static void on_heartbeat(Actorq__V1__Membership_Service *service,
                         const Actorq__V1__HeartbeatRequest *input,
                         Actorq__V1__HeartbeatReply_Closure closure, void *closure_data)
{
    aq_replay_rig *rig = (aq_replay_rig *)service;
    Actorq__V1__HeartbeatReply reply;
    (void)input;
    rig->is_serving = true; /* it has read what Join told it */
    actorq__v1__heartbeat_reply__init(&reply);
    reply.known = 1;
    reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    closure(&reply, closure_data);
}

static void on_leave(Actorq__V1__Membership_Service *service, const Actorq__V1__LeaveRequest *input,
                     Actorq__V1__LeaveReply_Closure closure, void *closure_data)
{
    Actorq__V1__LeaveReply reply;
    (void)service;
    (void)input;
    actorq__v1__leave_reply__init(&reply);
    closure(&reply, closure_data);
}

static const Actorq__V1__Membership_Service membership = {
    .base = ACTORQ__V1__MEMBERSHIP__BASE_INIT,
    .join = on_join,
    .heartbeat = on_heartbeat,
    .leave = on_leave,
};

/* ---- the shard's process --------------------------------------------------------------------- */

static void on_restarting(void *user, const char *name, const char *how, int delay_ms)
{
    aq_replay_rig *rig = user;
    (void)name;
    (void)how;
    (void)delay_ms;
    rig->has_died = true;
}

static void on_finished(void *user, const char *name)
{
    aq_replay_rig *rig = user;
    (void)name;
    rig->has_died = true;
}

static void on_gave_up(void *user, const aq_child_end *end)
{
    on_finished(user, end->name);
}

/* What the shard said last. */
static void read_log_tail(const aq_replay_rig *rig, char *ret_tail)
{
    ssize_t size = 0;
    int log = open(rig->log_path, O_RDONLY | O_CLOEXEC);
    if (log >= 0) {
        (void)lseek(log, -(off_t)LOG_TAIL_BYTES, SEEK_END); /* from the start when it is shorter */
        size = read(log, ret_tail, LOG_TAIL_BYTES);
        (void)close(log);
    }
    ret_tail[size > 0 ? size : 0] = '\0';
}

static int died(const aq_replay_rig *rig, aq_error *error)
{
    char tail[LOG_TAIL_BYTES + 1];
    read_log_tail(rig, tail);
    return aq_fail(error, AQ_E_CLOSED, "actorq-replay has ended: %s", tail);
}

static int start_shard(aq_replay_rig *rig, const aq_rig_config *config, aq_error *error)
{
    char program[PATH_BYTES], store[PATH_BYTES], parent[PID_BYTES], listen_url[AQ_URL_MAX];
    const aq_supervisor_owner owner = {
        .user = rig, .restarting = on_restarting, .finished = on_finished, .gave_up = on_gave_up};
    int rc = aq_process_find_program("actorq-replay", "../replay", program, sizeof(program), error);
    if (rc != 0) {
        return rc;
    }
    if (aq_text_format(store, sizeof(store), "%s/store", config->folder) != 0 ||
        aq_text_format(rig->log_path, sizeof(rig->log_path), "%s/log", config->folder) != 0 ||
        aq_text_format(parent, sizeof(parent), "%ld", (long)getpid()) != 0 ||
        aq_text_format(listen_url, sizeof(listen_url), "ipc://%s/replay", config->folder) != 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "%s: the path is too long", config->folder);
    }
    const aq_child_spec child = {
        .name = "actorq-replay",
        .program = program,
        .log_path = rig->log_path,
        .args = {"--learner", aq_rpc_server_url(rig->learner), "--listen",
                 config->over_tcp ? "tcp://127.0.0.1:0" : listen_url, "--parent", parent,
                 "--log-level", "warn",
                 config->settings.config.replay.storage == AQ_STORAGE_SEGMENTS ? "--data" : NULL,
                 store},
    };
    rc = aq_supervisor_create(rig->loop, &owner, &rig->supervisor);
    return rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc))
                   : aq_supervisor_start(rig->supervisor, &child, error);
}

/* ---- open and close -------------------------------------------------------------------------- */

static void on_alarm(uv_timer_t *timer)
{
    (void)timer;
}

static bool is_serving(void *user)
{
    return ((const aq_replay_rig *)user)->is_serving;
}

static int serve_membership(aq_replay_rig *rig, const aq_rig_config *config, aq_error *error)
{
    char url[AQ_URL_MAX];
    if (aq_text_format(url, sizeof(url), "ipc://%s/learner", config->folder) != 0 ||
        aq_text_format(rig->policy_url, AQ_URL_MAX, "ipc://%s/policy", config->folder) != 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "%s: the path is too long", config->folder);
    }
    int rc = aq_rpc_dispatcher_create(CALLS_MAX, MESSAGE_BYTES_MAX, REPEAT_BYTES, &rig->dispatcher);
    if (rc == 0) {
        rc = aq_rpc_dispatcher_add(rig->dispatcher, &rig->membership.base);
    }
    if (rc != 0) {
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    aq_rpc_dispatcher_name(rig->dispatcher, AQ_ACCESS_LEARNER, 0);
    return aq_rpc_server_create(rig->loop, url, &rig->place.limits, rig->dispatcher, &rig->learner,
                                error);
}

int aq_replay_rig_open(uv_loop_t *loop, const aq_rig_config *config, aq_replay_rig **ret_rig,
                       aq_error *error)
{
    aq_replay_rig *rig = aq_alloc(1, sizeof(*rig));
    if (rig == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    rig->membership = membership;
    rig->loop = loop;
    rig->settings = config->settings;
    rig->place = (aq_rig_place){
        .run_id = RUN_ID,
        .limits = {.message_bytes_max = MESSAGE_BYTES_MAX,
                   .reconnect_min_ms = config->settings.config.net.reconnect_min_ms,
                   .reconnect_max_ms = config->settings.config.net.reconnect_max_ms},
    };
    int rc = aq_security_from_environment(&rig->security, error);
    if (rc != 0) {
        aq_free(rig);
        return rc;
    }
    rig->place.limits.security = rig->security;
    rc = uv_timer_init(loop, &rig->alarm);
    AQ_ASSERT(rc == 0);
    rig->alarm.data = rig;
    rc = uv_timer_start(&rig->alarm, on_alarm, ALARM_MS, ALARM_MS);
    AQ_ASSERT(rc == 0);
    rc = serve_membership(rig, config, error);
    if (rc == 0) {
        rc = start_shard(rig, config, error);
    }
    if (rc == 0) {
        rc = aq_replay_rig_run(rig, is_serving, rig, PATIENCE_NS, error);
    }
    if (rc != 0) {
        aq_replay_rig_close(rig);
        return rc;
    }
    *ret_rig = rig;
    return 0;
}

static void on_alarm_closed(uv_handle_t *handle)
{
    aq_replay_rig *rig = handle->data;
    aq_rpc_dispatcher_destroy(rig->dispatcher);
    aq_security_destroy(rig->security);
    aq_free(rig);
}

void aq_replay_rig_close(aq_replay_rig *rig)
{
    if (rig == NULL) {
        return;
    }
    if (rig->supervisor != NULL) {
        aq_supervisor_stop(rig->supervisor, "", PATIENCE_MS);
        while (aq_supervisor_alive(rig->supervisor, "") > 0) {
            (void)uv_run(rig->loop, UV_RUN_ONCE);
        }
        aq_supervisor_close(rig->supervisor);
    }
    aq_rpc_server_close(rig->learner);
    uv_close((uv_handle_t *)&rig->alarm, on_alarm_closed);
}

/* ---- use ------------------------------------------------------------------------------------- */

const aq_rig_place *aq_replay_rig_place(const aq_replay_rig *rig)
{
    return &rig->place;
}

const aq_run_settings *aq_replay_rig_settings(const aq_replay_rig *rig)
{
    return &rig->settings;
}

int aq_replay_rig_run(aq_replay_rig *rig, bool (*done)(void *user), void *user, int64_t time_ns,
                      aq_error *error)
{
    const int64_t end_ns = aq_clock_monotonic_ns() + time_ns;
    while (done == NULL || !done(user)) {
        if (rig->has_died) {
            return died(rig, error);
        }
        if (aq_clock_monotonic_ns() >= end_ns) {
            return done == NULL ? 0
                                : aq_fail(error, AQ_E_TIMEOUT, "no answer of actorq-replay in %d s",
                                          (int)(time_ns / AQ_NS_PER_S));
        }
        (void)uv_run(rig->loop, UV_RUN_ONCE);
    }
    return 0;
}

static void take_status(const Actorq__V1__StatusReply *reply, aq_rig_status *ret_status)
{
    *ret_status = (aq_rig_status){.resident_bytes = reply->resident_bytes};
    if (reply->replay != NULL) {
        ret_status->stored = reply->replay->stored;
        ret_status->snapshots = reply->replay->snapshots;
        ret_status->rejected = reply->replay->rejected;
    }
}

/* Over a loop of its own: the shard's heartbeat waits for the few milliseconds. */
int aq_replay_rig_status(aq_replay_rig *rig, aq_rig_status *ret_status, aq_error *error)
{
    const aq_caller_method status = {&actorq__v1__operations__descriptor, 0};
    Actorq__V1__StatusRequest request;
    ProtobufCMessage *reply;
    aq_rpc_status answer;
    aq_caller *caller;
    actorq__v1__status_request__init(&request);
    int rc = aq_caller_open(rig->place.rpc_url, &caller, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_caller_call(caller, status, &request.base, STATUS_TIMEOUT_MS, &reply, &answer, error);
    aq_caller_close(caller);
    if (rc != 0) {
        return rc;
    }
    take_status((const Actorq__V1__StatusReply *)reply, ret_status);
    protobuf_c_message_free_unpacked(reply, NULL);
    return 0;
}
