/*
 * See exported_stats.h. What the status leaves out counts as nothing, so that every family is on
 * every page.
 */
#include "learner/daemon/exported_stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/config/run_names.h"

static void add_run(const Actorq__V1__StatusReply *status, aq_metrics_page *page)
{
    char id[24];
    char seed[24];
    const Actorq__V1__LearnerStatus *learner = status->learner;
    (void)snprintf(id, sizeof(id), "%016" PRIx64, status->run_id);
    (void)snprintf(seed, sizeof(seed), "%" PRIu64, status->seed);
    const aq_metric_label run[] = {
        {"run_id", id},
        {"task", status->task},
        {"seed", seed},
        {"algorithm", status->algorithm},
        {"precision", status->precision},
    };
    aq_page_family(page, AQ_METRIC_GAUGE, "run_info", "1, with what is trained.");
    aq_page_labelled(page, run, sizeof(run) / sizeof(run[0]), 1);
    aq_page_gauge(page, "run_active", "1 until the run has ended, then 0.",
                  status->state == ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING);
    aq_page_counter(page, "steps_total", "Steps of training, over the whole run.",
                    (double)learner->learner_steps);
    aq_page_gauge(page, "steps_per_second", "Steps of training in the last second.",
                  learner->learner_steps_per_s);
    aq_page_counter(page, "env_steps_total",
                    "Steps of environments that replay holds or has held, over the whole run.",
                    (double)learner->env_steps);
    aq_page_gauge(page, "env_steps_per_second", "Steps of environments in the last second.",
                  learner->env_steps_per_s);
    aq_page_gauge(page, "env_steps_limit", "Steps of environments at which the run ends; 0: none.",
                  (double)learner->env_steps_limit);
    aq_page_gauge(page, "checkpoint_step", "Step of training of the newest checkpoint on disk.",
                  (double)learner->checkpoint_step);
    aq_page_gauge(page, "stuck", "1 while it cannot keep or publish what it learns, else 0.",
                  learner->trouble != NULL && learner->trouble[0] != '\0');
    for (size_t i = 0; i < learner->n_metrics; i++) {
        const Actorq__V1__MetricStatus *metric = learner->metrics[i];
        aq_page_gauge(page, metric->name, metric->meaning, metric->value);
    }
}

static void add_returns(const Actorq__V1__LearnerStatus *learner, aq_metrics_page *page)
{
    aq_page_counter(page, "evaluations_total", "Screenings and confirmations that were reported.",
                    (double)learner->evaluations);
    aq_page_gauge(page, "return_mean", "Mean return of the latest evaluation.",
                  learner->return_mean);
    aq_page_gauge(page, "return_standard_deviation",
                  "Standard deviation of the return in the latest evaluation.",
                  learner->return_std);
    aq_page_gauge(
        page, "return_best",
        "Mean return of the best version so far, in fresh episodes; before there are any, "
        "in a screening.",
        learner->return_best);
    aq_page_gauge(page, "return_policy_version",
                  "Version of the policy in the latest evaluation; 0: none yet.",
                  (double)learner->return_version);
}

static void add_policy(const Actorq__V1__LearnerStatus *learner, aq_metrics_page *page)
{
    const Actorq__V1__QuantErrorStatus none = ACTORQ__V1__QUANT_ERROR_STATUS__INIT;
    const Actorq__V1__QuantErrorStatus *error = learner->quant_error ? learner->quant_error : &none;
    const double saved = (double)learner->broadcast_bytes_fp32 - (double)learner->broadcast_bytes;
    const bool measured = error->rows > 0;
    aq_page_gauge(page, "policy_version", "Version of the newest policy; 0: none yet.",
                  (double)learner->policy_version);
    aq_page_counter(page, "policies_published_total", "Policies that were published.",
                    (double)learner->policy_versions);
    aq_page_counter(page, "policy_deltas_total",
                    "Policies that were broadcast as a change of the one before.",
                    (double)learner->policy_deltas);
    aq_page_counter(page, "broadcast_bytes_total",
                    "Bytes of policies, each counted once however many actors listen.",
                    (double)learner->broadcast_bytes);
    aq_page_counter(page, "broadcast_saved_bytes_total",
                    "Bytes that the same policies would have taken more in fp32.",
                    saved > 0 ? saved : 0);
    aq_page_counter(page, "quantization_fallbacks_total",
                    "Policies published in fp32, since quantizing them broke the budget or there "
                    "were no levels for an output.",
                    (double)error->fallbacks);
    aq_page_gauge(page, "quantization_cost_ratio",
                  "What quantizing the newest policy costs, of what is at stake in its actions.",
                  measured ? error->cost : NAN);
    aq_page_gauge(page, "quantization_output_rms",
                  "Root mean square difference of the newest policy's outputs from fp32.",
                  measured ? error->output_rms : NAN);
    aq_page_gauge(page, "quantization_output_max",
                  "Largest difference of the newest policy's outputs from fp32.",
                  measured ? error->output_max : NAN);
}

static void add_gap(const Actorq__V1__LearnerStatus *learner, aq_metrics_page *page)
{
    const Actorq__V1__PrecisionGapStatus *gap = learner->precision_gap;
    aq_page_counter(page, "precision_gap_versions_total",
                    "Versions played both as broadcast and in fp32, over the whole run.",
                    gap ? (double)gap->versions : 0);
    aq_page_gauge(page, "precision_gap_return",
                  "Return as broadcast less the return in fp32, mean over those versions, over "
                  "the whole run.",
                  gap ? gap->mean : NAN);
    aq_page_gauge(page, "precision_gap_return_ci95",
                  "Half the width of the mean's 95 % confidence interval, over the whole run.",
                  gap ? gap->ci95 : NAN);
}

static void add_staleness(const Actorq__V1__LearnerStatus *learner, aq_metrics_page *page)
{
    const Actorq__V1__ReplayUseStatus *use = learner->replay_use;
    aq_page_histogram(page, "staleness_versions",
                      "Versions that the rows trained on were behind; of this process.",
                      use ? use->staleness : NULL, use ? use->n_staleness : 0, 1, true);
    aq_page_gauge(page, "staleness_mean_versions",
                  "Versions that the rows of the last second were behind.",
                  learner->staleness_mean);
}

static void add_waits(const Actorq__V1__LearnerStatus *learner, aq_metrics_page *page)
{
    const Actorq__V1__ReplayUseStatus none = ACTORQ__V1__REPLAY_USE_STATUS__INIT;
    const Actorq__V1__ReplayUseStatus *use = learner->replay_use ? learner->replay_use : &none;
    aq_page_family(page, AQ_METRIC_COUNTER, "wait_seconds_total",
                   "Time with nothing to train on, by reason; of this process.");
    aq_page_sample(page, "reason", "no_shard", use->waited_no_shard_s);
    aq_page_sample(page, "reason", "limiter", use->waited_limiter_s);
    aq_page_sample(page, "reason", "unreachable", use->waited_trouble_s);
    aq_page_sample(page, "reason", "answer", use->waited_answer_s);
    aq_page_gauge(page, "wait_ratio", "Share of the last second spent waiting for batches.",
                  learner->batch_wait_share);
    aq_page_counter(page, "sample_answers_total", "Samples that came from shards.",
                    (double)use->answers);
    aq_page_counter(page, "sample_limited_total",
                    "Times that a shard's rate limiter let the learner wait in vain.",
                    (double)use->not_yet);
    aq_page_counter(page, "sample_failures_total", "Samples that failed otherwise.",
                    (double)use->failures);
    aq_page_counter(page, "outdated_steps_total",
                    "Steps that were dropped unlearned, as their policy was too old "
                    "(learner.lag_max).",
                    (double)use->outdated);
    aq_page_gauge(page, "sample_latency_seconds",
                  "From asking for a sample to having it, mean over the last second.",
                  learner->replay_use ? use->answer_ms_mean / 1000 : NAN);
    aq_page_family(page, AQ_METRIC_COUNTER, "priorities_total",
                   "Priorities sent back to shards, by what became of them.");
    aq_page_sample(page, "outcome", "applied", (double)use->priorities_applied);
    aq_page_sample(page, "outcome", "stale", (double)use->priorities_stale);
    aq_page_sample(page, "outcome", "dropped", (double)use->priorities_dropped);
}

static void add_members(const Actorq__V1__StatusReply *status, aq_metrics_page *page)
{
    aq_page_family(page, AQ_METRIC_GAUGE, "members", "Members of the run, by role.");
    for (uint32_t role = AQ_ROLE_ACTOR; role < AQ_ROLES_END; role++) {
        size_t count = 0;
        for (size_t i = 0; i < status->n_members; i++) {
            count += (uint32_t)status->members[i]->role == role;
        }
        aq_page_sample(page, "role", aq_role_name((enum aq_role)role), (double)count);
    }
    aq_page_counter(page, "members_joined_total", "Members that joined.",
                    (double)status->learner->members_joined);
    aq_page_counter(page, "members_lost_total", "Members that were not heard of any more.",
                    (double)status->learner->members_lost);
}

static void add_energy(const Actorq__V1__LearnerStatus *learner, aq_metrics_page *page)
{
    const Actorq__V1__EnergyStatus none = ACTORQ__V1__ENERGY_STATUS__INIT;
    const Actorq__V1__EnergyStatus *energy = learner->energy ? learner->energy : &none;
    aq_page_family(page, AQ_METRIC_COUNTER, "run_energy_joules_total",
                   "Energy of the run, by role, and where the figure is from.");
    for (size_t i = 0; i < energy->n_roles; i++) {
        const aq_metric_label labels[] = {{"role", energy->roles[i]->role},
                                          {"source", energy->source}};
        aq_page_labelled(page, labels, 2, energy->roles[i]->energy_j);
    }
    aq_page_family(page, AQ_METRIC_COUNTER, "run_cpu_seconds_total",
                   "Processor time of the run, by role.");
    for (size_t i = 0; i < energy->n_roles; i++) {
        aq_page_sample(page, "role", energy->roles[i]->role, energy->roles[i]->cpu_s);
    }
    aq_page_counter(page, "run_idle_energy_joules_total",
                    "Idle share of the machines' energy, beside it; see docs/energy.md.",
                    energy->idle_j);
    aq_page_counter(page, "run_carbon_grams_total",
                    "CO2 equivalent of the run's energy; see docs/energy.md.", energy->carbon_g);
}

void aq_learner_export(const Actorq__V1__StatusReply *status, aq_metrics_page *page)
{
    page->prefix = "actorq_learner_";
    add_run(status, page);
    add_returns(status->learner, page);
    add_policy(status->learner, page);
    add_gap(status->learner, page);
    add_staleness(status->learner, page);
    add_waits(status->learner, page);
    add_members(status, page);
    add_energy(status->learner, page);
}
