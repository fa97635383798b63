/*
 * The joints between an evaluator's parts.
 */
#include "actor/session/evaluator_session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "actor/core/evaluation_pace.h"
#include "actor/session/policy_session.h"
#include "actor/session/report_session.h"
#include "actor/session/twin_session.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/sys/log.h"
#include "common/wire/wire_frame.h"
#include "rollout/evaluator_core.h"
#include "rollout/vec_env.h"

/* Of the incarnation's seeds; any number that nobody else uses. */
enum { EVALUATOR_STREAM = 0x6576616c };

struct aq_evaluator_session {
    aq_session_config config;
    aq_participant *participant;
    aq_policy_session *policy;
    aq_report_session *reports;
    aq_twin_session *twins;
    aq_evaluator_core *core; /* NULL: no run yet */
    aq_engine *twin;         /* that the core compares with; NULL: none */
    aq_evaluation confirmed; /* is told once it was compared; version 0: none */
    aq_evaluation_pace pace;
    aq_run_settings settings; /* of the core */
    uint64_t settings_generation;
    uint64_t run_id;     /* 0: no run yet */
    uint64_t generation; /* cores before this one */
    bool is_screened;    /* the answer to that says which version is ranked */
    bool is_finishing;
    int64_t now_ns;   /* of the last tick */
    uint64_t version; /* under evaluation, or evaluated last */

    /* For statistics. */
    uint64_t env_steps;
    uint64_t episodes;
    double return_mean;       /* of the last result */
    uint64_t failures_before; /* of environments, in the run's cores before this one */
    char failure_before[AQ_ENV_FAILURE_MAX]; /* the last of them; "": none */
    uint64_t told_failures;
};

/* ---- a run begins and ends ------------------------------------------------------------------ */

static void drop_core(aq_evaluator_session *session)
{
    if (session->core != NULL) {
        aq_engine *engine;
        const aq_trial *trial = aq_evaluator_core_trial(session->core);
        if (aq_trial_failures(trial) > 0) {
            session->failures_before += aq_trial_failures(trial);
            (void)snprintf(session->failure_before, sizeof(session->failure_before), "%s",
                           aq_trial_failure(trial));
        }
        while ((engine = aq_evaluator_core_set_engine(session->core, NULL)) != NULL) {
            aq_engine_destroy(engine);
        }
        aq_evaluator_core_destroy(session->core);
        session->core = NULL;
    }
    aq_engine_destroy(session->twin);
    session->twin = NULL;
    session->confirmed.version = 0;
    session->is_screened = false;
}

static void forget_run(aq_evaluator_session *session)
{
    session->version = 0;
    session->env_steps = 0;
    session->episodes = 0;
    session->return_mean = (double)NAN;
    session->failures_before = 0;
    session->failure_before[0] = '\0';
}

/* What was not compared is told as it is. */
static void tell_confirmed(aq_evaluator_session *session)
{
    if (session->confirmed.version != 0) {
        aq_report_session_put(session->reports, &session->confirmed);
        session->confirmed.version = 0;
    }
}

/* Two evaluators of one run must not play the same episodes, nor one of them the same again. */
static uint64_t derive_seed(aq_evaluator_session *session, uint64_t seed)
{
    const uint64_t incarnation = session->config.identity.incarnation + session->generation++;
    aq_rng rng;
    aq_rng_init(&rng, seed, EVALUATOR_STREAM);
    aq_rng_init(&rng, aq_rng_next(&rng), incarnation);
    return aq_rng_next(&rng);
}

static int start_run(aq_evaluator_session *session, const aq_member_view *view, aq_error *error)
{
    const aq_run_settings *settings = &view->settings;
    const bool is_new_run = view->run_id != session->run_id;
    aq_env_task task;
    if (!is_new_run) {
        tell_confirmed(session);
    }
    drop_core(session);
    session->told_failures = 0;
    int rc = aq_env_task_find(settings->task, settings->schema_hash, &task, error);
    if (rc == 0) {
        rc = aq_evaluator_core_create(&task, (uint32_t)settings->config.evaluator.screen_episodes,
                                      (uint32_t)settings->config.evaluator.episodes,
                                      settings->evaluation_threshold,
                                      derive_seed(session, settings->seed), &session->core, error);
        if (rc != 0) {
            aq_env_task_fini(&task);
        }
    }
    if (rc != 0) {
        return rc;
    }
    const aq_policy_feed_config feed = {
        .run_id = view->run_id,
        .network_hash = settings->network_hash,
        .task = task,
        .rows_max = aq_trial_lanes(aq_evaluator_core_trial(session->core)),
        .cpu_flags = session->config.cpu_flags,
    };
    aq_twin_session_start(session->twins, view, &feed);
    if (is_new_run) {
        forget_run(session);
        aq_evaluation_pace_init(&session->pace, settings->config.evaluator.share, session->now_ns);
    } else {
        aq_evaluation_pace_set_share(&session->pace, settings->config.evaluator.share,
                                     session->now_ns);
    }
    session->run_id = view->run_id;
    session->settings = *settings;
    session->settings_generation = view->settings_generation;
    rc = aq_policy_session_start(session->policy, view, &feed, /* is_awaited: */ false, error);
    aq_env_task_fini(&task);
    if (rc != 0) {
        drop_core(session);
        return rc;
    }
    aq_report_session_start(session->reports, view);
    return 0;
}

/* Whether a core that was made under `a` can go on under `b`. */
static bool settings_agree(const aq_run_config *a, const aq_run_config *b)
{
    return a->evaluator.screen_episodes == b->evaluator.screen_episodes &&
           a->evaluator.episodes == b->evaluator.episodes;
}

/* The core goes on; what it plays now is judged by the new threshold. */
static void follow_settings(aq_evaluator_session *session, const aq_member_view *view)
{
    session->settings = view->settings;
    session->settings_generation = view->settings_generation;
    aq_evaluator_core_set_threshold(session->core, view->settings.evaluation_threshold);
    aq_evaluation_pace_set_share(&session->pace, view->settings.config.evaluator.share,
                                 session->now_ns);
}

static int on_joined(void *user, const aq_member_view *view, bool again, aq_error *error)
{
    aq_evaluator_session *session = user;
    if (again && session->core != NULL &&
        settings_agree(&session->settings.config, &view->settings.config)) {
        aq_policy_session_moved(session->policy, view->policy_url);
        follow_settings(session, view);
        return 0;
    }
    return start_run(session, view, error);
}

/* The newest version is looked up at each tick, and shards are not needed. Other numbers of
 * episodes need other environments: the version at hand is dropped for them. */
static int on_changed(void *user, const aq_member_view *view, aq_error *error)
{
    aq_evaluator_session *session = user;
    if (view->settings_generation == session->settings_generation) {
        return 0;
    }
    if (settings_agree(&session->settings.config, &view->settings.config)) {
        follow_settings(session, view);
        return 0;
    }
    return start_run(session, view, error);
}

static void on_finish(void *user)
{
    aq_evaluator_session *session = user;
    session->is_finishing = true; /* what is half evaluated says nothing */
    tell_confirmed(session);
}

static enum aq_finish_state on_finished(void *user)
{
    const aq_evaluator_session *session = user;
    return aq_report_session_empty(session->reports) ? AQ_FINISH_COMPLETE : AQ_FINISH_PENDING;
}

/* ---- statistics ----------------------------------------------------------------------------- */

static void on_statistics(void *user, Actorq__V1__ActorStats *stats)
{
    const aq_evaluator_session *session = user;
    stats->env_steps = session->env_steps;
    stats->episodes = session->episodes;
    stats->return_mean = session->return_mean;
    stats->policy_version = session->version;
    const aq_trial *trial = session->core != NULL ? aq_evaluator_core_trial(session->core) : NULL;
    const uint64_t failures = trial != NULL ? aq_trial_failures(trial) : 0;
    stats->env_failures = session->failures_before + failures;
    stats->env_failure =
        aq_wire_text(failures > 0 ? aq_trial_failure(trial) : session->failure_before);
}

/* ---- life ----------------------------------------------------------------------------------- */

int aq_evaluator_session_create(aq_rpc_channel *learner, const aq_session_config *config,
                                aq_evaluator_session **ret_session)
{
    aq_evaluator_session *session = aq_alloc(1, sizeof(*session));
    if (session == NULL) {
        return AQ_E_NOMEM;
    }
    session->config = *config;
    session->now_ns = config->start_ns;
    session->return_mean = (double)NAN;
    const aq_participant_hooks hooks = {
        .user = session,
        .joined = on_joined,
        .changed = on_changed,
        .finish = on_finish,
        .finished = on_finished,
        .statistics = on_statistics,
    };
    aq_rpc_channel *fetches = config->fetches != NULL ? config->fetches : learner;
    int rc = aq_policy_session_create(fetches, &config->listener, &session->policy);
    if (rc == 0) {
        rc = aq_report_session_create(learner, config->identity.incarnation, config->seed,
                                      &session->reports);
    }
    if (rc == 0) {
        rc = aq_twin_session_create(fetches, &session->twins);
    }
    if (rc == 0) {
        rc = aq_participant_create(learner, &config->identity, &hooks, session->policy,
                                   config->seed, &session->participant);
    }
    if (rc != 0) {
        aq_evaluator_session_destroy(session);
        return rc;
    }
    *ret_session = session;
    return 0;
}

void aq_evaluator_session_destroy(aq_evaluator_session *session)
{
    if (session == NULL) {
        return;
    }
    drop_core(session);
    aq_participant_destroy(session->participant);
    aq_twin_session_destroy(session->twins);
    aq_report_session_destroy(session->reports);
    aq_policy_session_destroy(session->policy);
    aq_free(session);
}

void aq_evaluator_session_tick(aq_evaluator_session *session, int64_t now_ns)
{
    session->now_ns = now_ns;
    aq_participant_tick(session->participant, now_ns);
    const aq_member_view *view = aq_participant_look(session->participant);
    aq_policy_session_tick(session->policy, now_ns, view->version);
    aq_report_session_tick(session->reports, now_ns, view->member);
}

/* When what the core waits for is over: an environment's pause, or its own after an evaluation. */
static int64_t core_next_ns(const aq_evaluator_session *session)
{
    if (session->core == NULL) {
        return INT64_MAX;
    }
    if (!aq_evaluator_core_idle(session->core)) {
        const int64_t due_ns = aq_evaluator_core_due_ns(session->core);
        return due_ns != INT64_MIN ? due_ns : INT64_MAX; /* it does not wait */
    }
    const int64_t due_ns = aq_evaluation_pace_due_ns(&session->pace);
    return due_ns > session->now_ns ? due_ns : INT64_MAX;
}

int64_t aq_evaluator_session_next_ns(const aq_evaluator_session *session)
{
    const int64_t core_ns = core_next_ns(session);
    return aq_earlier_ns(aq_earlier_ns(aq_participant_next_ns(session->participant), core_ns),
                         aq_earlier_ns(aq_policy_session_next_ns(session->policy),
                                       aq_report_session_next_ns(session->reports)));
}

/* ---- work ----------------------------------------------------------------------------------- */

static void take_policy(aq_evaluator_session *session)
{
    aq_engine *engine = aq_policy_session_take(session->policy);
    if (engine == NULL) {
        return;
    }
    session->version = aq_engine_snapshot(engine)->version;
    aq_policy_session_give_back(session->policy,
                                aq_evaluator_core_set_engine(session->core, engine));
}

/* The next version, or the last one in fp32. */
static void begin_next(aq_evaluator_session *session, int64_t now_ns)
{
    aq_engine_destroy(session->twin);
    session->twin = NULL;
    if (aq_twin_session_waits(session->twins)) {
        return;
    }
    session->twin = aq_twin_session_take(session->twins);
    if (session->twin != NULL) {
        aq_evaluator_core_compare(session->core, session->twin);
        return;
    }
    tell_confirmed(session);
    if (!aq_report_session_empty(session->reports)) {
        return; /* what the learner makes of them says who leads */
    }
    aq_evaluator_core_set_leader(session->core, aq_report_session_leader(session->reports));
    const bool ranks = session->is_screened && aq_evaluator_core_rank(session->core);
    session->is_screened = false;
    if (!ranks && aq_evaluation_pace_due_ns(&session->pace) <= now_ns) {
        take_policy(session);
    }
}

static void take_gap(aq_evaluator_session *session, const aq_evaluation *result)
{
    session->episodes += result->gap.episodes;
    session->confirmed.version = 0;
    aq_report_session_put(session->reports, result);
    aq_log(AQ_LOG_DEBUG, "compared", "",
           "version=%" PRIu64 " episodes=%" PRIu32 " return_fp32=%.2f gap_mean=%.3f gap_std=%.3f",
           result->version, result->gap.episodes, result->gap.return_fp32, result->gap.mean,
           result->gap.std);
}

static void take_result(aq_evaluator_session *session, const aq_evaluation *result, bool tells)
{
    session->episodes += result->episodes;
    session->is_screened = !result->confirmed && !result->ranks_only;
    session->return_mean = result->ranks_only ? session->return_mean : result->return_mean;
    if (tells) {
        aq_report_session_put(session->reports, result);
    } else {
        session->confirmed = *result;
    }
    aq_log(AQ_LOG_DEBUG, "evaluated", "",
           "version=%" PRIu64 " episodes=%" PRIu32
           " return_mean=%.2f return_std=%.2f confirmed=%d ranks_only=%d",
           result->version, result->episodes, result->return_mean, result->return_std,
           result->confirmed, result->ranks_only);
}

/* A version that could not be evaluated is not tried again: the next one is. */
static void note_failures(aq_evaluator_session *session)
{
    const uint64_t failures = aq_evaluator_core_failures(session->core);
    if (failures != session->told_failures) {
        session->told_failures = failures;
        aq_log(AQ_LOG_WARN, "evaluation_failed", "the next version is waited for",
               "version=%" PRIu64 " reason=%s",
               aq_engine_snapshot(aq_evaluator_core_playing(session->core))->version,
               AQ_LOG_QUOTED(aq_trial_failure(aq_evaluator_core_trial(session->core))));
    }
}

/* Asks for the fp32 form of what was just evaluated, unless it is that itself. Every confirmation
 * is played in both: whether a version solves the task must not hang on how it was rounded. */
static bool asks_for_twin(aq_evaluator_session *session, const aq_evaluation *result)
{
    const aq_engine *engine = aq_evaluator_core_engine(session->core);
    return (session->settings.config.evaluator.fp32 || result->confirmed) && !result->ranks_only &&
           !aq_snapshot_is_fp32(aq_engine_snapshot(engine)) &&
           aq_twin_session_ask(session->twins, session->version); /* else the next one is */
}

static void run_core(aq_evaluator_session *session, int64_t now_ns)
{
    aq_evaluation result;
    if (!aq_evaluator_core_run(session->core, now_ns, &result)) {
        return;
    }
    if (result.gap.episodes > 0) {
        take_gap(session, &result);
        return;
    }
    const bool asks = aq_evaluator_core_idle(session->core) && asks_for_twin(session, &result);
    take_result(session, &result, /* tells: */ !(asks && result.confirmed));
}

uint32_t aq_evaluator_session_work(aq_evaluator_session *session, int64_t now_ns)
{
    aq_evaluation_pace_tell(&session->pace, now_ns, false);
    if (session->core == NULL || session->is_finishing) {
        return 0;
    }
    const aq_trial *trial = aq_evaluator_core_trial(session->core);
    aq_participant_ready(session->participant, session->now_ns - session->config.start_ns,
                         aq_trial_lanes(trial));
    if (aq_evaluator_core_idle(session->core)) {
        begin_next(session, now_ns);
    }
    const uint64_t before = aq_trial_steps(trial);
    const uint64_t failures = aq_trial_failures(trial);
    run_core(session, now_ns);
    note_failures(session);
    const uint64_t steps = aq_trial_steps(trial) - before;
    session->env_steps += steps;
    const bool has_failed = aq_trial_failures(trial) != failures;
    aq_evaluation_pace_tell(&session->pace, now_ns, steps > 0);
    return steps == 0 && has_failed ? 1 : (uint32_t)steps; /* something was done in any case */
}

aq_participant *aq_evaluator_session_participant(aq_evaluator_session *session)
{
    return session->participant;
}
