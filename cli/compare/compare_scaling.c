/*
 * Compare scaling: see compare_scaling.h.
 */
#include "cli/compare/compare_scaling.h"

#include <math.h>

uint64_t aq_scaling_parallel(size_t point)
{
    return UINT64_C(1) << point;
}

/* ---- measured ------------------------------------------------------------------------------- */

/* NaN where there was no such run, or none finished. */
static double measured_rate(const aq_compare_summary *summary, enum aq_learning_mode mode,
                            uint64_t parallel)
{
    const aq_compare_plan *plan = summary->plan;
    const size_t at = aq_compare_arms_find(plan->arms, plan->arm_count, mode, parallel);
    return at < plan->arm_count ? summary->rows[at].env_steps_per_s : (double)NAN;
}

static double measured(const aq_compare_summary *summary, enum aq_learning_mode mode,
                       uint64_t parallel)
{
    return measured_rate(summary, mode, parallel) /
           ((double)parallel * measured_rate(summary, mode, 1));
}

double aq_compare_efficiency(const aq_compare_summary *summary, size_t arm)
{
    const aq_compare_arm *own = &summary->plan->arms[arm];
    return summary->plan->request.subject == AQ_COMPARE_MODES
               ? measured(summary, own->mode, own->parallel)
               : (double)NAN;
}

/* ---- the model ------------------------------------------------------------------------------ */

typedef struct costs {
    double actor_s;    /* a */
    double learner_s;  /* u */
    double update_s;   /* c */
    double steps;      /* k */
    double exchange_s; /* x */
    double ranks;      /* N */
} costs;

static costs costs_of(const aq_compare_row *row, const aq_compare_row *alone)
{
    const double *states = row->states;
    const double steps = row->env_steps;
    const double updates = row->learner_steps;
    const double exchange = states[AQ_TIME_LEARNER_EXCHANGE];
    const bool is_split = row->arm->mode == AQ_MODE_MODEL;
    const double ranks = (double)row->arm->learners;
    const aq_compare_row *unsplit = is_split ? alone : row;
    const double whole = unsplit->states[AQ_TIME_LEARNER_TRAINING] / unsplit->learner_steps;
    return (costs){.actor_s = 1 / row->actor_steps_per_s,
                   .learner_s = states[AQ_TIME_LEARNER_TRAINING] / steps,
                   .update_s = whole,
                   .steps = steps / (is_split ? updates : updates * ranks),
                   .exchange_s = isfinite(exchange) ? exchange / updates : 0,
                   .ranks = ranks};
}

static double model_rate(enum aq_learning_mode mode, const costs *of, double n)
{
    const double acting = n / of->actor_s;
    const double exchange = of->ranks > 1 ? of->exchange_s * (n - 1) / (of->ranks - 1) : 0;
    switch (mode) {
    case AQ_MODE_SYNC:
        return fmin(acting, n * of->steps / (of->update_s + exchange));
    case AQ_MODE_MODEL:
        return fmin(acting, of->steps / (of->update_s / n + exchange));
    default:
        return fmin(acting, 1 / of->learner_s);
    }
}

/* fmin passes over a NaN, which here is a cost that is not known. */
static bool is_known(const costs *of)
{
    return isfinite(of->actor_s) && isfinite(of->learner_s) && isfinite(of->update_s) &&
           isfinite(of->steps) && of->update_s > 0 && of->learner_s > 0;
}

/* NaN where it cannot be told. */
static double modelled(const aq_compare_summary *summary, const aq_compare_row *row, double n)
{
    const aq_compare_plan *plan = summary->plan;
    const enum aq_learning_mode mode = row->arm->mode;
    const double own = (double)row->arm->parallel;
    const size_t alone = aq_compare_arms_find(plan->arms, plan->arm_count, mode, 1);
    if (alone == plan->arm_count) {
        return (double)NAN;
    }
    const costs of = costs_of(row, &summary->rows[alone]);
    if (mode == AQ_MODE_HYBRID || !is_known(&of) ||
        row->arm->parallel + row->arm->learners > summary->cpus) {
        return (double)NAN;
    }
    return row->efficiency * (model_rate(mode, &of, n) / n) / (model_rate(mode, &of, own) / own);
}

aq_scaling aq_compare_scaling(const aq_compare_summary *summary, size_t arm, uint64_t parallel)
{
    const aq_compare_row *row = &summary->rows[arm];
    const aq_scaling found = {.efficiency = measured(summary, row->arm->mode, parallel)};
    return isfinite(found.efficiency)
               ? found
               : (aq_scaling){.efficiency = modelled(summary, row, (double)parallel),
                              .is_model = true};
}
