/*
 * Status page: see status_page.h.
 */
#include "cli/watch/status_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/run/run_energy.h"
#include "cli/text/figure_text.h"
#include "cli/watch/status_members.h"
#include "cli/watch/status_replay.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/config/run_names.h"
#include "common/net/address/url.h"

enum { METRICS_TEXT_MAX = 512, METRICS_A_LINE = 4 };

/* NaN over nothing. */
static double ratio(uint64_t over, uint64_t under)
{
    return under ? (double)over / (double)under : NAN;
}

static void print_head(FILE *out, const char *url, const Actorq__V1__StatusReply *status)
{
    aq_figure up, memory;
    char role[32], task[128];
    (void)fprintf(out, "%s at %s: ", aq_plain_text(role, sizeof(role), status->role), url);
    if (status->task[0] != '\0') {
        (void)fprintf(out, "%s, ", aq_plain_text(task, sizeof(task), status->task));
    }
    (void)fprintf(out, "%s\n",
                  aq_run_state_text(aq_run_state_name((enum aq_run_state)status->state)));
    aq_print_fact(out, "run", "%016" PRIx64 ", seed %" PRIu64 "%s%s", status->run_id, status->seed,
                  status->run_dir[0] != '\0' ? ", in " : "", status->run_dir);
    if (status->algorithm[0] != '\0') {
        aq_print_fact(out, "method", "%s, the policy is broadcast in %s", status->algorithm,
                      status->precision);
    }
    aq_print_fact(out, "daemon", "version %s, up %s, %s resident", status->software,
                  aq_figure_duration(&up, status->uptime_s),
                  aq_figure_bytes(&memory, (double)status->resident_bytes));
}

/* "loss 0.01, mean value 12.3", some on each line; not what this method does not have. */
static void print_metrics(FILE *out, const Actorq__V1__LearnerStatus *learner)
{
    char line[METRICS_TEXT_MAX] = "";
    size_t shown = 0;
    for (size_t i = 0; i < learner->n_metrics; i++) {
        const Actorq__V1__MetricStatus *metric = learner->metrics[i];
        aq_figure value;
        if (isnan(metric->value)) {
            continue;
        }
        if (shown > 0 && shown % METRICS_A_LINE == 0) {
            aq_print_fact(out, shown == METRICS_A_LINE ? "metrics" : "", "%s", line);
            line[0] = '\0';
        }
        aq_text_append(line, sizeof(line), "%s%s %s%s%s", line[0] != '\0' ? ", " : "",
                       metric->title, aq_figure_number(&value, metric->value),
                       metric->unit[0] != '\0' ? " " : "", metric->unit);
        shown++;
    }
    if (shown > 0) {
        aq_print_fact(out, shown <= METRICS_A_LINE ? "metrics" : "", "%s", line);
    }
}

static void print_steps(FILE *out, const Actorq__V1__LearnerStatus *learner)
{
    aq_figure done, limit, rate, share;
    (void)aq_figure_count(&done, (double)learner->env_steps);
    (void)aq_figure_rate(&rate, learner->env_steps_per_s);
    if (learner->env_steps_limit > 0) {
        aq_print_fact(out, "environment", "%s of %s steps (%s), %s/s", done.text,
                      aq_figure_count(&limit, (double)learner->env_steps_limit),
                      aq_figure_share(&share, ratio(learner->env_steps, learner->env_steps_limit)),
                      rate.text);
    } else {
        aq_print_fact(out, "environment", "%s steps, %s/s", done.text, rate.text);
    }
    aq_print_fact(out, "training", "%s steps, %s/s%s; waits for samples %s of the time",
                  aq_figure_count(&done, (double)learner->learner_steps),
                  aq_figure_rate(&rate, learner->learner_steps_per_s),
                  strcmp(learner->products, "bf16") == 0 ? " in bf16" : "",
                  aq_figure_share(&share, learner->batch_wait_share));
    print_metrics(out, learner);
}

static void print_policy(FILE *out, const Actorq__V1__LearnerStatus *learner)
{
    const Actorq__V1__QuantErrorStatus *error = learner->quant_error;
    aq_figure sent, full, times, stale, cost, rms, largest, fallen;
    aq_print_fact(out, "policy",
                  "version %" PRIu64 ", %" PRIu64 " published, %" PRIu64
                  " as changes; sampled steps are %s versions old",
                  learner->policy_version, learner->policy_versions, learner->policy_deltas,
                  aq_figure_number(&stale, learner->staleness_mean));
    aq_print_fact(
        out, "broadcast", "%s; %s as whole versions in fp32 (%s times as much)",
        aq_figure_bytes(&sent, (double)learner->broadcast_bytes),
        aq_figure_bytes(&full, (double)learner->broadcast_bytes_fp32),
        aq_figure_number(&times, ratio(learner->broadcast_bytes_fp32, learner->broadcast_bytes)));
    if (learner->broadcast_packed_bytes_fp32 > 0) {
        aq_print_fact(out, "in fp32", "about %s, as changes and compressed (%s times as much)",
                      aq_figure_bytes(&full, (double)learner->broadcast_packed_bytes_fp32),
                      aq_figure_number(&times, ratio(learner->broadcast_packed_bytes_fp32,
                                                     learner->broadcast_bytes)));
    }
    if (error && error->rows) {
        aq_print_fact(out, "error",
                      "quantizing costs %s of what is at stake, over %" PRIu32
                      " observations; rms %s, largest %s; %s of the versions went out in fp32",
                      aq_figure_share(&cost, error->cost), error->rows,
                      aq_figure_number(&rms, error->output_rms),
                      aq_figure_number(&largest, error->output_max),
                      aq_figure_share(&fallen, ratio(error->fallbacks, learner->policy_versions)));
    }
}

static void print_latest(FILE *out, const Actorq__V1__LearnerStatus *learner)
{
    aq_figure mean, deviation;
    const bool is_one = learner->return_episodes == 1; /* which deviates from nothing */
    if (!isfinite(learner->return_mean)) {
        aq_print_fact(out, "return", "no evaluation %s",
                      isfinite(learner->return_best) ? "since the learner was started" : "yet");
        return;
    }
    aq_print_fact(out, "return",
                  "%s%s%s over %" PRIu32 " episode%s of version %" PRIu64 " (%s, %s), the last of "
                  "%" PRIu64 " evaluations",
                  aq_figure_return(&mean, learner->return_mean), is_one ? "" : " +- ",
                  is_one ? "" : aq_figure_return(&deviation, learner->return_std),
                  learner->return_episodes, is_one ? "" : "s", learner->return_version,
                  learner->return_format, learner->return_confirmed ? "confirmed" : "screening",
                  learner->evaluations);
}

/* A learner that was started again knows the best of before, and no latest one. */
static void print_returns(FILE *out, const Actorq__V1__LearnerStatus *learner)
{
    char line[METRICS_TEXT_MAX];
    print_latest(out, learner);
    if (!isfinite(learner->return_best)) { /* no version that was played is left */
        return;
    }
    const aq_best_figure best = {
        .mean = learner->return_best,
        .std = learner->return_best_std,
        .version = learner->return_best_version,
        .episodes = learner->return_best_episodes,
        .is_fresh = learner->return_best_confirmed,
    };
    aq_print_fact(out, "best return", "%s", aq_figure_best(&best, line, sizeof(line)));
}

static void print_gap(FILE *out, const Actorq__V1__PrecisionGapStatus *gap)
{
    aq_figure mean, width, latest;
    const bool has_latest = isfinite(gap->latest_mean);
    aq_print_fact(out, "fp32",
                  "returns as broadcast are %s +- %s above those in fp32, over %" PRIu64
                  " pairs of episodes of %" PRIu64 " versions%s%s",
                  aq_figure_number(&mean, gap->mean), aq_figure_number(&width, gap->ci95),
                  gap->episodes, gap->versions, has_latest ? "; the latest by " : "",
                  has_latest ? aq_figure_number(&latest, gap->latest_mean) : "");
}

/* What a learner says, which may be of another version, as what its file would say. */
static void print_energy(FILE *out, const Actorq__V1__EnergyStatus *status)
{
    char line[AQ_ENERGY_LINE_MAX];
    aq_figure spent;
    aq_run_energy energy = {
        .cpu_s = status->cpu_s,
        .energy_j = status->energy_j,
        .idle_j = status->idle_j,
        .carbon_g = status->carbon_g,
    };
    (void)aq_plain_text(energy.source, sizeof(energy.source), status->source);
    for (size_t i = 0; i < status->n_roles && i < AQ_ENERGY_ROLES; i++) {
        energy.role_j[i] = status->roles[i]->energy_j;
    }
    aq_print_fact(out, "energy", "%s; %s of processor time", aq_run_energy_line(&energy, line),
                  aq_figure_duration(&spent, status->cpu_s));
}

static void print_findings(FILE *out, const Actorq__V1__LearnerStatus *learner)
{
    for (size_t i = 0; i < learner->n_findings; i++) {
        aq_print_fact(out, i == 0 ? "why" : "", "%s; try %s", learner->findings[i]->words,
                      learner->findings[i]->setting);
    }
}

/* Of the member whose environments failed most often. */
static void print_failures(FILE *out, const Actorq__V1__StatusReply *status)
{
    const Actorq__V1__MemberStatus *worst = NULL;
    for (size_t i = 0; i < status->n_members; i++) {
        const Actorq__V1__MemberStatus *member = status->members[i];
        if (member->actor != NULL && member->actor->env_failures > 0 &&
            (worst == NULL || member->actor->env_failures > worst->actor->env_failures)) {
            worst = member;
        }
    }
    if (worst != NULL) {
        const bool acts = worst->role == ACTORQ__V1__ROLE__ROLE_ACTOR;
        aq_print_fact(out, "failures",
                      "%s %" PRIu32 ": %" PRIu64
                      " of steps and resets of its environments, at last %s",
                      acts ? "actor" : "evaluator", worst->slot, worst->actor->env_failures,
                      aq_last_line(worst->actor->env_failure));
    }
}

/* A daemon that serves everywhere does not know by which of its names it is seen from here. */
static void print_dashboard(FILE *out, const char *url, const char *http)
{
    char own[AQ_URL_MAX], seen[AQ_URL_MAX];
    const char *where = strstr(http, "://");
    if (where != NULL && aq_text_format(own, sizeof(own), "tcp%s", where) == 0 &&
        aq_url_is_wildcard(own) && aq_url_reachable(own, url, seen, sizeof(seen)) == 0) {
        aq_print_fact(out, "dashboard", "%.*s%s/", (int)(where - http), http, seen + strlen("tcp"));
    } else {
        aq_print_fact(out, "dashboard", "%s/", http);
    }
}

static void print_learner(FILE *out, const char *url, const Actorq__V1__StatusReply *status)
{
    const Actorq__V1__LearnerStatus *learner = status->learner;
    print_steps(out, learner);
    print_policy(out, learner);
    print_returns(out, learner);
    if (learner->precision_gap) {
        print_gap(out, learner->precision_gap);
    }
    if (learner->energy) {
        print_energy(out, learner->energy);
    }
    if (learner->trouble[0] != '\0') {
        aq_print_fact(out, "trouble", "cannot keep or publish what it learns: %s",
                      learner->trouble);
    }
    print_failures(out, status);
    print_findings(out, learner);
    if (learner->checkpoint_step) {
        aq_print_fact(out, "checkpoint", "of learner step %" PRIu64, learner->checkpoint_step);
    }
    if (status->http[0] != '\0') {
        print_dashboard(out, url, status->http);
    }
    aq_print_fact(out, "members",
                  "%zu here, %" PRIu64 " joined, %" PRIu64 " lost; %" PRIu64 " messages refused",
                  status->n_members, learner->members_joined, learner->members_lost,
                  learner->rejected_messages);
}

static void print_peers(FILE *out, const Actorq__V1__PeerStatus *peers)
{
    aq_print_fact(out, "peers",
                  "%" PRIu64 " connections over TCP, %" PRIu64 " came; %" PRIu64
                  " strangers, %" PRIu64 " refused, %" PRIu64 " cut as too slow, %" PRIu64
                  " as too large",
                  peers->connections, peers->accepted, peers->strangers, peers->refused_connections,
                  peers->cut_slow, peers->cut_full);
}

int aq_status_page_print(FILE *out, const char *url, const Actorq__V1__StatusReply *status,
                         size_t members_max)
{
    print_head(out, url, status);
    int rc = 0;
    if (status->learner) {
        print_learner(out, url, status);
        rc = aq_status_replay_print_run(out, status);
    }
    if (rc == 0 && status->replay) {
        rc = aq_status_replay_print_shard(out, status->replay);
    }
    if (rc == 0 && status->peers &&
        status->peers->accepted + status->peers->refused_connections > 0) {
        print_peers(out, status->peers);
    }
    return rc != 0 ? rc : aq_status_members_print(out, status, members_max);
}
