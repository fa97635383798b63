/*
 * The loop of an actor:
 *
 *   sockets, timer, signals  ->  tick the session  ->  step in a burst  ->  again
 *
 * While there is work, sockets are looked at between bursts of half a millisecond; when there is
 * none, the loop waits for a socket, the policy's thread or the session's next due time. So an
 * actor without credit takes no processor time.
 */
#include "actor/daemon/actor_net.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "actor/daemon/actor_http.h"
#include "actor/daemon/call_place.h"
#include "actor/daemon/fetch_line.h"
#include "actor/daemon/policy_thread.h"
#include "actor/daemon/shard_sockets.h"
#include "actor/session/actor_session.h"
#include "actor/session/evaluator_session.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/net/address/url.h"
#include "common/net/daemon/daemon_security.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/security/incarnation.h"
#include "common/net/security/security.h"
#include "common/net/sockets/net.h"
#include "common/sys/cpu.h"
#include "common/sys/log.h"
#include "common/sys/loop.h"
#include "common/sys/machine.h"
#include "common/sys/notify.h"

/* A burst ends after either; sockets wait that long. */
#define BURST_NS (500 * AQ_NS_PER_US)
enum { BURST_STEPS = 64 };

/* The longest wait for an event. */
enum { WAIT_MS_MAX = 10000 };

/* Calls that can be out at a time: Join, Heartbeat or Leave; ReportEvaluation. */
enum { LEARNER_CALLS_MAX = 8 };

/* Towards the learner, before anybody can have agreed on anything: a fetched policy is the largest
 * message. */
static const aq_net_limits learner_limits = {
    .message_bytes_max = (size_t)256 << 20,
    .reconnect_min_ms = 50,
    .reconnect_max_ms = 2000,
};

typedef struct actor_shell {
    aq_daemon_security security;
    const aq_actor_options *options;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_async_t wake; /* from the policy's thread */
    aq_end_signals signals;
    aq_rpc_client *learner;
    aq_fetch_line *fetches;
    aq_call_place place;
    aq_shard_sockets shards;
    aq_policy_thread *policy; /* NULL: not listening */
    aq_actor_session *actor;  /* one of these two */
    aq_evaluator_session *evaluator;
    aq_energy_meter *meter;
    aq_notify *notify;
    aq_daemon_http *http;
    int64_t logged_slot;
    bool is_stuck; /* the transport; see aq_net_is_stuck */
} actor_shell;

/* ---- the policy ----------------------------------------------------------------------------- */

static int listen_to(void *user, const char *policy_url, aq_policy_feed *feed, aq_error *error)
{
    actor_shell *shell = user;
    char url[AQ_URL_MAX];
    int rc = aq_call_place_url(&shell->place, policy_url, url, error);
    if (rc != 0) {
        return rc;
    }
    const aq_net_limits limits = aq_call_place_limits(&shell->place, &learner_limits);
    return aq_policy_thread_start(url, &limits, feed, &shell->wake, &shell->policy, error);
}

static void unlisten(void *user)
{
    actor_shell *shell = user;
    aq_policy_thread_stop(shell->policy);
    shell->policy = NULL;
}

static void pass_frame(void *user, const uint8_t *frame, size_t size)
{
    actor_shell *shell = user;
    aq_policy_thread_pass(shell->policy, frame, size);
}

/* ---- one session or the other --------------------------------------------------------------- */

static aq_participant *participant_of(const actor_shell *shell)
{
    return shell->actor != NULL ? aq_actor_session_participant(shell->actor)
                                : aq_evaluator_session_participant(shell->evaluator);
}

static void tick(actor_shell *shell, int64_t now_ns)
{
    if (shell->actor != NULL) {
        aq_actor_session_tick(shell->actor, now_ns);
    } else {
        aq_evaluator_session_tick(shell->evaluator, now_ns);
    }
}

static uint32_t work(actor_shell *shell, int64_t now_ns)
{
    return shell->actor != NULL ? aq_actor_session_work(shell->actor, now_ns)
                                : aq_evaluator_session_work(shell->evaluator, now_ns);
}

static int64_t next_ns(const actor_shell *shell)
{
    return shell->actor != NULL ? aq_actor_session_next_ns(shell->actor)
                                : aq_evaluator_session_next_ns(shell->evaluator);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer)
{
    (void)timer; /* the loop has woken: that is all */
}

static void on_wake(uv_async_t *async)
{
    (void)async; /* likewise */
}

static void on_signal(uv_signal_t *handle, int number)
{
    actor_shell *shell = handle->data;
    aq_notify_stopping(shell->notify);
    aq_participant_stop(participant_of(shell), number == SIGINT ? "interrupted" : "terminated");
}

/* True when it stopped for time and there is more to do. */
static bool work_in_a_burst(actor_shell *shell)
{
    int64_t now_ns = aq_clock_monotonic_ns();
    const int64_t end_ns = now_ns + BURST_NS;
    for (int i = 0; i < BURST_STEPS && now_ns < end_ns; i++) {
        if (work(shell, now_ns) == 0) {
            return false;
        }
        now_ns = aq_clock_monotonic_ns(); /* a step alone may take longer than a burst */
    }
    return true;
}

/* At least a millisecond: what is due and cannot be done now must not keep the loop spinning. */
static void set_timer(actor_shell *shell)
{
    int64_t now_ns = aq_clock_monotonic_ns();
    int64_t due_ns = next_ns(shell);
    int64_t latest_ns = now_ns + WAIT_MS_MAX * AQ_NS_PER_MS;
    int64_t wake_ns = due_ns < latest_ns ? due_ns : latest_ns;
    uint64_t wait_ms = wake_ns <= now_ns ? 1 : (uint64_t)((wake_ns - now_ns) / AQ_NS_PER_MS) + 1;
    uv_update_time(&shell->loop);
    int rc = uv_timer_start(&shell->timer, on_timer, wait_ms, 0);
    AQ_ASSERT(rc == 0);
}

static void name_in_log(actor_shell *shell)
{
    const aq_member_view *view = aq_participant_look(participant_of(shell));
    if (view->member != 0 && view->slot != shell->logged_slot) {
        shell->logged_slot = view->slot;
        aq_log_open(shell->options->evaluate ? "evaluator" : "actor", view->slot);
    }
}

/* What is connected may still finish; what is lost would never come back. */
static void end_if_stuck(actor_shell *shell)
{
    if (!shell->is_stuck && aq_net_is_stuck()) {
        shell->is_stuck = true;
        aq_log(
            AQ_LOG_ERROR, "net_stuck",
            "a connection could not be closed, and none can be made anew; this process finishes, "
            "ends and should be started again",
            "");
        aq_participant_stop(participant_of(shell), "its transport is stuck");
    }
}

static void run_until_done(actor_shell *shell)
{
    bool has_work = true;
    for (;;) {
        (void)uv_run(&shell->loop, has_work ? UV_RUN_NOWAIT : UV_RUN_ONCE);
        name_in_log(shell);
        end_if_stuck(shell);
        tick(shell, aq_clock_monotonic_ns());
        if (aq_participant_phase_of(participant_of(shell)) == AQ_PARTICIPANT_DONE) {
            return;
        }
        has_work = work_in_a_burst(shell);
        if (!has_work) {
            set_timer(shell);
        }
    }
}

/* ---- life ----------------------------------------------------------------------------------- */

static void name_self(aq_member_identity *identity, bool evaluate)
{
    identity->role = evaluate ? AQ_ROLE_EVALUATOR : AQ_ROLE_ACTOR;
    identity->pid = (uint32_t)getpid();
    identity->incarnation = aq_incarnation_draw();
    aq_machine_host(identity->host, sizeof(identity->host));
}

static int create_session(actor_shell *shell, aq_error *error)
{
    aq_rpc_channel *learner = aq_rpc_client_channel(shell->learner);
    int rc = aq_energy_meter_create(NULL, aq_clock_monotonic_ns(), &shell->meter);
    if (rc != 0) {
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    aq_session_config config = {
        .identity = {.meter = shell->meter, .slot = (uint32_t)shell->options->slot},
        .listener = {.user = shell, .listen = listen_to, .unlisten = unlisten, .pass = pass_frame},
        .fetches = aq_fetch_line_channel(shell->fetches),
        .cpu_flags = aq_cpu_flags(),
        .start_ns = shell->options->start_ns,
    };
    name_self(&config.identity, shell->options->evaluate);
    config.seed = config.identity.incarnation;
    if (shell->options->evaluate) {
        rc = aq_evaluator_session_create(learner, &config, &shell->evaluator);
    } else {
        const aq_actor_session_config actor = {
            .common = config,
            .transport = aq_shard_sockets_transport(&shell->shards),
            .is_sealed = aq_security_token(shell->security.security) != NULL,
            .gradients = shell->options->open_gradients,
            .clock_ns = aq_clock_monotonic_ns,
        };
        rc = aq_actor_session_create(learner, &actor, &shell->actor);
        if (rc == 0) {
            shell->shards.session = aq_actor_session_shards(shell->actor);
        }
    }
    return rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
}

static int open_handles(actor_shell *shell, aq_error *error)
{
    int problem = uv_loop_init(&shell->loop);
    if (problem != 0) {
        return aq_fail(error, aq_error_from_errno(-problem), "no event loop: %s",
                       uv_strerror(problem));
    }
    problem = uv_async_init(&shell->loop, &shell->wake, on_wake);
    if (problem != 0) {
        (void)uv_loop_close(&shell->loop);
        return aq_fail(error, aq_error_from_errno(-problem), "no event loop: %s",
                       uv_strerror(problem));
    }
    (void)uv_timer_init(&shell->loop, &shell->timer); /* it does not fail */
    int rc = aq_loop_watch_signals(&shell->loop, &shell->signals, on_signal, shell, error);
    if (rc != 0) {
        (void)aq_loop_close(&shell->loop);
    }
    return rc;
}

/* Calls are answered first, then those who made them may go. */
static void close_all(actor_shell *shell)
{
    aq_daemon_http_close(shell->http);
    aq_rpc_client_close(shell->learner);
    aq_fetch_line_close(shell->fetches);
    aq_actor_session_destroy(shell->actor);
    aq_evaluator_session_destroy(shell->evaluator);
    aq_energy_meter_destroy(shell->meter);
    aq_notify_close(shell->notify);
    bool closed = aq_loop_close_last(&shell->loop);
    AQ_ASSERT(closed);
}

static int open_fetch_line(actor_shell *shell, aq_error *error)
{
    const aq_net_limits limits = aq_call_place_limits(&shell->place, &learner_limits);
    int rc =
        aq_fetch_line_create(&shell->loop, shell->options->learner_url, &limits, &shell->fetches);
    return rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
}

int aq_actor_run(const aq_actor_options *options, int *ret_exit_code, aq_error *error)
{
    actor_shell shell = {.options = options, .logged_slot = -1};
    aq_log_open(options->evaluate ? "evaluator" : "actor", -1);
    int rc = open_handles(&shell, error);
    if (rc != 0) {
        return rc;
    }
    const enum aq_access_role role = options->evaluate ? AQ_ACCESS_EVALUATOR : AQ_ACCESS_ACTOR;
    rc = aq_daemon_security_open(&shell.security, &options->daemon, role, NULL, error);
    shell.place = (aq_call_place){&shell.loop, options->learner_url, shell.security.security};
    shell.shards.place = &shell.place;
    if (rc == 0) {
        const aq_net_limits limits = aq_call_place_limits(&shell.place, &learner_limits);
        aq_daemon_security_say(&shell.security, NULL);
        rc = aq_rpc_client_create(&shell.loop, options->learner_url, &limits, LEARNER_CALLS_MAX,
                                  &shell.learner, error);
    }
    if (rc == 0) {
        rc = open_fetch_line(&shell, error);
    }
    if (rc == 0) {
        rc = create_session(&shell, error);
    }
    if (rc == 0) {
        rc = aq_actor_http_open(&shell.loop, options->daemon.http, participant_of(&shell),
                                shell.security.security, options->evaluate, &shell.http, error);
    }
    if (rc == 0) {
        rc = aq_notify_create(&shell.loop, &shell.notify, error);
    }
    if (rc == 0) {
        run_until_done(&shell);
        *ret_exit_code =
            shell.is_stuck ? EXIT_FAILURE : aq_participant_exit_code(participant_of(&shell));
    }
    close_all(&shell);
    aq_daemon_security_close(&shell.security);
    return rc;
}
