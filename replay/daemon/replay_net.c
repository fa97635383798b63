/*
 * One loop thread. Sockets hand their messages to the service, a timer drives the service and the
 * membership.
 *
 *   the learner is away       the shard waits, serving what it has
 *   another run, other rules  the store is begun anew (replay_store.h)
 *   the run ends, a signal,   held calls are answered, the learner is told, what was answered gets
 *   Stop, a refusal           a moment to leave the sockets, and the loop ends
 */
#include "replay/daemon/replay_net.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/config/run_settings.h"
#include "common/member/member.h"
#include "common/net/address/url.h"
#include "common/net/daemon/daemon_peers.h"
#include "common/net/daemon/daemon_security.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/rpc/rpc_server.h"
#include "common/net/security/incarnation.h"
#include "common/net/sockets/net.h"
#include "common/net/sockets/pull.h"
#include "common/sys/log.h"
#include "common/sys/loop.h"
#include "common/sys/machine.h"
#include "common/sys/notify.h"
#include "common/wire/wire_sample.h"
#include "replay/daemon/replay_addresses.h"
#include "replay/daemon/replay_http.h"
#include "replay/daemon/replay_store.h"
#include "replay/service/replay_service.h"

enum {
    IDLE_TICK_MS = 20, /* while there is no run */
    LINGER_MS = 100,
    LEARNER_CALLS_MAX = 8,
    RECONNECT_MIN_MS = 50, /* to the learner, whose own settings come with Join */
    RECONNECT_MAX_MS = 2000,
};

/* Before Join nobody knows the run's own limits, and nobody has much to say. */
#define EARLY_BYTES_MAX   ((size_t)256 << 10)
#define REPEATS_BYTES_MAX ((size_t)8 << 20) /* the last two answers of every actor, and more */
#define LEARNER_BYTES_MAX ((size_t)1 << 20)

/* What is around experience or priorities, and a row's number and priority. */
enum { ENVELOPE_BYTES = 64 << 10, PRIORITY_BYTES = 32 };

/* At full rate the holes between messages grow by a percent or two in a minute. */
#define TRIM_INTERVAL_NS (20 * AQ_NS_PER_S)

typedef struct replay_daemon {
    const aq_replay_options *options;
    aq_daemon_security security;
    aq_seal seal;
    uv_loop_t loop;
    uv_timer_t tick;
    uv_timer_t linger;
    aq_end_signals signals;
    aq_replay_service *service;
    aq_rpc_dispatcher *dispatcher;
    aq_rpc_server *server;
    aq_pull *pull;
    aq_rpc_client *learner;
    aq_member *member;
    aq_member_identity identity;
    aq_notify *notify;
    aq_daemon_http *http;
    aq_replay_store store;
    int64_t member_due_ns;
    aq_replay_stats statistics; /* of the heartbeat that is being packed */
    int64_t peers_due_ns;
    int64_t trim_due_ns;
    aq_daemon_peers peers;
    aq_log_limit rejected_limit, unreachable_limit;
    bool stopping;
    bool closing; /* the loop has ended: nothing is worth a line any more */
    int result;
    aq_error *error;
} replay_daemon;

/* ---- the end ------------------------------------------------------------------------------- */

static void on_linger_end(uv_timer_t *timer)
{
    replay_daemon *daemon = timer->data;
    uv_stop(&daemon->loop);
}

/* What was answered last gets a moment to leave the sockets. */
static void linger(replay_daemon *daemon)
{
    (void)uv_timer_start(&daemon->linger, on_linger_end, LINGER_MS, 0);
}

static void on_left(void *user)
{
    replay_daemon *daemon = user;
    if (!uv_is_active((const uv_handle_t *)&daemon->linger)) {
        aq_log(AQ_LOG_INFO, "left", "", "");
        linger(daemon);
    }
}

static void stop(replay_daemon *daemon, const char *reason)
{
    if (daemon->stopping) {
        return;
    }
    daemon->stopping = true;
    aq_notify_stopping(daemon->notify);
    aq_replay_store_stop(&daemon->store, "this shard stops");
    if (!aq_rpc_client_connected(daemon->learner)) { /* nobody is there to hear of it */
        linger(daemon);
    }
    aq_member_leave(daemon->member, reason, on_left, daemon);
}

/* `daemon->error` holds the sentence. */
static void stop_failed(replay_daemon *daemon, int code)
{
    daemon->result = code;
    stop(daemon, daemon->error->text);
}

static void on_signal(uv_signal_t *handle, int number)
{
    replay_daemon *daemon = handle->data;
    if (daemon->stopping) { /* asked twice: the learner is not waited for */
        uv_stop(&daemon->loop);
        return;
    }
    aq_log(AQ_LOG_INFO, "stopping", aq_replay_store_fate(&daemon->store), "signal=%d", number);
    stop(daemon, number == SIGINT ? "interrupted" : "terminated");
}

static void on_stop_call(void *user, const char *peer, const char *reason)
{
    replay_daemon *daemon = user;
    aq_log(AQ_LOG_INFO, "stopping", aq_replay_store_fate(&daemon->store), "peer=%s reason=%s", peer,
           AQ_LOG_QUOTED(reason));
    stop(daemon, "stopped by a call");
}

/* ---- membership ---------------------------------------------------------------------------- */

/* The longest answer to a request for samples; `of_queues` alone, or of any table. */
static size_t sample_bytes_max(const aq_run_settings *settings, bool of_queues)
{
    aq_layout layout;
    size_t longest = 0;
    if (aq_run_settings_layout(settings, &layout, NULL) != 0) {
        return 0; /* the store refuses this run, in words */
    }
    for (uint32_t i = 0; i < settings->table_count; i++) {
        const aq_table_spec *table = &settings->tables[i];
        const bool counts = !of_queues || table->selector == AQ_SELECTOR_QUEUE;
        const size_t bytes =
            aq_wire_sample_bytes(&layout, table->sequence_length, settings->sample_rows);
        longest = counts && bytes > longest ? bytes : longest;
    }
    return longest;
}

/* Messages may be as long as this run's are. What a queue gave is kept: it has it no more. */
static void allow_messages(replay_daemon *daemon, const aq_run_settings *settings)
{
    const size_t message = (size_t)settings->config.net.message_bytes + ENVELOPE_BYTES;
    const size_t priorities = (size_t)settings->sample_rows * PRIORITY_BYTES + ENVELOPE_BYTES;
    const size_t ahead_max = (size_t)aq_run_config_row("learner.prefetch")->max;
    aq_pull_allow(daemon->pull, message + AQ_SEAL_BYTES);
    aq_rpc_server_allow(daemon->server, message > priorities ? message : priorities,
                        ahead_max * sample_bytes_max(settings, false));
    aq_rpc_dispatcher_keep(daemon->dispatcher, sample_bytes_max(settings, true) + ENVELOPE_BYTES);
}

static void on_joined(void *user, const aq_member_view *view, int again)
{
    replay_daemon *daemon = user;
    const aq_table_spec *main_table = &view->settings.tables[0];
    aq_log_open("replay", view->slot);
    aq_log_set_run_level(view->settings.config.log.level);
    aq_log(AQ_LOG_INFO, "joined", again ? "the same run as before" : "",
           "run_id=%016" PRIx64 " member=%" PRIu64 " task=%s tables=%" PRIu32 " capacity=%" PRIu64
           " min_size=%" PRIu64 " samples_per_insert=%g tolerance=%g",
           view->run_id, view->member, view->settings.task, view->settings.table_count,
           main_table->capacity, main_table->min_size, main_table->samples_per_insert,
           main_table->tolerance);
    allow_messages(daemon, &view->settings);
    int rc = aq_replay_store_joined(&daemon->store, view, again, daemon->error);
    if (rc != 0) {
        stop_failed(daemon, rc);
    }
}

/* A shard has no use for policies and other shards. */
static void on_changed(void *user, const aq_member_view *view)
{
    replay_daemon *daemon = user;
    aq_log_set_run_level(view->settings.config.log.level);
    if (view->is_asked_to_leave && !daemon->stopping) {
        aq_log(AQ_LOG_INFO, "stopping", aq_replay_store_fate(&daemon->store), "reason=drained");
        stop(daemon, "the learner asked it to leave");
    }
}

static void on_ended(void *user, const aq_member_view *view, const char *reason)
{
    replay_daemon *daemon = user;
    if (view->state == AQ_MEMBER_REFUSED) {
        stop_failed(daemon, aq_fail(daemon->error, AQ_E_PEER,
                                    "the learner at %s does not take this shard: %s",
                                    daemon->options->learner_url, reason));
        return;
    }
    aq_log(AQ_LOG_INFO, "run_ended", reason, "run_id=%016" PRIx64, view->run_id);
    stop(daemon, reason);
}

static void on_trouble(void *user, const char *reason)
{
    replay_daemon *daemon = user;
    if (!daemon->closing) {
        aq_log_limited(&daemon->unreachable_limit, aq_clock_monotonic_ns(), AQ_LOG_WARN,
                       "learner_unreachable", "it is tried again; stored steps are kept",
                       "learner=%s reason=%s", daemon->options->learner_url, AQ_LOG_QUOTED(reason));
    }
}

static void on_statistics(void *user, Actorq__V1__HeartbeatRequest *request)
{
    replay_daemon *daemon = user;
    aq_replay_service_statistics(daemon->service, &daemon->statistics);
    request->replay = &daemon->statistics.message;
}

/* ---- traffic ------------------------------------------------------------------------------- */

static void on_experience(void *user, aq_lease *message, const char *peer)
{
    replay_daemon *daemon = user;
    aq_replay_service_experience(daemon->service, aq_clock_monotonic_ns(), message, peer);
}

static void on_damaged(void *user, const char *what)
{
    replay_daemon *daemon = user;
    aq_replay_store_damaged(&daemon->store, what);
}

/* The loop does not turn while the folder is read. */
static void on_advanced(void *user)
{
    const replay_daemon *daemon = user;
    aq_notify_alive(daemon->notify);
}

static void on_rejected(void *user, const char *peer, const aq_error *error)
{
    replay_daemon *daemon = user;
    if (error->code == AQ_E_AGAIN) {
        aq_log(AQ_LOG_DEBUG, "experience_early",
               "the message comes again once its actor has called", "peer=%s reason=%s", peer,
               AQ_LOG_QUOTED(error->text));
        return;
    }
    aq_log_limited(&daemon->rejected_limit, aq_clock_monotonic_ns(), AQ_LOG_WARN,
                   "experience_rejected", "the message is dropped and not acknowledged",
                   "peer=%s error=%s reason=%s", peer, aq_error_name(error->code),
                   AQ_LOG_QUOTED(error->text));
}

/* Whoever is connected may still be told that this shard goes. */
static void end_if_stuck(replay_daemon *daemon)
{
    if (!daemon->stopping && aq_net_is_stuck()) {
        aq_log(AQ_LOG_ERROR, "net_stuck",
               "a connection could not be closed, and none can be made anew; this process ends and "
               "should be started again",
               "");
        stop_failed(daemon, aq_fail(daemon->error, AQ_E_IO, "a connection could not be closed"));
    }
}

static void trim_memory(replay_daemon *daemon, int64_t now_ns)
{
    if (now_ns >= daemon->trim_due_ns) {
        daemon->trim_due_ns = now_ns + TRIM_INTERVAL_NS;
        aq_memory_trim();
    }
}

static void on_tick(uv_timer_t *timer)
{
    replay_daemon *daemon = timer->data;
    int64_t now_ns = aq_clock_monotonic_ns();
    end_if_stuck(daemon);
    aq_replay_store_tick(&daemon->store, now_ns);
    if (now_ns >= daemon->member_due_ns) {
        aq_member_tick(daemon->member, now_ns, &daemon->member_due_ns);
    }
    if (now_ns >= daemon->peers_due_ns) {
        daemon->peers_due_ns = now_ns + AQ_NS_PER_S;
        aq_daemon_peers_watch(&daemon->peers, daemon->server, now_ns);
    }
    trim_memory(daemon, now_ns);
    bool busy = aq_replay_service_core(daemon->service) != NULL;
    (void)uv_timer_start(timer, on_tick, busy ? AQ_REPLAY_TICK_MS : IDLE_TICK_MS, 0);
}

/* ---- assembly ------------------------------------------------------------------------------ */

static int create_service(replay_daemon *daemon, aq_error *error)
{
    const aq_token *token = aq_security_token(daemon->security.security);
    int rc = token != NULL ? aq_token_seal(token, &daemon->seal) : 0;
    if (rc != 0) {
        return aq_fail(error, rc, "actors cannot be told from strangers by this token");
    }
    const aq_replay_service_owner owner = {
        .user = daemon,
        .process = aq_incarnation_name(daemon->identity.incarnation),
        .seal = token != NULL ? &daemon->seal : NULL,
        .rejected = on_rejected,
        .damaged = on_damaged,
        .advanced = on_advanced,
        .stop = on_stop_call,
    };
    rc = aq_replay_service_create(&owner, aq_clock_monotonic_ns(), &daemon->service);
    if (rc == 0) {
        rc = aq_rpc_dispatcher_create(AQ_REPLAY_CALLS_MAX, AQ_WIRE_SAMPLE_BYTES_MAX,
                                      REPEATS_BYTES_MAX, &daemon->dispatcher);
    }
    if (rc == 0) {
        rc = aq_replay_service_offer(daemon->service, daemon->dispatcher);
    }
    return rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
}

static int open_sockets(replay_daemon *daemon, aq_error *error)
{
    const char *listen_url = daemon->options->listen_url;
    char push_url[AQ_URL_MAX];
    aq_net_limits limits = {
        .message_bytes_max = EARLY_BYTES_MAX,
        .reconnect_min_ms = RECONNECT_MIN_MS,
        .reconnect_max_ms = RECONNECT_MAX_MS,
        .security = daemon->security.security,
    };
    aq_daemon_security_watch(&daemon->security, daemon->dispatcher);
    aq_rpc_dispatcher_name(daemon->dispatcher, AQ_ACCESS_REPLAY,
                           aq_incarnation_name(daemon->identity.incarnation));
    int rc = aq_rpc_server_create(&daemon->loop, listen_url, &limits, daemon->dispatcher,
                                  &daemon->server, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_url_sibling(listen_url, "push", push_url, sizeof(push_url));
    if (rc != 0) {
        return aq_fail(error, rc, "%s: there is no address after it for experience", listen_url);
    }
    rc = aq_pull_create(&daemon->loop, push_url, &limits, on_experience, daemon, &daemon->pull,
                        error);
    if (rc != 0) {
        return rc;
    }
    limits.message_bytes_max = LEARNER_BYTES_MAX;
    return aq_rpc_client_create(&daemon->loop, daemon->options->learner_url, &limits,
                                LEARNER_CALLS_MAX, &daemon->learner, error);
}

static int create_member(replay_daemon *daemon, aq_error *error)
{
    const aq_member_owner owner = {
        .user = daemon,
        .joined = on_joined,
        .changed = on_changed,
        .ended = on_ended,
        .trouble = on_trouble,
        .statistics = on_statistics,
    };
    daemon->identity.role = AQ_ROLE_REPLAY;
    daemon->identity.store = daemon->store.identity;
    daemon->identity.slot = daemon->store.slot;
    daemon->identity.pid = (uint32_t)getpid();
    aq_machine_host(daemon->identity.host, sizeof(daemon->identity.host));
    int rc =
        aq_replay_name_addresses(daemon->options->advertise_url, aq_rpc_server_url(daemon->server),
                                 aq_pull_url(daemon->pull), &daemon->identity, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_energy_meter_create(NULL, aq_clock_monotonic_ns(), &daemon->identity.meter);
    if (rc != 0) {
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    rc = aq_member_create(aq_rpc_client_channel(daemon->learner), &daemon->identity, &owner,
                          daemon->identity.incarnation, &daemon->member);
    return rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
}

static int start_loop(replay_daemon *daemon, aq_error *error)
{
    (void)uv_timer_init(&daemon->loop, &daemon->tick);
    (void)uv_timer_init(&daemon->loop, &daemon->linger);
    daemon->tick.data = daemon;
    daemon->linger.data = daemon;
    (void)uv_timer_start(&daemon->tick, on_tick, 0, 0);
    return aq_loop_watch_signals(&daemon->loop, &daemon->signals, on_signal, daemon, error);
}

static void say_where(const replay_daemon *daemon)
{
    aq_daemon_security_say(&daemon->security, aq_rpc_server_url(daemon->server));
    aq_log(AQ_LOG_INFO, "ready", "waiting for the learner to take this shard into its run",
           "url=%s push_url=%s learner=%s pid=%" PRIu32, daemon->identity.rpc_url,
           daemon->identity.push_url, daemon->options->learner_url, daemon->identity.pid);
}

static int create(replay_daemon *daemon, aq_error *error)
{
    const aq_replay_options *options = daemon->options;
    int rc = aq_daemon_security_open(&daemon->security, &options->daemon, AQ_ACCESS_REPLAY,
                                     options->listen_url, error);
    if (rc == 0) {
        daemon->identity.incarnation = aq_incarnation_draw();
        rc = create_service(daemon, error);
    }
    if (rc == 0) {
        rc = aq_replay_store_init(&daemon->store, daemon->service, &daemon->loop,
                                  daemon->options->data_dir,
                                  aq_incarnation_name(daemon->identity.incarnation), error);
    }
    if (rc == 0) {
        rc = open_sockets(daemon, error);
    }
    if (rc == 0) {
        rc = create_member(daemon, error);
    }
    if (rc == 0) {
        rc = start_loop(daemon, error);
    }
    if (rc == 0) {
        rc = aq_replay_http_open(&daemon->loop, options->daemon.http, daemon->service,
                                 daemon->dispatcher, daemon->security.security, &daemon->http,
                                 error);
    }
    if (rc == 0) {
        rc = aq_notify_create(&daemon->loop, &daemon->notify, error);
    }
    return rc;
}

/* Sockets first, so that nothing comes in; then what their calls point at. */
static void destroy(replay_daemon *daemon)
{
    daemon->closing = true;
    aq_daemon_http_close(daemon->http);
    aq_rpc_server_close(daemon->server);
    aq_pull_close(daemon->pull);
    aq_rpc_client_close(daemon->learner);
    aq_member_destroy(daemon->member);
    aq_energy_meter_destroy(daemon->identity.meter);
    aq_replay_service_destroy(daemon->service);
    aq_notify_close(daemon->notify);
    aq_rpc_dispatcher_destroy(daemon->dispatcher);
    aq_daemon_security_close(&daemon->security);
    (void)aq_loop_close_last(&daemon->loop);
    aq_free(daemon);
}

int aq_replay_run(const aq_replay_options *options, aq_error *error)
{
    replay_daemon *daemon = aq_alloc(1, sizeof(*daemon));
    if (daemon == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    daemon->options = options;
    daemon->error = error;
    int rc = uv_loop_init(&daemon->loop);
    if (rc != 0) {
        aq_free(daemon);
        return aq_fail(error, AQ_E_UNSUPPORTED, "no event loop: %s", uv_strerror(rc));
    }
    rc = create(daemon, error);
    if (rc == 0) {
        say_where(daemon);
        (void)uv_run(&daemon->loop, UV_RUN_DEFAULT);
        rc = daemon->result;
    }
    destroy(daemon);
    return rc;
}
