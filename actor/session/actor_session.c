/*
 * The joints between an actor's parts. Each of them is told the same time by tick and work.
 */
#include "actor/session/actor_session.h"

#include <inttypes.h>

#include "actor/core/actor_seeds.h"
#include "actor/session/policy_session.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/config/gradient_rows.h"
#include "common/sys/log.h"
#include "common/wire/wire_frame.h"

struct aq_actor_session {
    aq_actor_session_config config;
    aq_participant *participant;
    aq_policy_session *policy;
    aq_shard_session *shards;
    aq_actor_core *core;      /* NULL: no run yet */
    aq_run_settings settings; /* of the core */
    uint64_t settings_generation;
    uint64_t generation; /* cores before this one */
    int64_t now_ns;      /* of the last tick */

    /* For statistics. */
    int64_t waiting_since_ns; /* INT64_MAX: it is not waiting for credit */
    int64_t waited_ns;        /* until then */
    int64_t run_ns;           /* when the core was made */
    uint64_t told_failures;   /* of environments */
    aq_log_limit failure_limit;
};

/* ---- a run begins and ends ------------------------------------------------------------------ */

/* Frees the core of the run before and the engine that it has. */
static void drop_core(aq_actor_session *session)
{
    aq_shard_session_stop(session->shards);
    if (session->core != NULL) {
        aq_engine_destroy(aq_actor_core_set_engine(session->core, NULL));
        aq_actor_core_destroy(session->core);
        session->core = NULL;
    }
}

/* Lets the core that there is go on under settings that agree with its own. */
static void follow_settings(aq_actor_session *session, const aq_member_view *view)
{
    session->settings = view->settings;
    session->settings_generation = view->settings_generation;
    aq_actor_core_explore(session->core, &view->settings.config, view->slot);
}

/* Whether gradients are sent is said twice, so that nobody is surprised: what an actor needs for it
 * has to be there. */
static int check_gradients(const aq_actor_session *session, const aq_run_settings *settings,
                           aq_error *error)
{
    const bool is_able = session->config.gradients != NULL;
    const bool is_wanted = settings->gradient_values > 0;
    if (is_able == is_wanted) {
        return 0;
    }
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   is_wanted
                       ? "this run's actors send gradients (actor.gradients): start this one "
                         "with --gradients"
                       : "this run's actors send steps (actor.gradients is false): start this "
                         "one without --gradients");
}

static int add_gradients(aq_actor_session *session, const aq_member_view *view,
                         uint64_t incarnation, aq_error *error)
{
    const aq_actor_seeds seeds = aq_actor_seeds_of(view->settings.seed, view->slot, incarnation);
    aq_gradient_maker maker;
    if (session->config.gradients == NULL) {
        return 0;
    }
    int rc = session->config.gradients(sizeof(view->settings), &view->settings, seeds.learn, &maker,
                                       error);
    if (rc == 0) {
        aq_actor_core_make_gradients(session->core, &maker,
                                     aq_gradient_steps(&view->settings.config));
    }
    return rc;
}

static int start_run(aq_actor_session *session, const aq_member_view *view, aq_error *error)
{
    /* A core numbers its messages from 1. To a shard that knows the one before, it must be somebody
     * else. */
    const uint64_t incarnation =
        session->config.common.identity.incarnation + session->generation++;
    drop_core(session);
    session->settings = view->settings;
    session->settings_generation = view->settings_generation;
    int rc = check_gradients(session, &view->settings, error);
    if (rc == 0) {
        const aq_actor_core_config config = {
            .run_id = view->run_id,
            .member = view->member,
            .incarnation = incarnation,
            .slot = view->slot,
            .is_sealed = session->config.is_sealed,
            .clock_ns = session->config.clock_ns,
        };
        rc = aq_actor_core_create(&view->settings, &config, &session->core, error);
    }
    if (rc == 0) {
        rc = add_gradients(session, view, incarnation, error);
    }
    if (rc != 0) {
        drop_core(session);
        return rc;
    }
    const aq_policy_feed_config feed = {
        .run_id = view->run_id,
        .network_hash = view->settings.network_hash,
        .task = *aq_actor_core_task(session->core),
        .rows_max = aq_actor_core_lanes(session->core),
        .cpu_flags = session->config.common.cpu_flags,
    };
    rc = aq_policy_session_start(session->policy, view, &feed, view->settings.versions_max > 0,
                                 error);
    if (rc != 0) {
        drop_core(session);
        return rc;
    }
    aq_shard_session_start(session->shards, view, incarnation, session->core);
    session->run_ns = session->now_ns;
    session->waiting_since_ns = INT64_MAX;
    session->waited_ns = 0;
    session->told_failures = 0;
    return 0;
}

static int on_joined(void *user, const aq_member_view *view, bool again, aq_error *error)
{
    aq_actor_session *session = user;
    if (again && session->core != NULL &&
        aq_run_settings_agree(&session->settings, &view->settings, AQ_SEEN_BY_ACTORS)) {
        /* The core keeps its number: shards know its messages by that. */
        follow_settings(session, view);
        aq_policy_session_moved(session->policy, view->policy_url);
        return aq_shard_session_changed(session->shards, view, error);
    }
    return start_run(session, view, error);
}

static int on_changed(void *user, const aq_member_view *view, aq_error *error)
{
    aq_actor_session *session = user;
    if (view->settings_generation != session->settings_generation) {
        follow_settings(session, view);
    }
    return aq_shard_session_changed(session->shards, view, error);
}

static void on_finish(void *user)
{
    aq_actor_session *session = user;
    if (session->core != NULL) {
        aq_actor_core_drain(session->core);
    }
}

static void on_leaving(void *user)
{
    const aq_actor_session *session = user;
    aq_shard_session_give_up(session->shards);
}

static enum aq_finish_state on_finished(void *user)
{
    const aq_actor_session *session = user;
    return aq_shard_session_finished(session->shards);
}

/* ---- statistics ----------------------------------------------------------------------------- */

static int64_t waited_ns(const aq_actor_session *session)
{
    bool waits = session->waiting_since_ns < session->now_ns;
    return session->waited_ns + (waits ? session->now_ns - session->waiting_since_ns : 0);
}

static void on_statistics(void *user, Actorq__V1__ActorStats *stats)
{
    aq_actor_session *session = user;
    if (session->core == NULL) {
        return;
    }
    const aq_actor_counters counters = aq_actor_core_counters(session->core);
    stats->env_steps = counters.env_steps;
    stats->env_failures = counters.env_failures;
    stats->env_failure = aq_wire_text(aq_actor_core_env_failure(session->core));
    stats->episodes = counters.episodes;
    stats->return_mean = counters.return_mean;
    stats->policy_version = counters.policy_version;
    stats->unacknowledged = counters.unacknowledged;
    stats->resent = counters.resent;
    stats->acknowledged_steps = counters.acknowledged_steps;
    stats->shard_steps = counters.shard_steps;
    stats->waits_ms = (uint64_t)(waited_ns(session) / AQ_NS_PER_MS);
    stats->inference_s = aq_ns_to_s(counters.inference_ns);
    stats->environment_s = aq_ns_to_s(counters.environment_ns);
    stats->running_s =
        session->config.clock_ns != NULL ? aq_ns_to_s(session->now_ns - session->run_ns) : 0;
}

/* ---- life ----------------------------------------------------------------------------------- */

int aq_actor_session_create(aq_rpc_channel *learner, const aq_actor_session_config *config,
                            aq_actor_session **ret_session)
{
    aq_actor_session *session = aq_alloc(1, sizeof(*session));
    if (session == NULL) {
        return AQ_E_NOMEM;
    }
    session->config = *config;
    session->waiting_since_ns = INT64_MAX;
    const aq_participant_hooks hooks = {
        .user = session,
        .joined = on_joined,
        .changed = on_changed,
        .finish = on_finish,
        .finished = on_finished,
        .leaving = on_leaving,
        .ends_with_run = true, /* the shards end with it, too */
        .statistics = on_statistics,
    };
    aq_rpc_channel *fetches = config->common.fetches != NULL ? config->common.fetches : learner;
    int rc = aq_policy_session_create(fetches, &config->common.listener, &session->policy);
    if (rc == 0) {
        rc = aq_shard_session_create(&config->transport, config->common.seed, &session->shards);
    }
    if (rc == 0) {
        rc = aq_participant_create(learner, &config->common.identity, &hooks, session->policy,
                                   config->common.seed, &session->participant);
    }
    if (rc != 0) {
        aq_actor_session_destroy(session);
        return rc;
    }
    *ret_session = session;
    return 0;
}

void aq_actor_session_destroy(aq_actor_session *session)
{
    if (session == NULL) {
        return;
    }
    if (session->shards != NULL) {
        drop_core(session);
    }
    aq_participant_destroy(session->participant);
    aq_shard_session_destroy(session->shards);
    aq_policy_session_destroy(session->policy);
    aq_free(session);
}

/* That is known of. */
static uint64_t newest_version(const aq_actor_session *session)
{
    const uint64_t told = aq_participant_look(session->participant)->version;
    const uint64_t wanted = session->core != NULL ? aq_actor_core_version_min(session->core) : 0;
    return told > wanted ? told : wanted;
}

void aq_actor_session_tick(aq_actor_session *session, int64_t now_ns)
{
    session->now_ns = now_ns;
    aq_participant_tick(session->participant, now_ns);
    aq_shard_session_tick(session->shards, now_ns);
    aq_policy_session_tick(session->policy, now_ns, newest_version(session));
}

/* When environments that failed are tried again, if that is what it waits for. */
static int64_t env_next_ns(const aq_actor_session *session)
{
    const int64_t due_ns =
        session->core != NULL ? aq_actor_core_env_due_ns(session->core) : INT64_MIN;
    return due_ns != INT64_MIN ? due_ns : INT64_MAX;
}

int64_t aq_actor_session_next_ns(const aq_actor_session *session)
{
    return aq_earlier_ns(
        aq_earlier_ns(aq_participant_next_ns(session->participant), env_next_ns(session)),
        aq_earlier_ns(aq_policy_session_next_ns(session->policy),
                      aq_shard_session_next_ns(session->shards)));
}

/* ---- work ----------------------------------------------------------------------------------- */

static void adopt_policy(aq_actor_session *session)
{
    aq_engine *engine =
        aq_actor_core_may_change(session->core) ? aq_policy_session_take(session->policy) : NULL;
    if (engine != NULL) {
        aq_policy_session_give_back(session->policy,
                                    aq_actor_core_set_engine(session->core, engine));
    }
}

static void note_wait(aq_actor_session *session, int64_t now_ns, uint32_t steps)
{
    bool waits = steps == 0 && aq_actor_core_needs_credit(session->core);
    if (waits && session->waiting_since_ns == INT64_MAX) {
        session->waiting_since_ns = now_ns;
    } else if (!waits && session->waiting_since_ns != INT64_MAX) {
        session->waited_ns += now_ns - session->waiting_since_ns;
        session->waiting_since_ns = INT64_MAX;
    }
}

/* Says why, but not for each of many. */
static void note_failures(aq_actor_session *session, int64_t now_ns, uint64_t failures)
{
    if (aq_log_allowed(&session->failure_limit, now_ns)) {
        aq_log(AQ_LOG_WARN, "env_failed", "the episode is forgotten and another begun",
               "failures=%" PRIu64 " reason=%s", failures,
               AQ_LOG_QUOTED(aq_actor_core_env_failure(session->core)));
    }
}

uint32_t aq_actor_session_work(aq_actor_session *session, int64_t now_ns)
{
    if (session->core == NULL) {
        return 0;
    }
    adopt_policy(session);
    uint32_t steps = aq_actor_core_step(session->core, now_ns);
    if (steps > 0) {
        aq_participant_ready(session->participant, now_ns - session->config.common.start_ns,
                             aq_actor_core_lanes(session->core));
    }
    note_wait(session, now_ns, steps);
    aq_shard_session_pump(session->shards, now_ns);
    const uint64_t failures = aq_actor_core_env_failures(session->core);
    if (failures != session->told_failures) {
        session->told_failures = failures;
        note_failures(session, now_ns, failures);
        steps = steps > 0 ? steps : 1; /* something was done, and more may be */
    }
    return steps;
}

aq_shard_session *aq_actor_session_shards(aq_actor_session *session)
{
    return session->shards;
}

aq_participant *aq_actor_session_participant(aq_actor_session *session)
{
    return session->participant;
}

const aq_actor_core *aq_actor_session_core(const aq_actor_session *session)
{
    return session->core;
}
