/*
 * The phases of taking part. Hooks and callbacks only note what happened; aq_participant_tick acts,
 * since only it knows the time.
 */
#include "actor/session/participant_session.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/security/incarnation.h"
#include "common/sys/log.h"
#include "common/sys/machine.h"

struct aq_participant {
    aq_participant_hooks hooks;
    const aq_policy_session *policy;
    aq_member *member;
    uint64_t start; /* what is said of the incarnation */
    enum aq_participant_phase phase;
    int exit_code;
    bool was_ready;
    int64_t now_ns; /* of the last tick */
    int64_t member_next_ns;
    int64_t deadline_ns; /* of FINISHING and LEAVING; INT64_MIN: to be set by the next tick */
    const char *reason;  /* of leaving; static storage */
    aq_log_limit unreachable_limit;
    Actorq__V1__ActorStats stats;
    int64_t told_ns; /* when steps were told */
    uint64_t told_steps;
};

static void set_phase(aq_participant *participant, enum aq_participant_phase phase)
{
    participant->phase = phase;
    participant->deadline_ns = INT64_MIN;
}

/* `reason` is a constant of the program. */
static void begin_finish(aq_participant *participant, const char *reason)
{
    participant->reason = reason;
    set_phase(participant, AQ_PARTICIPANT_FINISHING);
    participant->hooks.finish(participant->hooks.user);
}

/* Nothing that waiting could mend. */
static void give_up(aq_participant *participant, const char *event, const char *text)
{
    aq_log(AQ_LOG_ERROR, event, "this process ends", "reason=%s", AQ_LOG_QUOTED(text));
    participant->exit_code = EXIT_FAILURE;
    participant->reason = "it cannot take part";
    set_phase(participant, AQ_PARTICIPANT_LEAVING);
}

/* ---- what the member tells ------------------------------------------------------------------ */

static void on_joined(void *user, const aq_member_view *view, int again)
{
    aq_participant *participant = user;
    aq_error error = {0};
    if (participant->phase != AQ_PARTICIPANT_JOINING &&
        participant->phase != AQ_PARTICIPANT_TAKING_PART) {
        return;
    }
    if (participant->hooks.joined(participant->hooks.user, view, again, &error) != 0) {
        give_up(participant, "cannot_take_part", error.text);
        return;
    }
    participant->phase = AQ_PARTICIPANT_TAKING_PART;
    if (!again) { /* else steps and time go on from what was told last */
        participant->told_ns = participant->now_ns;
    }
    aq_log_set_run_level(view->settings.config.log.level);
    aq_log(AQ_LOG_INFO, "joined", "",
           "run_id=%016" PRIx64 " member=%" PRIu64 " slot=%" PRIu32
           " task=%s incarnation=%016" PRIx64 " again=%s",
           view->run_id, view->member, view->slot, view->settings.task, participant->start,
           again ? "true" : "false");
}

static void on_changed(void *user, const aq_member_view *view)
{
    aq_participant *participant = user;
    aq_error error = {0};
    aq_log_set_run_level(view->settings.config.log.level);
    if (participant->phase == AQ_PARTICIPANT_TAKING_PART &&
        participant->hooks.changed(participant->hooks.user, view, &error) != 0) {
        give_up(participant, "cannot_take_part", error.text);
    }
    if (view->is_asked_to_leave && participant->phase == AQ_PARTICIPANT_TAKING_PART) {
        aq_participant_stop(participant, "the learner asked it to leave");
    }
}

static void on_ended(void *user, const aq_member_view *view, const char *reason)
{
    aq_participant *participant = user;
    if (view->state == AQ_MEMBER_REFUSED) {
        give_up(participant, "refused", reason);
        return;
    }
    aq_log(AQ_LOG_INFO, "run_ended", "this process finishes and ends", "state=%s",
           aq_run_state_name(view->run_state));
    if (participant->phase == AQ_PARTICIPANT_TAKING_PART) {
        begin_finish(participant, "the run ended");
    } else if (participant->phase == AQ_PARTICIPANT_JOINING) {
        participant->reason = "the run had ended";
        set_phase(participant, AQ_PARTICIPANT_LEAVING);
    }
}

static void on_trouble(void *user, const char *reason)
{
    aq_participant *participant = user;
    aq_log_limited(&participant->unreachable_limit, participant->now_ns, AQ_LOG_WARN,
                   "learner_unreachable", "asking again until it answers", "reason=%s",
                   AQ_LOG_QUOTED(reason));
}

/* Steps are counted from 0 again in a new run. */
static double steps_per_s(aq_participant *participant, uint64_t steps)
{
    const int64_t elapsed_ns = participant->now_ns - participant->told_ns;
    const uint64_t told = steps >= participant->told_steps ? participant->told_steps : 0;
    participant->told_ns = participant->now_ns;
    participant->told_steps = steps;
    return elapsed_ns > 0 ? (double)(steps - told) / aq_ns_to_s(elapsed_ns) : 0;
}

static void on_statistics(void *user, Actorq__V1__HeartbeatRequest *request)
{
    aq_participant *participant = user;
    const aq_policy_news news = aq_policy_session_news(participant->policy);
    Actorq__V1__ActorStats *stats = &participant->stats;
    actorq__v1__actor_stats__init(stats);
    participant->hooks.statistics(participant->hooks.user, stats);
    stats->rejected_policies = news.rejected;
    stats->policy_gaps = news.gaps;
    stats->resident_bytes = aq_machine_resident_bytes();
    stats->steps_per_s = steps_per_s(participant, stats->env_steps);
    request->actor = stats;
}

static uint64_t on_seen_version(void *user)
{
    const aq_participant *participant = user;
    return aq_policy_session_news(participant->policy).version;
}

/* ---- life ----------------------------------------------------------------------------------- */

int aq_participant_create(aq_rpc_channel *learner, const aq_member_identity *identity,
                          const aq_participant_hooks *hooks, const aq_policy_session *policy,
                          uint64_t seed, aq_participant **ret_participant)
{
    aq_participant *participant = aq_alloc(1, sizeof(*participant));
    if (participant == NULL) {
        return AQ_E_NOMEM;
    }
    participant->hooks = *hooks;
    participant->policy = policy;
    participant->start = aq_incarnation_name(identity->incarnation);
    participant->exit_code = EXIT_SUCCESS;
    actorq__v1__actor_stats__init(&participant->stats);
    participant->stats.return_mean = NAN;
    const aq_member_owner owner = {
        .user = participant,
        .joined = on_joined,
        .changed = on_changed,
        .ended = on_ended,
        .trouble = on_trouble,
        .statistics = on_statistics,
        .seen_version = on_seen_version,
    };
    int rc = aq_member_create(learner, identity, &owner, seed, &participant->member);
    if (rc != 0) {
        aq_free(participant);
        return rc;
    }
    *ret_participant = participant;
    return 0;
}

void aq_participant_destroy(aq_participant *participant)
{
    if (participant == NULL) {
        return;
    }
    aq_member_destroy(participant->member);
    aq_free(participant);
}

static void on_left(void *user)
{
    aq_participant *participant = user;
    if (participant->phase == AQ_PARTICIPANT_LEAVING) {
        aq_log(AQ_LOG_INFO, "left", "", "");
        set_phase(participant, AQ_PARTICIPANT_DONE);
    }
}

static bool is_run_over(const aq_participant *participant)
{
    return aq_member_look(participant->member)->state == AQ_MEMBER_ENDED;
}

/* Of what is given up is told before the last line. */
static void begin_leaving(aq_participant *participant)
{
    if (participant->hooks.leaving != NULL) {
        participant->hooks.leaving(participant->hooks.user);
    }
    set_phase(participant, AQ_PARTICIPANT_LEAVING);
}

/* The line closes the account of this process: what it stepped, what of that is stored, and how
 * much of it in the stores that its shards have now. */
static void end_finish(aq_participant *participant, bool complete)
{
    enum aq_log_level level = AQ_LOG_INFO;
    const char *message = "";
    Actorq__V1__ActorStats stats;
    actorq__v1__actor_stats__init(&stats);
    participant->hooks.statistics(participant->hooks.user, &stats);
    if (!complete && is_run_over(participant)) {
        message = "the run is over: nobody learns from the rest";
    } else if (!complete) {
        level = AQ_LOG_WARN;
        message = "the rest is given up";
    }
    aq_log(level, "drained", message,
           "complete=%s env_steps=%" PRIu64 " acknowledged_steps=%" PRIu64 " shard_steps=%" PRIu64
           " unacknowledged=%" PRIu64,
           complete ? "true" : "false", stats.env_steps, stats.acknowledged_steps,
           stats.shard_steps, stats.unacknowledged);
    begin_leaving(participant);
}

/* Sets the phase's deadline at its first tick; true when it has passed. */
static bool is_late(aq_participant *participant, int64_t limit_ms)
{
    if (participant->deadline_ns == INT64_MIN) {
        participant->deadline_ns = participant->now_ns + limit_ms * AQ_NS_PER_MS;
    }
    return participant->now_ns >= participant->deadline_ns;
}

static void tick_leaving(aq_participant *participant)
{
    bool first = participant->deadline_ns == INT64_MIN;
    if (is_late(participant, AQ_LEAVE_MS_MAX)) {
        aq_log(AQ_LOG_WARN, "left", "the learner did not answer and will find out by itself", "");
        set_phase(participant, AQ_PARTICIPANT_DONE);
    } else if (first) {
        aq_member_leave(participant->member, participant->reason, on_left, participant);
    }
}

static enum aq_finish_state finish_state(const aq_participant *participant)
{
    return participant->hooks.finished(participant->hooks.user);
}

/* Whether FINISHING has nothing left to wait for. */
static bool has_nothing_to_finish(const aq_participant *participant)
{
    return finish_state(participant) != AQ_FINISH_PENDING ||
           (participant->hooks.ends_with_run && is_run_over(participant));
}

void aq_participant_tick(aq_participant *participant, int64_t now_ns)
{
    participant->now_ns = now_ns;
    aq_member_tick(participant->member, now_ns, &participant->member_next_ns);
    if (participant->phase == AQ_PARTICIPANT_FINISHING) {
        if (has_nothing_to_finish(participant) || is_late(participant, AQ_FINISH_MS_MAX)) {
            end_finish(participant, finish_state(participant) == AQ_FINISH_COMPLETE);
        }
    }
    if (participant->phase == AQ_PARTICIPANT_LEAVING) {
        tick_leaving(participant);
    }
}

int64_t aq_participant_next_ns(const aq_participant *participant)
{
    int64_t next_ns = participant->member_next_ns;
    if (participant->phase == AQ_PARTICIPANT_FINISHING && has_nothing_to_finish(participant)) {
        return INT64_MIN; /* it became so after the last tick */
    }
    bool timed = participant->phase == AQ_PARTICIPANT_FINISHING ||
                 participant->phase == AQ_PARTICIPANT_LEAVING;
    return timed && participant->deadline_ns < next_ns ? participant->deadline_ns : next_ns;
}

void aq_participant_stop(aq_participant *participant, const char *reason)
{
    switch (participant->phase) {
    case AQ_PARTICIPANT_TAKING_PART:
        aq_log(AQ_LOG_INFO, "stopping", "what is under way is finished first", "reason=%s",
               AQ_LOG_QUOTED(reason));
        begin_finish(participant, reason);
        break;
    case AQ_PARTICIPANT_JOINING:
    case AQ_PARTICIPANT_FINISHING:
        participant->reason = reason;
        begin_leaving(participant);
        break;
    case AQ_PARTICIPANT_LEAVING:
    case AQ_PARTICIPANT_DONE:
        break;
    }
}

void aq_participant_ready(aq_participant *participant, int64_t startup_ns, uint32_t envs)
{
    if (!participant->was_ready) {
        participant->was_ready = true;
        aq_log(AQ_LOG_INFO, "ready", "", "startup_ms=%.1f resident_bytes=%" PRIu64 " envs=%" PRIu32,
               (double)startup_ns / (double)AQ_NS_PER_MS, aq_machine_resident_bytes(), envs);
    }
}

enum aq_participant_phase aq_participant_phase_of(const aq_participant *participant)
{
    return participant->phase;
}

int aq_participant_exit_code(const aq_participant *participant)
{
    AQ_ASSERT(participant->phase == AQ_PARTICIPANT_DONE);
    return participant->exit_code;
}

const Actorq__V1__ActorStats *aq_participant_stats(const aq_participant *participant)
{
    return &participant->stats;
}

const aq_member_view *aq_participant_look(const aq_participant *participant)
{
    return aq_member_look(participant->member);
}
