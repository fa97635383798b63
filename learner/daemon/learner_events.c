/*
 * Learner events: see learner_events.h.
 */
#include "learner/daemon/learner_events.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/sys/log.h"
#include "common/wire/wire_frame.h"
#include "learner/daemon/configure_call.h"
#include "learner/daemon/learner_parts.h"

static int64_t event_now_ns(void *user)
{
    (void)user;
    return aq_clock_monotonic_ns();
}

static void event_joined(void *user, const aq_member_record *record, bool again)
{
    aq_learner_events *events = user;
    aq_log_limited(again ? &events->again_limit : &events->joined_limit, aq_clock_monotonic_ns(),
                   again ? AQ_LOG_DEBUG : AQ_LOG_INFO, "member_joined", "",
                   "member=%" PRIu64 " member_role=%s slot=%" PRIu32 " host=%s pid=%" PRIu32
                   " address=%s",
                   record->member, aq_role_name(record->role), record->slot,
                   AQ_LOG_QUOTED(record->host), record->pid, record->address);
}

static void event_version_seen(void *user, uint64_t version)
{
    aq_learner_events *events = user;
    aq_version_numbers_see(&events->parts->versions, version);
}

static void event_energy_anew(void *user, const aq_member_record *record)
{
    const aq_learner_events *events = user;
    aq_energy_account_anew(events->parts->energy, record);
}

static void event_left(void *user, const aq_member_record *record, const char *reason)
{
    aq_learner_events *events = user;
    aq_energy_account_left(events->parts->energy, record);
    aq_log_limited(&events->left_limit, aq_clock_monotonic_ns(), AQ_LOG_INFO, "member_left", "",
                   "member=%" PRIu64 " member_role=%s slot=%" PRIu32 " reason=%s", record->member,
                   aq_role_name(record->role), record->slot, AQ_LOG_QUOTED(reason));
}

/* What the shard's table holds counts for the next samples. */
static void event_replay_said(void *user, const aq_member_record *record,
                              const Actorq__V1__ReplayStats *stats)
{
    aq_learner_events *events = user;
    for (size_t i = 0; i < stats->n_tables; i++) {
        if (strcmp(stats->tables[i]->name, events->parts->live.now.table.name) == 0) {
            aq_training_tell_mass(events->parts->training, record->incarnation,
                                  stats->tables[i]->mass);
        }
    }
}

static void event_energy_said(void *user, const aq_member_record *record,
                              const Actorq__V1__EnergyStats *stats)
{
    aq_learner_events *events = user;
    aq_energy_account_told(events->parts->energy, record, stats);
}

static void event_evaluated(void *user, const aq_evaluation_result *result, bool is_best)
{
    aq_learner_events *events = user;
    if (events->is_over) {
        return; /* an evaluator that had not heard of the end yet */
    }
    aq_log(result->confirmed && !result->ranks_only ? AQ_LOG_INFO : AQ_LOG_DEBUG, "evaluated", "",
           "version=%" PRIu64 " format=%s episodes=%" PRIu32
           " return_mean=%.2f return_std=%.2f confirmed=%d ranks_only=%d",
           result->version, aq_format_name(result->format), result->episodes, result->return_mean,
           result->return_std, result->confirmed, result->ranks_only);
    const aq_snapshot *kept = events->parts->best.snapshot;
    aq_run_report_evaluated(events->parts->report, result,
                            is_best && (kept == NULL || kept->version != result->version));
    if (is_best && !aq_best_policy_keep(&events->parts->best, events->parts->shelf,
                                        aq_coordinator_best(events->parts->coordinator))) {
        aq_log(AQ_LOG_WARN, "best_policy_gone",
               "the evaluated version is no longer held; a later one will be kept",
               "version=%" PRIu64, result->version);
    }
}

static void event_compared(void *user, const aq_version_gap *gap)
{
    aq_learner_events *events = user;
    aq_log(AQ_LOG_DEBUG, "compared", "",
           "version=%" PRIu64 " episodes=%" PRIu32 " return_fp32=%.2f gap=%.3f", gap->version,
           gap->episodes, gap->return_fp32, gap->mean);
    aq_run_report_compared(events->parts->report, gap);
}

static void event_stop_asked(void *user, const char *peer, const char *reason)
{
    (void)user;
    aq_log(AQ_LOG_INFO, "stop_asked", "the run ends for everybody", "peer=%s reason=%s", peer,
           AQ_LOG_QUOTED(reason));
}

static void event_drain_asked(void *user, const aq_member_record *record, const char *peer,
                              const char *reason)
{
    (void)user;
    aq_log(AQ_LOG_INFO, "drain_asked", "it hears with its next heartbeat",
           "member=%" PRIu64 " member_role=%s slot=%" PRIu32 " peer=%s reason=%s", record->member,
           aq_role_name(record->role), record->slot, peer, AQ_LOG_QUOTED(reason));
}

static void event_configure(void *user, const Actorq__V1__ConfigureRequest *request,
                            Actorq__V1__ConfigureReply_Closure closure, void *call)
{
    const aq_learner_events *events = user;
    aq_configure_call(events->parts, request, closure, call);
}

static void event_checkpoint_asked(void *user)
{
    aq_learner_events *events = user;
    if (events->is_over) {
        aq_learner_service_checkpointed(events->parts->service, NULL, 0, "the learner ends");
    } else if (!aq_checkpointer_is_busy(events->parts->checkpointer)) {
        aq_training_checkpoint(events->parts->training);
    }
}

static void event_status(void *user, Actorq__V1__StatusReply *reply,
                         Actorq__V1__LearnerStatus *status)
{
    aq_learner_events *events = user;
    const aq_run_config *config = &events->parts->live.now.config;
    const aq_rpc_counters counters = aq_rpc_dispatcher_counters(events->parts->ports.dispatcher);
    reply->uptime_s = aq_ns_to_s(aq_clock_monotonic_ns() - events->parts->started_ns);
    reply->run_dir = aq_wire_text(events->parts->folder.path);
    reply->http = aq_wire_text(aq_learner_pages_url(events->parts->pages));
    status->env_steps_limit = config->limits.env_steps;
    status->learner_steps_limit = config->limits.learner_steps;
    status->wall_limit_s = config->limits.wall_s;
    status->checkpoint_step = aq_checkpointer_step(events->parts->checkpointer);
    status->rejected_messages = counters.refused_frames;
    aq_run_report_status(events->parts->report, status);
}

aq_learner_service_owner aq_learner_events_owner(aq_learner_events *events)
{
    events->joined_limit = events->again_limit = events->left_limit = AQ_LOG_LIMIT_OF_MEMBERS;
    return (aq_learner_service_owner){
        .user = events,
        .now_ns = event_now_ns,
        .joined = event_joined,
        .version_seen = event_version_seen,
        .energy_anew = event_energy_anew,
        .left = event_left,
        .replay_said = event_replay_said,
        .energy_said = event_energy_said,
        .evaluated = event_evaluated,
        .compared = event_compared,
        .stop_asked = event_stop_asked,
        .drain_asked = event_drain_asked,
        .configure = event_configure,
        .checkpoint_asked = event_checkpoint_asked,
        .status = event_status,
    };
}
