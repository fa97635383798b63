/*
 * See exported_actor_stats.h.
 */
#include "actor/daemon/exported_actor_stats.h"

#define S_PER_MS 0.001

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

void aq_actor_export(const Actorq__V1__ActorStats *stats, aq_metrics_page *page)
{
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
}

void aq_evaluator_export(const Actorq__V1__ActorStats *stats, aq_metrics_page *page)
{
    page->prefix = "actorq_evaluator_";
    add_common(stats, page);
}
