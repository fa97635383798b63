/*
 * See actor_http.h. docs/metrics.md lists the families of both pages.
 */
#include "actor/daemon/actor_http.h"

#include <stdint.h>

#define S_PER_MS 0.001

/* The pages only read; their `user` is not const for others' sake. */
static const aq_participant *participant_of(void *user)
{
    return user;
}

/* Both have these. */
static void add_common(const Actorq__V1__ActorStats *stats, aq_metrics_page *page)
{
    aq_page_counter(page, "env_steps_total", "Steps of environments; of this process.",
                    (double)stats->env_steps);
    aq_page_gauge(page, "env_steps_per_second",
                  "Steps of environments between its last two heartbeats.", stats->steps_per_s);
    aq_page_counter(page, "episodes_total", "Episodes that ended; of this process.",
                    (double)stats->episodes);
    aq_page_gauge(page, "return_mean", "Mean return of its latest episodes.", stats->return_mean);
    aq_page_gauge(page, "policy_version", "Version of the policy in use; 0: none yet.",
                  (double)stats->policy_version);
    aq_page_counter(page, "policies_rejected_total",
                    "Policies that came damaged or are not of this run.",
                    (double)stats->rejected_policies);
    aq_page_counter(page, "policy_gaps_total",
                    "Times that policies were missed and a whole one had to be fetched.",
                    (double)stats->policy_gaps);
    aq_page_counter(page, "env_failures_total", "Steps and resets of environments that failed.",
                    (double)stats->env_failures);
}

static int add_actor(void *user, aq_metrics_page *page)
{
    const Actorq__V1__ActorStats *stats = aq_participant_stats(participant_of(user));
    page->prefix = "actorq_actor_";
    add_common(stats, page);
    aq_page_counter(page, "acknowledged_steps_total",
                    "Steps of environments that a shard has acknowledged.",
                    (double)stats->acknowledged_steps);
    aq_page_gauge(page, "unacknowledged_messages",
                  "Messages that are sent, or wait to be, and are not acknowledged.",
                  (double)stats->unacknowledged);
    aq_page_counter(page, "resent_messages_total", "Messages that were sent again.",
                    (double)stats->resent);
    aq_page_counter(page, "credit_wait_seconds_total", "Time without credit, so without stepping.",
                    (double)stats->waits_ms * S_PER_MS);
    aq_page_counter(page, "inference_seconds_total", "Time spent choosing actions.",
                    stats->inference_s);
    aq_page_counter(page, "environment_seconds_total", "Time spent stepping environments.",
                    stats->environment_s);
    aq_page_counter(page, "running_seconds_total", "Time since it joined its run.",
                    stats->running_s);
    return 0;
}

static int add_evaluator(void *user, aq_metrics_page *page)
{
    page->prefix = "actorq_evaluator_";
    add_common(aq_participant_stats(participant_of(user)), page);
    return 0;
}

static const char *not_ready(void *user)
{
    switch (aq_participant_phase_of(participant_of(user))) {
    case AQ_PARTICIPANT_JOINING:
        return "it has not joined a run";
    case AQ_PARTICIPANT_TAKING_PART:
        return aq_participant_stats(participant_of(user))->policy_version != 0
                   ? NULL
                   : "it has no policy yet";
    default:
        return "it leaves";
    }
}

int aq_actor_http_open(uv_loop_t *loop, const char *listen, const aq_participant *participant,
                       const aq_security *security, bool evaluates, aq_daemon_http **ret_http,
                       aq_error *error)
{
    const aq_daemon_pages pages = {
        .role = evaluates ? "evaluator" : "actor",
        .user = (void *)(uintptr_t)participant,
        .metrics = evaluates ? add_evaluator : add_actor,
        .not_ready = not_ready,
        .security = security,
    };
    return aq_daemon_http_open(loop, listen, &pages, ret_http, error);
}
