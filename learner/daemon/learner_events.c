/*
 * The learner daemon: what members do, said in the log, in the metrics and in the status.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "common/base/clock.h"
#include "learner/daemon/learner_net_priv.h"

/* The shortest time between lines about screenings that changed nothing. */
#define EVALUATION_LINE_NS (100 * AQ_NS_PER_MS)

const char *aq_run_state_name(enum aq_run_state state)
{
    switch (state) {
    case AQ_RUN_RUNNING:
        return "running";
    case AQ_RUN_SOLVED:
        return "solved";
    case AQ_RUN_BUDGET:
        return "budget";
    case AQ_RUN_STOPPED:
        return "stopped";
    case AQ_RUN_DIVERGED:
        return "diverged";
    }
    return "unknown";
}

static const char *role_name(enum aq_role role)
{
    switch (role) {
    case AQ_ROLE_ACTOR:
        return "actor";
    case AQ_ROLE_EVALUATOR:
        return "evaluator";
    case AQ_ROLE_REPLAY:
        return "replay";
    }
    return "unknown";
}

static int64_t event_now_ns(void *user)
{
    (void)user;
    return aq_clock_monotonic_ns();
}

static void event_joined(void *user, const aq_member_record *record, bool again)
{
    aq_learner *learner = user;
    char host[2 * AQ_HOST_MAX];
    aq_log(again ? AQ_LOG_DEBUG : AQ_LOG_INFO, "member_joined", "",
           "member=%" PRIu64 " member_role=%s slot=%" PRIu32 " host=%s pid=%" PRIu32 " address=%s",
           record->member, role_name(record->role), record->slot,
           aq_log_quote(host, sizeof(host), record->host), record->pid, record->address);
    aq_shard_links_follow(learner->links, learner->coordinator);
}

static void event_left(void *user, const aq_member_record *record, const char *reason)
{
    (void)user;
    char quoted[512];
    aq_log(AQ_LOG_INFO, "member_left", "",
           "member=%" PRIu64 " member_role=%s slot=%" PRIu32 " reason=%s", record->member,
           role_name(record->role), record->slot, aq_log_quote(quoted, sizeof(quoted), reason));
}

static void keep_best(aq_learner *learner, const aq_evaluation_result *result)
{
    const aq_publication *evaluated = aq_policy_shelf_find(learner->shelf, result->version);
    if (!evaluated && learner->best.snapshot &&
        learner->best.snapshot->version == result->version) {
        learner->best.result = *result; /* evaluated once more */
        return;
    }
    if (!evaluated) {
        aq_log(AQ_LOG_WARN, "best_policy_gone",
               "the evaluated version is no longer held; a later one will be kept",
               "version=%" PRIu64, result->version);
        return;
    }
    aq_snapshot_unref(learner->best.snapshot);
    aq_snapshot_unref(learner->best.twin);
    learner->best = (aq_best_policy){
        .snapshot = aq_snapshot_ref(evaluated->snapshot),
        .twin = aq_snapshot_ref(evaluated->twin),
        .result = *result,
        .unwritten = true,
    };
}

void aq_learner_say_metrics_failed(aq_learner *learner, const aq_error *error)
{
    uint64_t suppressed = 0;
    char quoted[2 * AQ_ERROR_TEXT_MAX];
    if (aq_log_allowed(&learner->metrics_limit, aq_clock_monotonic_ns(), &suppressed)) {
        aq_log(AQ_LOG_WARN, "metrics_failed", "training goes on without this line",
               "error=%s suppressed=%" PRIu64, aq_log_quote(quoted, sizeof(quoted), error->text),
               suppressed);
    }
}

/* A fast evaluator screens hundreds of versions a second: of those that change nothing a few are
 * enough for the curve. */
static void record_evaluation(aq_learner *learner, const aq_evaluation_result *result, bool best)
{
    int64_t now_ns = aq_clock_monotonic_ns();
    if (!best && !result->confirmed && now_ns < learner->evaluation_line_ns) {
        return;
    }
    learner->evaluation_line_ns = now_ns + EVALUATION_LINE_NS;
    aq_error error;
    if (aq_metrics_evaluation(learner->metrics, aq_coordinator_wall_s(learner->coordinator, now_ns),
                              aq_coordinator_env_steps(learner->coordinator), result, &error)) {
        aq_learner_say_metrics_failed(learner, &error);
    }
}

static void event_evaluated(void *user, const aq_evaluation_result *result, bool best)
{
    aq_learner *learner = user;
    if (learner->ended) {
        return; /* an evaluator that had not heard of the end yet */
    }
    aq_log(result->confirmed ? AQ_LOG_INFO : AQ_LOG_DEBUG, "evaluated", "",
           "version=%" PRIu64 " episodes=%" PRIu32 " return_mean=%.2f return_std=%.2f confirmed=%d",
           result->version, result->episodes, result->return_mean, result->return_std,
           result->confirmed);
    record_evaluation(learner, result, best);
    if (best) {
        keep_best(learner, result);
    }
}

static void event_compared(void *user, const aq_version_gap *gap)
{
    aq_learner *learner = user;
    aq_error error;
    aq_log(AQ_LOG_DEBUG, "compared", "",
           "version=%" PRIu64 " episodes=%" PRIu32 " return_fp32=%.2f gap=%.3f", gap->version,
           gap->episodes, gap->return_fp32, gap->mean);
    if (aq_metrics_gap(learner->metrics,
                       aq_coordinator_wall_s(learner->coordinator, aq_clock_monotonic_ns()),
                       aq_coordinator_env_steps(learner->coordinator), gap, &error)) {
        aq_learner_say_metrics_failed(learner, &error);
    }
}

static void event_stop_asked(void *user, const char *peer, const char *reason)
{
    (void)user;
    char quoted[512];
    aq_log(AQ_LOG_INFO, "stop_asked", "the run ends for everybody", "peer=%s reason=%s", peer,
           aq_log_quote(quoted, sizeof(quoted), reason));
}

static void event_drain_asked(void *user, const aq_member_record *record, const char *peer,
                              const char *reason)
{
    (void)user;
    char quoted[512];
    aq_log(AQ_LOG_INFO, "drain_asked", "it hears with its next heartbeat",
           "member=%" PRIu64 " member_role=%s slot=%" PRIu32 " peer=%s reason=%s", record->member,
           role_name(record->role), record->slot, peer,
           aq_log_quote(quoted, sizeof(quoted), reason));
}

static void event_checkpoint_asked(void *user)
{
    aq_learner *learner = user;
    if (learner->ended || learner->signalled) {
        aq_learner_service_checkpointed(learner->service, NULL, 0, "the run has ended");
    } else if (!atomic_load(&learner->checkpoint_running)) {
        aq_learner_checkpoint_request(learner);
    }
}

static void event_status(void *user, Actorq__V1__StatusReply *reply,
                         Actorq__V1__LearnerStatus *status)
{
    aq_learner *learner = user;
    const aq_learner_window *window = &learner->window;
    aq_rpc_counters counters = aq_rpc_dispatcher_counters(learner->dispatcher);
    int64_t now_ns = aq_clock_monotonic_ns();
    reply->uptime_s = (double)(now_ns - learner->started_ns) / (double)AQ_NS_PER_S;
    reply->run_dir = learner->folder.path;
    reply->http = (char *)(uintptr_t)aq_daemon_http_url(learner->http);
    status->env_steps_limit = learner->plan.config.limits.env_steps;
    status->learner_steps = aq_trainer_step(learner->trainer);
    status->batch_wait_share = window->wait_share;
    status->learner_steps_per_s = window->learner_steps_per_s;
    status->env_steps_per_s = window->env_steps_per_s;
    status->loss = window->loss;
    status->q_mean = window->q_mean;
    status->staleness_mean = window->staleness;
    status->checkpoint_step = learner->checkpoint_step;
    status->rejected_messages = counters.refused_frames;
    aq_learner_replay_status(learner, status->replay_use);
    aq_learner_energy_status(learner, status);
}

const aq_learner_service_owner aq_learner_service_events = {
    .now_ns = event_now_ns,
    .joined = event_joined,
    .left = event_left,
    .replay_said = aq_learner_replay_said,
    .energy_said = aq_learner_energy_said,
    .evaluated = event_evaluated,
    .compared = event_compared,
    .stop_asked = event_stop_asked,
    .drain_asked = event_drain_asked,
    .configure = aq_learner_configure,
    .checkpoint_asked = event_checkpoint_asked,
    .status = event_status,
};

/* ---- once a second -------------------------------------------------------------------------- */

static void move_window(aq_learner *learner, int64_t now_ns)
{
    aq_trainer_progress progress;
    aq_trainer_look(learner->trainer, &progress);
    const aq_trainer_sums *sums = &progress.sums;
    aq_learner_window *window = &learner->window;
    uint64_t env_steps = aq_coordinator_env_steps(learner->coordinator);
    double seconds = (double)(now_ns - window->begun_ns) / (double)AQ_NS_PER_S;
    if (seconds <= 0) {
        return;
    }
    const aq_publication *newest = aq_policy_shelf_newest(learner->shelf);
    double newest_version = newest ? (double)newest->snapshot->version : 0;
    window->env_steps_per_s = (double)(env_steps - window->env_steps) / seconds;
    window->learner_steps_per_s = (double)sums->steps / seconds;
    window->loss = sums->steps ? sums->loss / (double)sums->steps : NAN;
    window->q_mean = sums->steps ? sums->q_mean / (double)sums->steps : NAN;
    window->staleness =
        sums->version_rows
            ? fmax(0, newest_version - sums->version_sum / (double)sums->version_rows)
            : NAN;
    aq_learner_replay_window(learner, sums);
    window->wait_share = fmin(1, (double)progress.waited_ns / (double)AQ_NS_PER_S / seconds);
    window->env_steps = env_steps;
    window->learner_steps = progress.step;
    window->begun_ns = now_ns;

    uint64_t suppressed = 0;
    if (sums->failed_steps && aq_log_allowed(&learner->train_limit, now_ns, &suppressed)) {
        aq_log(AQ_LOG_ERROR, "train_step_failed",
               "loss or gradient was not finite; the parameters are as they were",
               "steps=%" PRIu64 " suppressed=%" PRIu64, sums->failed_steps, suppressed);
    }
}

static void write_progress(aq_learner *learner, int64_t now_ns)
{
    const aq_learner_window *window = &learner->window;
    const aq_publication *newest = aq_policy_shelf_newest(learner->shelf);
    aq_shelf_totals totals = aq_policy_shelf_totals(learner->shelf);
    aq_actors_summary summary = aq_learner_service_summary(learner->service);
    aq_metrics_sample sample = {
        .wall_s = aq_coordinator_wall_s(learner->coordinator, now_ns),
        .env_steps = window->env_steps,
        .learner_steps = window->learner_steps,
        .env_steps_per_s = window->env_steps_per_s,
        .learner_steps_per_s = window->learner_steps_per_s,
        .loss = window->loss,
        .q_mean = window->q_mean,
        .staleness = window->staleness,
        .training_return = summary.return_mean,
        .policy_version = newest ? newest->snapshot->version : 0,
        .policy_versions = totals.versions,
        .policy_deltas = totals.deltas,
        .broadcast_bytes = totals.bytes,
        .broadcast_bytes_fp32 = totals.bytes_fp32,
        .action_disagreement = newest ? (double)newest->measured.action_disagreement : NAN,
        .actors = summary.actors,
        .evaluators = summary.evaluators,
        .shards = summary.shards,
        .batch_wait_share = window->wait_share,
    };
    aq_error error;
    aq_learner_replay_metrics(learner, &sample);
    sample.time = aq_learner_time_metrics(learner);
    sample.energy = aq_learner_energy_metrics(learner);
    if (aq_metrics_progress(learner->metrics, &sample, &error)) {
        aq_learner_say_metrics_failed(learner, &error);
    }
    json_decref(sample.replay);
    json_decref(sample.replay_use);
    json_decref(sample.time);
    json_decref(sample.energy);
}

static void watch_for_foreign_peers(aq_learner *learner, int64_t now_ns)
{
    uint64_t foreign = aq_rpc_server_foreign_peers(learner->server);
    uint64_t suppressed = 0;
    if (foreign != learner->foreign_peers_seen &&
        aq_log_allowed(&learner->foreign_limit, now_ns, &suppressed)) {
        aq_log(AQ_LOG_WARN, "foreign_peer",
               "a connection spoke something else than this protocol and was closed",
               "count=%" PRIu64, foreign - learner->foreign_peers_seen);
        learner->foreign_peers_seen = foreign;
    }
}

void aq_learner_second(aq_learner *learner, int64_t now_ns)
{
    move_window(learner, now_ns);
    write_progress(learner, now_ns);
    watch_for_foreign_peers(learner, now_ns);
    aq_daemon_peers_watch(&learner->peers, now_ns);
}

/* ---- the end -------------------------------------------------------------------------------- */

void aq_learner_say_ended(aq_learner *learner)
{
    aq_error error;
    aq_shelf_totals totals = aq_policy_shelf_totals(learner->shelf);
    const aq_evaluation_result *best = aq_coordinator_best(learner->coordinator);
    aq_metrics_outcome outcome = {
        .state = aq_run_state_name(aq_coordinator_state(learner->coordinator)),
        .wall_s = aq_coordinator_wall_s(learner->coordinator, aq_clock_monotonic_ns()),
        .env_steps = aq_coordinator_env_steps(learner->coordinator),
        .learner_steps = aq_trainer_step(learner->trainer),
        .policy_versions = totals.versions,
        .policy_deltas = totals.deltas,
        .broadcast_bytes = totals.bytes,
        .broadcast_bytes_fp32 = totals.bytes_fp32,
        .gap = *aq_learner_service_gap(learner->service),
    };
    aq_log(AQ_LOG_INFO, "run_ended", "members are told at their next heartbeat",
           "state=%s env_steps=%" PRIu64 " learner_steps=%" PRIu64 " wall_s=%.2f return_best=%.2f",
           outcome.state, outcome.env_steps, outcome.learner_steps, outcome.wall_s,
           best ? best->return_mean : (double)NAN);
    outcome.energy = aq_learner_energy_metrics(learner);
    outcome.time = aq_learner_time_metrics(learner);
    int rc = aq_metrics_end(learner->metrics, &outcome, &error);
    json_decref(outcome.energy);
    json_decref(outcome.time);
    if (rc) {
        aq_learner_say_metrics_failed(learner, &error);
    }
}
