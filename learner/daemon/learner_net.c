/*
 * The learner daemon: assembly and lifecycle. See learner_net.h.
 *
 *   STARTING -> serving and training -> ENDED (solved, budget, stopped) -> exit when all have left
 *                                   \-> signal: checkpoint, exit; the run can be resumed
 */
#include "learner/daemon/learner_net.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/sys/cpu.h"
#include "common/wire/wire_policy.h"
#include "learner/algorithms/normalized.h"
#include "learner/daemon/learner_net_priv.h"
#include "learner/nn/blas.h"

enum { TICK_MS = 5, CALLS_MAX = 4096 };
#define MESSAGE_BYTES_MIN ((size_t)16 << 20) /* room for the status of a run of thousands */
#define REPEATS_BYTES_MAX ((size_t)4 << 20)

/* Longer between two ticks, and the loop was busy elsewhere. */
#define LATE_TICK_NS (500 * AQ_NS_PER_MS)

/* How long an ended run is served, so that members hear of the end at one of their next heartbeats,
 * also on a machine that is short of time. Who misses it waits for another learner. */
#define FAREWELL_NS_MIN AQ_NS_PER_S
#define FAREWELL_BEATS  3

/* ---- the end of a run ----------------------------------------------------------------------- */

/* Without any evaluation, the newest version is the one to keep. */
static void adopt_newest_as_best(aq_learner *learner)
{
    const aq_publication *newest = aq_policy_shelf_newest(learner->shelf);
    if (learner->best.snapshot || !newest) {
        return;
    }
    learner->best = (aq_best_policy){
        .snapshot = aq_snapshot_ref(newest->snapshot),
        .twin = aq_snapshot_ref(newest->twin),
        .result = {.version = newest->snapshot->version, .return_mean = NAN},
        .unwritten = true,
    };
}

/* Ends training and puts the last state on the disk. Both threads are gone before the loop's own
 * knowledge is gathered, so that nothing is under way that could change it. */
static void finish_training(aq_learner *learner)
{
    aq_learner_training_stop(learner);
    aq_quantizer_stage_stop(learner->stage);
    (void)uv_run(&learner->loop, UV_RUN_NOWAIT); /* what the stage still reported */
    adopt_newest_as_best(learner);
    aq_algorithm_state state;
    learner->plan.algorithm_class->state(learner->algorithm, &state);
    aq_learner_checkpoint_gather(learner);
    aq_learner_checkpoint_write(learner, &state, aq_trainer_step(learner->trainer));
    (void)uv_run(&learner->loop, UV_RUN_NOWAIT); /* what came of it */
}

/* ---- timers and signals --------------------------------------------------------------------- */

/* After a tick that came late nobody is expired: the loop was busy elsewhere, and what members sent
 * meanwhile has not been read yet. */
static void expire_members(aq_learner *learner, int64_t now_ns)
{
    aq_member_record lost;
    int64_t late_ns = now_ns - learner->ticked_ns;
    learner->ticked_ns = now_ns;
    if (late_ns > LATE_TICK_NS) {
        return;
    }
    while (aq_coordinator_expire(learner->coordinator, now_ns, &lost)) {
        aq_learner_service_forget(learner->service, &lost);
        aq_log(AQ_LOG_WARN, "member_lost", "its place is free; it may join again",
               "member=%" PRIu64 " slot=%" PRIu32 " address=%s silent_ms=%" PRId64, lost.member,
               lost.slot, lost.address, (now_ns - lost.heard_ns) / AQ_NS_PER_MS);
    }
}

/* The checkpoint is written as for a signal; whoever starts it again resumes the run. */
static void end_if_stuck(aq_learner *learner)
{
    if (!learner->stuck && aq_net_is_stuck()) {
        learner->stuck = true;
        learner->signalled = true;
        aq_log(AQ_LOG_ERROR, "net_stuck",
               "a connection could not be closed, and none can be made anew; this process ends and "
               "should be started again with --resume",
               "");
    }
}

static void tick_training(aq_learner *learner, int64_t now_ns)
{
    aq_shard_links_follow(learner->links, learner->coordinator);
    aq_prefetch_tick(learner->prefetch, now_ns);
    if (now_ns >= learner->checkpoint_due_ns && !atomic_load(&learner->checkpoint_running)) {
        learner->checkpoint_due_ns =
            now_ns +
            (int64_t)(learner->plan.config.learner.checkpoint_period_s * (double)AQ_NS_PER_S);
        if (aq_trainer_step(learner->trainer) != learner->checkpoint_step) {
            aq_learner_checkpoint_request(learner);
        }
    }
    aq_coordinator_trained(learner->coordinator, aq_trainer_step(learner->trainer));
    if (learner->plan.config.learner.learning_rate_end < 1) {
        aq_learner_configure_trainer(learner);
    }
    aq_learner_end_if_diverged(learner);
    learner->ended = aq_coordinator_tick(learner->coordinator, now_ns) != AQ_RUN_RUNNING;
}

static bool farewell_is_over(const aq_learner *learner, int64_t now_ns)
{
    int64_t farewell_ns =
        (int64_t)learner->plan.config.net.heartbeat_ms * FAREWELL_BEATS * AQ_NS_PER_MS;
    if (farewell_ns < FAREWELL_NS_MIN) {
        farewell_ns = FAREWELL_NS_MIN;
    }
    return aq_coordinator_member_count(learner->coordinator) == 0 ||
           now_ns - learner->farewell_ns > farewell_ns;
}

static void on_tick(uv_timer_t *timer)
{
    aq_learner *learner = timer->data;
    int64_t now_ns = aq_clock_monotonic_ns();
    end_if_stuck(learner);
    if (learner->signalled) {
        uv_stop(&learner->loop);
        return;
    }
    expire_members(learner, now_ns);
    if (!learner->ended) {
        tick_training(learner, now_ns);
        if (learner->ended) {
            uv_stop(&learner->loop);
        }
    } else if (learner->farewell_ns && farewell_is_over(learner, now_ns)) {
        uv_stop(&learner->loop);
    }
}

static void on_second(uv_timer_t *timer)
{
    aq_learner *learner = timer->data;
    if (learner->ended) {
        return;
    }
    aq_learner_second(learner, aq_clock_monotonic_ns());

    aq_buffer frame;
    aq_buffer_init(&frame, 4096);
    const aq_publication *newest = aq_policy_shelf_newest(learner->shelf);
    uint64_t version = newest ? newest->snapshot->version : 0;
    if (!aq_wire_announce_pack(learner->folder.run_id, version, &frame)) {
        /* Lossy by design: the next one is a second away. */
        int rc = aq_publisher_send(learner->publisher, frame.data, frame.size);
        (void)rc;
    }
    aq_buffer_fini(&frame);
}

static void on_signal(uv_signal_t *signal_handle, int number)
{
    aq_learner *learner = signal_handle->data;
    aq_notify_stopping(learner->notify);
    aq_log(AQ_LOG_INFO, "stopping", "a checkpoint is written; the run can be resumed", "signal=%d",
           number);
    learner->signalled = true;
    uv_stop(&learner->loop);
}

static int start_timers(aq_learner *learner)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    uv_timer_init(&learner->loop, &learner->tick_timer);
    uv_timer_init(&learner->loop, &learner->second_timer);
    learner->tick_timer.data = learner;
    learner->second_timer.data = learner;
    uv_timer_start(&learner->tick_timer, on_tick, TICK_MS, TICK_MS);
    uv_timer_start(&learner->second_timer, on_second, 1000, 1000);
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&learner->loop, &learner->signals[i]);
        learner->signals[i].data = learner;
        if (uv_signal_start(&learner->signals[i], on_signal, numbers[i])) {
            return AQ_E_UNSUPPORTED;
        }
    }
    return 0;
}

/* ---- assembly ------------------------------------------------------------------------------- */

static int open_run(aq_learner *learner, aq_error *error)
{
    const aq_run_config *config = &learner->plan.config;
    int rc = aq_run_folder_open_as(learner->options->run_dir, config, learner->options->resume,
                                   learner->options->run_id, &learner->folder, error);
    if (!rc) {
        rc = aq_checkpoint_store_open(learner->folder.path,
                                      (unsigned)config->learner.checkpoints_kept, &learner->store,
                                      error);
    }
    if (!rc) {
        rc = aq_metrics_open(learner->folder.path, &learner->metrics, error);
    }
    if (!rc) {
        rc = aq_learner_mirror_open(learner, error);
    }
    if (!rc && aq_learner_print_config(learner)) {
        rc = aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    return rc;
}

aq_coordinator_config aq_learner_limits(const aq_run_plan *plan)
{
    return (aq_coordinator_config){
        .member_timeout_ns = (int64_t)plan->config.net.member_timeout_ms * AQ_NS_PER_MS,
        .env_steps_limit = plan->config.limits.env_steps,
        .learner_steps_limit = plan->config.limits.learner_steps,
        .wall_limit_s = plan->config.limits.wall_s,
        .threshold = plan->threshold,
    };
}

static int create_cores(aq_learner *learner, aq_error *error)
{
    const aq_run_config *config = &learner->plan.config;
    aq_coordinator_config coordinator = aq_learner_limits(&learner->plan);
    int rc = aq_coordinator_create(&coordinator, learner->started_ns, &learner->coordinator);
    if (!rc) {
        rc = aq_policy_shelf_create(&learner->shelf);
    }
    if (rc) {
        return aq_fail(error, rc, "out of memory");
    }
    return learner->plan.algorithm_class->create(config, &learner->plan.settings.schema,
                                                 config->seed, &learner->algorithm, error);
}

/* The largest policy frame: fp32 tensors and a description. */
static size_t policy_bytes_max(const aq_learner *learner)
{
    const aq_net_spec *spec = learner->plan.algorithm_class->spec(learner->algorithm);
    return aq_net_spec_parameters(spec) * sizeof(float) + 65536;
}

static int open_sockets(aq_learner *learner, aq_error *error)
{
    const aq_run_config *config = &learner->plan.config;
    const char *listen_url = learner->options->listen_url;
    size_t policy_bytes = policy_bytes_max(learner);
    size_t message_bytes = policy_bytes + 65536;
    if (message_bytes < MESSAGE_BYTES_MIN) {
        message_bytes = MESSAGE_BYTES_MIN;
    }
    aq_net_limits limits = {
        .message_bytes_max = message_bytes,
        .reconnect_min_ms = (uint32_t)config->net.reconnect_min_ms,
        .reconnect_max_ms = (uint32_t)config->net.reconnect_max_ms,
        .security = learner->security.security,
    };
    int rc =
        aq_rpc_dispatcher_create(CALLS_MAX, message_bytes, REPEATS_BYTES_MAX, &learner->dispatcher);
    if (!rc) {
        rc = aq_learner_service_offer(learner->service, learner->dispatcher);
    }
    if (rc) {
        return aq_fail(error, rc, "out of memory");
    }
    aq_daemon_security_watch(&learner->security, learner->dispatcher);
    rc = aq_rpc_server_create(&learner->loop, listen_url, &limits, learner->dispatcher, CALLS_MAX,
                              &learner->server, error);
    if (rc) {
        return rc;
    }
    char publisher_url[AQ_URL_MAX];
    rc = aq_url_sibling(aq_rpc_server_url(learner->server), "policy", publisher_url,
                        sizeof(publisher_url));
    if (rc) {
        return aq_fail(error, rc, "%s: no address beside it for the policy", listen_url);
    }
    limits.message_bytes_max = policy_bytes;
    rc = aq_publisher_create(publisher_url, &limits, &learner->publisher, error);
    if (rc) {
        return rc;
    }
    (void)snprintf(learner->policy_url, sizeof(learner->policy_url), "%s",
                   aq_publisher_url(learner->publisher));
    return 0;
}

static int create_service(aq_learner *learner, aq_error *error)
{
    aq_learner_identity identity = {
        .run_id = learner->folder.run_id,
        .settings = &learner->plan.settings,
        .policy_url = learner->policy_url,
        .algorithm = learner->plan.algorithm_class->name,
        .precision = aq_format_name(aq_run_config_format(&learner->plan.config)),
    };
    aq_learner_service_owner owner = aq_learner_service_events;
    owner.user = learner;
    int rc = aq_learner_service_create(&identity, learner->coordinator, learner->shelf, &owner,
                                       &learner->service);
    if (rc) {
        return aq_fail(error, rc, "out of memory");
    }
    aq_learner_service_restore_gap(learner->service, &learner->gap_before);
    return 0;
}

static void say_what_runs(const aq_learner *learner)
{
    char problem[1024];
    char network[128];
    char quoted[2048];
    aq_log(AQ_LOG_INFO, "blas", "", "core=%s threads=%" PRIu64, aq_blas_core(),
           learner->plan.config.learner.threads);
    if (aq_blas_problem(problem, sizeof(problem))) {
        aq_log(AQ_LOG_WARN, "blas_slow", problem, "core=%s", aq_blas_core());
    }
    aq_learner_energy_say(learner);
    aq_daemon_security_say(&learner->security, aq_rpc_server_url(learner->server));
    aq_log(AQ_LOG_INFO, "ready", "",
           "run=%s run_id=%016" PRIx64 " task=%s seed=%" PRIu64 " url=%s policy_url=%s network=%s",
           aq_log_quote(quoted, sizeof(quoted), learner->folder.path), learner->folder.run_id,
           learner->plan.settings.task, learner->plan.config.seed,
           aq_rpc_server_url(learner->server), learner->policy_url,
           aq_net_spec_text(learner->plan.algorithm_class->spec(learner->algorithm), network,
                            sizeof(network)));
}

static int make_plan(aq_learner *learner, const aq_run_config *given, aq_error *error)
{
    aq_run_config config = *given;
    int rc = aq_learner_take_up_settings(learner, &config, error);
    return rc ? rc : aq_run_plan_make(&config, &learner->plan, error);
}

static int create(aq_learner *learner, const aq_run_config *config, aq_error *error)
{
    int rc = aq_daemon_security_open(&learner->security, &learner->options->daemon,
                                     learner->options->listen_url, error);
    if (!rc) {
        rc = make_plan(learner, config, error);
    }
    if (rc) {
        return rc;
    }
    if (learner->plan.config.learner.normalize_obs) {
        learner->normalized = aq_normalized_class(learner->plan.algorithm_class);
        learner->plan.algorithm_class = &learner->normalized;
    }
    aq_blas_set_threads(learner->plan.algorithm_class->has_own_threads
                            ? 1
                            : (unsigned)learner->plan.config.learner.threads);
    rc = open_run(learner, error);
    if (!rc) {
        rc = aq_learner_energy_create(learner, error);
    }
    if (!rc) {
        rc = create_cores(learner, error);
    }
    if (!rc) {
        rc = aq_learner_restore(learner, error);
    }
    if (!rc && learner->folder.resumed) {
        rc = aq_learner_keep_settings(learner, error);
    }
    if (!rc) {
        rc = create_service(learner, error);
    }
    if (!rc) {
        rc = aq_learner_dashboard_create(learner, error);
    }
    if (!rc) {
        rc = open_sockets(learner, error);
    }
    if (!rc) {
        rc = aq_learner_http_create(learner, error);
    }
    if (!rc) {
        rc = aq_learner_training_create(learner, error);
    }
    if (!rc && start_timers(learner)) {
        rc = aq_fail(error, AQ_E_UNSUPPORTED, "signals could not be watched");
    }
    if (!rc) {
        rc = aq_learner_training_start(learner, error);
    }
    if (!rc) {
        rc = aq_notify_create(&learner->loop, &learner->notify, error);
    }
    return rc;
}

static void close_handle(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

/* Sockets first, so that nothing comes in; then what their calls point at. */
static void destroy(aq_learner *learner)
{
    aq_learner_training_stop(learner);
    if (learner->service) {
        aq_learner_service_checkpointed(learner->service, NULL, 0, "the learner stops");
    }
    aq_rpc_server_close(learner->server);
    aq_daemon_http_close(learner->http);
    aq_learner_training_destroy(learner);
    aq_publisher_close(learner->publisher);
    aq_notify_close(learner->notify);
    uv_walk(&learner->loop, close_handle, NULL);
    uv_run(&learner->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&learner->loop);

    aq_prefetch_destroy(learner->prefetch);
    aq_rpc_dispatcher_destroy(learner->dispatcher);
    aq_daemon_security_close(&learner->security);
    aq_learner_service_destroy(learner->service);
    aq_policy_shelf_destroy(learner->shelf);
    aq_coordinator_destroy(learner->coordinator);
    if (learner->algorithm) {
        learner->plan.algorithm_class->destroy(learner->algorithm);
    }
    aq_metrics_close(learner->metrics);
    aq_learner_dashboard_destroy(learner);
    aq_learner_energy_destroy(learner);
    aq_checkpoint_store_close(learner->store);
    aq_learner_checkpoint_context_fini(&learner->checkpoint_context);
    aq_snapshot_unref(learner->best.snapshot);
    aq_snapshot_unref(learner->best.twin);
    pthread_mutex_destroy(&learner->checkpoint_lock);
    aq_free(learner->config_text);
    aq_free(learner);
}

int aq_learner_run(const aq_run_config *config, const aq_learner_options *options, aq_error *error)
{
    aq_learner *learner = aq_alloc(1, sizeof(*learner));
    if (!learner) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    learner->options = options;
    learner->started_ns = aq_clock_monotonic_ns();
    learner->ticked_ns = learner->started_ns;
    learner->window.begun_ns = learner->started_ns;
    learner->window.loss = learner->window.q_mean = learner->window.staleness = NAN;
    learner->window.answer_ms = NAN;
    pthread_mutex_init(&learner->checkpoint_lock, NULL);
    if (uv_loop_init(&learner->loop)) {
        aq_free(learner);
        return aq_fail(error, AQ_E_NOMEM, "the event loop could not be made");
    }
    int rc = create(learner, config, error);
    if (!rc) {
        learner->checkpoint_due_ns =
            learner->started_ns +
            (int64_t)(learner->plan.config.learner.checkpoint_period_s * (double)AQ_NS_PER_S);
        aq_log_set_run_level(learner->plan.config.log.level);
        say_what_runs(learner);
        uv_run(&learner->loop, UV_RUN_DEFAULT);
        finish_training(learner);
        if (learner->ended) {
            aq_learner_say_ended(learner);
            learner->farewell_ns = aq_clock_monotonic_ns();
            uv_run(&learner->loop, UV_RUN_DEFAULT);
        }
        aq_learner_energy_end(learner);
        aq_log(AQ_LOG_INFO, "exit", "", "state=%s",
               aq_run_state_name(aq_coordinator_state(learner->coordinator)));
        if (learner->stuck) {
            rc = aq_fail(error, AQ_E_IO, "a connection could not be closed");
        }
    }
    destroy(learner);
    return rc;
}
