/*
 * Compare summary: see compare_summary.h.
 */
#include "cli/compare/compare_summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/compare/compare_scaling.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/config/run_names.h"
#include "common/sys/machine.h"

/* How far on the way from the first return to the last a threshold is set where there is none. */
#define REACHED_SHARE 0.95

const aq_compare_run *aq_compare_summary_runs(const aq_compare_summary *summary, size_t arm)
{
    return summary->runs + arm * (size_t)summary->plan->seeds;
}

/* ---- means over seeds ----------------------------------------------------------------------- */

#define AT(member) offsetof(aq_compare_run, member)

/* Over finished runs, of a double that lies `offset` bytes into each. NaN unless all have it: a
 * mean of some would pass for that of all. */
static aq_mean_ci mean_ci_of(const aq_compare_summary *summary, size_t arm, size_t offset)
{
    double values[AQ_COMPARE_SEEDS_MAX];
    size_t count = 0;
    const aq_compare_run *runs = aq_compare_summary_runs(summary, arm);
    for (size_t i = 0; i < summary->plan->seeds; i++) {
        if (runs[i].outcome == AQ_OUTCOME_FINISHED) {
            values[count++] = *(const double *)(const void *)((const char *)&runs[i] + offset);
        }
    }
    const aq_mean_ci of = aq_mean_ci_of(values, count);
    return of.count == count ? of : aq_mean_ci_of(values, 0);
}

static double mean_of(const aq_compare_summary *summary, size_t arm, size_t offset)
{
    return mean_ci_of(summary, arm, offset).mean;
}

/* Likewise of an array in each run. */
static void take_means(const aq_compare_summary *summary, size_t arm, size_t offset, size_t count,
                       double *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = mean_of(summary, arm, offset + i * sizeof(*out));
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

static aq_compare_crossing crossing_of(const aq_compare_summary *summary, size_t arm)
{
    double times_s[AQ_COMPARE_SEEDS_MAX], steps[AQ_COMPARE_SEEDS_MAX];
    const aq_compare_run *runs = aq_compare_summary_runs(summary, arm);
    size_t finished = 0, reached = 0;
    for (size_t i = 0; i < summary->plan->seeds; i++) {
        const aq_run_series *returns = &runs[i].curve.returns;
        if (runs[i].outcome != AQ_OUTCOME_FINISHED) {
            continue;
        }
        size_t at = aq_compare_curve_crossing(&runs[i].curve, summary->threshold);
        finished++;
        if (at < returns->count) {
            times_s[reached] = returns->points[at].wall_s;
            steps[reached++] = returns->points[at].env_steps;
        }
    }
    const size_t counted = reached == finished ? reached : 0;
    return (aq_compare_crossing){.reached = reached,
                                 .time_s = aq_mean_ci_of(times_s, counted),
                                 .env_steps = aq_mean_ci_of(steps, counted),
                                 .speedup = NAN};
}

/* What modes differ in. */
static void take_parallel(const aq_compare_summary *summary, size_t arm, aq_compare_row *row)
{
    double bytes = 0;
    take_means(summary, arm, AT(edge_bytes), AQ_COMPARE_EDGE_COUNT, row->edge_bytes);
    for (size_t i = 0; i < AQ_COMPARE_EDGE_COUNT; i++) {
        bytes += row->edge_bytes[i];
    }
    row->update_bytes = bytes / row->learner_steps;
    take_means(summary, arm, AT(curve.rank_waits), AQ_CURVE_RANKS, row->rank_waits);
    row->waiting_share = NAN;
    for (size_t i = 0; i < AQ_CURVE_RANKS; i++) {
        row->waiting_share = fmax(row->waiting_share, row->rank_waits[i]);
    }
    row->noise_scale = mean_of(summary, arm, AT(curve.noise_scale));
    row->gradient_cosine = mean_of(summary, arm, AT(curve.gradient_cosine));
    take_means(summary, arm, AT(behind), AQ_CURVE_BINS, row->behind);
}

static const struct {
    const char *name;
    size_t index; /* of aq_run_energy's */
} roles[AQ_COMPARE_ROLES] = {
    {"actors", AQ_ROLE_ACTOR},
    {"learner", AQ_ENERGY_LEARNER},
    {"replay", AQ_ROLE_REPLAY},
    {"evaluator", AQ_ROLE_EVALUATOR},
};

const char *aq_compare_role_name(unsigned role)
{
    AQ_ASSERT(role < AQ_COMPARE_ROLES);
    return roles[role].name;
}

/* Of each role's `offset` into a run, an array by aq_run_energy's roles. */
static void take_roles(const aq_compare_summary *summary, size_t arm, size_t offset, double *out)
{
    for (size_t i = 0; i < AQ_COMPARE_ROLES; i++) {
        out[i] = mean_of(summary, arm, offset + roles[i].index * sizeof(double));
    }
}

/* One source for all runs, or none. */
static void take_energy(const aq_compare_summary *summary, size_t arm, aq_compare_row *row)
{
    const aq_compare_run *runs = aq_compare_summary_runs(summary, arm);
    take_roles(summary, arm, AT(energy.role_cpu_s), row->role_cpu_s);
    row->energy_j = row->gco2 = row->idle_j = NAN;
    for (size_t i = 0; i < AQ_COMPARE_ROLES; i++) {
        row->role_joules[i] = NAN;
    }
    for (size_t i = 0; i < summary->plan->seeds; i++) {
        if (runs[i].outcome != AQ_OUTCOME_FINISHED) {
            continue;
        }
        const char *source = runs[i].energy.source;
        if (source[0] == '\0' || (row->energy_source && strcmp(row->energy_source, source) != 0)) {
            row->energy_source = NULL;
            return;
        }
        row->energy_source = source;
    }
    if (!row->energy_source) {
        return;
    }
    row->energy_j = mean_of(summary, arm, AT(energy.energy_j));
    row->idle_j = mean_of(summary, arm, AT(energy.idle_j));
    row->gco2 = mean_of(summary, arm, AT(energy.carbon_g));
    take_roles(summary, arm, AT(energy.role_j), row->role_joules);
}

static void take_outcomes(const aq_compare_summary *summary, size_t arm, aq_compare_row *row)
{
    const aq_compare_run *runs = aq_compare_summary_runs(summary, arm);
    row->outcome = AQ_OUTCOME_FINISHED;
    for (size_t i = 0; i < summary->plan->seeds; i++) {
        row->resumed += runs[i].resumed > 0;
        row->restarted += runs[i].restarts > 0;
        if (runs[i].outcome == AQ_OUTCOME_FINISHED) {
            row->finished++;
        } else if (!row->reason) {
            row->reason = runs[i].reason;
            row->outcome = runs[i].outcome;
        }
    }
}

static void make_row(const aq_compare_summary *summary, size_t arm, aq_compare_row *row)
{
    *row = (aq_compare_row){
        .arm = &summary->plan->arms[arm],
        .wall_s = mean_of(summary, arm, AT(curve.wall_s)),
        .env_steps = mean_of(summary, arm, AT(curve.env_steps)),
        .learner_steps = mean_of(summary, arm, AT(curve.learner_steps)),
        .env_steps_per_s = mean_of(summary, arm, AT(env_steps_per_s)),
        .learner_steps_per_s = mean_of(summary, arm, AT(learner_steps_per_s)),
        .actor_steps_per_s = mean_of(summary, arm, AT(actor_steps_per_s)),
        .last = mean_ci_of(summary, arm, AT(return_last)),
        .fresh = mean_ci_of(summary, arm, AT(return_fresh)),
        .gap = mean_ci_of(summary, arm, AT(curve.gap)),
        .broadcast_bytes = mean_of(summary, arm, AT(curve.broadcast_bytes)),
        .broadcast_bytes_fp32 = mean_of(summary, arm, AT(curve.broadcast_bytes_fp32)),
        .fallback_share = mean_of(summary, arm, AT(fallback_share)),
        .staleness = mean_of(summary, arm, AT(curve.staleness)),
    };
    take_means(summary, arm, AT(curve.states), AQ_TIME_STATES, row->states);
    take_outcomes(summary, arm, row);
    take_energy(summary, arm, row);
    take_parallel(summary, arm, row);
}

/* ---- the threshold -------------------------------------------------------------------------- */

static void choose_threshold(aq_compare_summary *summary, double task_threshold)
{
    double own = NAN;
    if (isfinite(summary->plan->threshold)) {
        summary->threshold = summary->plan->threshold;
        summary->threshold_source = AQ_THRESHOLD_GIVEN;
    } else if (aq_parse_f64(summary->plan->config.evaluator.threshold, &own) == 0) {
        summary->threshold = own;
        summary->threshold_source = AQ_THRESHOLD_GIVEN;
    } else if (isfinite(task_threshold)) {
        summary->threshold = task_threshold;
        summary->threshold_source = AQ_THRESHOLD_TASK;
    } else {
        double first = mean_of(summary, summary->baseline, AT(return_first));
        double last = summary->rows[summary->baseline].last.mean;
        summary->threshold = last > first ? first + REACHED_SHARE * (last - first) : (double)NAN;
        summary->threshold_source = AQ_THRESHOLD_REACHED;
    }
}

/* ---- ratios --------------------------------------------------------------------------------- */

_Static_assert(AQ_SPEEDUP_SEEDS == 3, "the words below say so");

static void compare_times(const aq_compare_row *base, aq_compare_row *row)
{
    aq_compare_crossing *crossing = &row->crossing;
    const bool few = base->finished < AQ_SPEEDUP_SEEDS || row->finished < AQ_SPEEDUP_SEEDS;
    const double speedup = base->crossing.time_s.mean / crossing->time_s.mean;
    crossing->missing = few                 ? "fewer than 3 seeds"
                        : isfinite(speedup) ? NULL
                                            : "not reached by all";
    crossing->speedup = crossing->missing == NULL ? speedup : (double)NAN;
}

static void compare_row(const aq_compare_row *base, aq_compare_row *row)
{
    row->throughput_ratio = row->env_steps_per_s / base->env_steps_per_s;
    row->actor_ratio = row->actor_steps_per_s / base->actor_steps_per_s;
    compare_times(base, row);
    row->broadcast_ratio = base->broadcast_bytes / row->broadcast_bytes;
    bool comparable = base->energy_source && row->energy_source &&
                      strcmp(base->energy_source, row->energy_source) == 0;
    row->energy_ratio = comparable ? base->energy_j / row->energy_j : (double)NAN;
}

/* By what the runs tell. */
static void tell_machine(aq_compare_summary *summary)
{
    const char *first = NULL;
    for (size_t i = 0; i < summary->run_count; i++) {
        const aq_compare_run *run = &summary->runs[i];
        if (run->cpus > 0 && first == NULL) {
            first = run->cpu;
            summary->cpu = run->cpu;
            summary->cpus = run->cpus;
        } else if (run->cpus > 0) {
            summary->cpu = strcmp(run->cpu, first) == 0 ? summary->cpu : "several machines";
            summary->cpus = run->cpus < summary->cpus ? run->cpus : summary->cpus;
        }
    }
}

static const char *const baselines[] = {
    [AQ_COMPARE_PRECISIONS] = "fp32", [AQ_COMPARE_MODES] = "experience"};

int aq_compare_summary_make(const aq_compare_plan *plan, double task_threshold,
                            aq_compare_summary *ret_summary, aq_error *error)
{
    aq_compare_summary summary = {.plan = plan,
                                  .run_count = plan->arm_count * (size_t)plan->seeds,
                                  .cpu = aq_machine_model(),
                                  .cpus = aq_machine_cpu_count()};
    summary.runs = aq_alloc(summary.run_count, sizeof(*summary.runs));
    if (!summary.runs) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < summary.run_count; i++) {
        aq_compare_run_read(plan, i / (size_t)plan->seeds, plan->seed_first + i % plan->seeds,
                            &summary.runs[i]);
    }
    tell_machine(&summary);
    for (size_t i = 0; i < plan->arm_count; i++) {
        make_row(&summary, i, &summary.rows[i]);
        if (strcmp(plan->arms[i].name, baselines[plan->request.subject]) == 0) {
            summary.baseline = i;
        }
    }
    choose_threshold(&summary, task_threshold);
    for (size_t i = 0; i < plan->arm_count; i++) {
        summary.rows[i].crossing = crossing_of(&summary, i);
    }
    const aq_compare_row base = summary.rows[summary.baseline];
    for (size_t i = 0; i < plan->arm_count; i++) {
        compare_row(&base, &summary.rows[i]);
        summary.rows[i].efficiency = aq_compare_efficiency(&summary, i);
    }
    *ret_summary = summary;
    return 0;
}

void aq_compare_summary_fini(aq_compare_summary *summary)
{
    for (size_t i = 0; i < summary->run_count; i++) {
        aq_compare_run_fini(&summary->runs[i]);
    }
    aq_free(summary->runs);
    *summary = (aq_compare_summary){0};
}

double aq_compare_actors_wait(const aq_compare_row *row)
{
    double sum = 0;
    for (int i = AQ_TIME_ACTOR_INFERENCE; i <= AQ_TIME_ACTOR_OTHER; i++) {
        sum += row->states[i];
    }
    return sum > 0 ? row->states[AQ_TIME_ACTOR_WAITING] / sum : (double)NAN;
}

/* ---- in words ------------------------------------------------------------------------------- */

const char *aq_compare_threshold_words(const aq_compare_summary *summary)
{
    static const char *const words[] = {
        [AQ_THRESHOLD_GIVEN] = "as set",
        [AQ_THRESHOLD_TASK] = "the task's own",
        [AQ_THRESHOLD_REACHED] = "95 % of the way from the baseline's first return to its last"};
    return words[summary->threshold_source];
}

const char *aq_compare_crossing_text(const aq_compare_row *row, char *out, size_t size)
{
    const aq_compare_crossing *crossing = &row->crossing;
    if (row->finished == 0) {
        (void)snprintf(out, size, "-");
    } else if (isfinite(crossing->time_s.mean)) {
        const double time_s = crossing->time_s.mean;
        (void)snprintf(out, size, time_s < 100 ? "%.2f s" : "%.0f s", time_s);
    } else if (crossing->reached == 0) {
        (void)snprintf(out, size, "not reached");
    } else {
        (void)snprintf(out, size, "not reached (%zu of %zu)", crossing->reached, row->finished);
    }
    return out;
}

bool aq_compare_row_has_state(const aq_compare_summary *summary, const aq_compare_row *row)
{
    return row->finished < summary->plan->seeds || row->resumed > 0 || row->restarted > 0;
}

const char *aq_compare_row_state(const aq_compare_summary *summary, const aq_compare_row *row,
                                 char *out, size_t size)
{
    const size_t seeds = (size_t)summary->plan->seeds;
    char also[40] = "", restarted[48] = "";
    if (row->restarted > 0) {
        (void)snprintf(restarted, sizeof(restarted), "; %zu with restarts", row->restarted);
    }
    if (row->resumed > 0) {
        (void)snprintf(also, sizeof(also), "; %zu resumed", row->resumed);
    }
    if (row->finished == seeds) {
        (void)snprintf(out, size, "finished%s%s", also, restarted);
    } else {
        (void)snprintf(out, size, "%zu of %zu finished%s%s; %s%s%s", row->finished, seeds, also,
                       restarted, aq_run_outcome_name(row->outcome),
                       row->reason && row->reason[0] ? ": " : "", row->reason ? row->reason : "");
    }
    return out;
}
