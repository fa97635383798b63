/*
 * Sweep summary: see sweep_summary.h.
 */
#include "cli/sweep/report/sweep_summary.h"

#include <math.h>
#include <stdio.h>

#include "cli/sweep/study/sweep_order.h"
#include "common/base/memory.h"

aq_mean_ci aq_sweep_stage_mean(const aq_sweep_study *study, uint32_t stage,
                               enum aq_sweep_figure figure)
{
    double values[AQ_SWEEP_SEEDS_MAX];
    const aq_sweep_stage *its = &study->stages[stage];
    for (size_t i = 0; i < its->run_count; i++) {
        const aq_sweep_run *run = &study->runs[its->first_run + i];
        values[i] = run->state == AQ_SWEEP_DONE ? run->outcome.figures[figure] : (double)NAN;
    }
    return aq_mean_ci_of(values, its->run_count);
}

double aq_sweep_stage_spread(const aq_sweep_study *study, uint32_t stage)
{
    return isfinite(aq_sweep_stage_score(study, stage))
               ? aq_sweep_stage_mean(study, stage, study->spec->score).ci95
               : (double)NAN;
}

/* Of its runs, the one that says most: one that runs, one that failed, one that is open. */
static enum aq_sweep_run_state state_of(const aq_sweep_study *study, uint32_t stage)
{
    const aq_sweep_stage *its = &study->stages[stage];
    size_t counts[AQ_SWEEP_FAILED + 1] = {0};
    for (size_t i = 0; i < its->run_count; i++) {
        counts[study->runs[its->first_run + i].state]++;
    }
    return counts[AQ_SWEEP_RUNNING] > 0  ? AQ_SWEEP_RUNNING
           : counts[AQ_SWEEP_OPEN] > 0   ? AQ_SWEEP_OPEN
           : counts[AQ_SWEEP_FAILED] > 0 ? AQ_SWEEP_FAILED
                                         : AQ_SWEEP_DONE;
}

/* The report's runs go as far as the winner: of a population that died out, not to the top. */
static aq_sweep_finding finding_of(const aq_sweep_study *study, uint32_t winner,
                                   enum aq_sweep_kind kind)
{
    aq_sweep_finding finding = {.stage = aq_sweep_study_last(study, kind)};
    if (finding.stage == AQ_SWEEP_NONE || !aq_sweep_stage_is_over(study, finding.stage) ||
        winner == AQ_SWEEP_NONE || study->stages[finding.stage].rung < study->stages[winner].rung) {
        finding.stage = AQ_SWEEP_NONE;
        return finding;
    }
    for (int i = 0; i < AQ_SWEEP_FIGURE_COUNT; i++) {
        finding.figures[i] = aq_sweep_stage_mean(study, finding.stage, (enum aq_sweep_figure)i);
    }
    return finding;
}

const char *aq_sweep_finding_seeds(const aq_sweep_study *study, const aq_sweep_finding *finding,
                                   char *out, size_t size)
{
    const size_t count = finding->figures[study->spec->score].count;
    const size_t wanted = study->stages[finding->stage].run_count;
    (void)snprintf(out, size, count < wanted ? "%zu of %zu" : "%zu", count, wanted);
    return out;
}

static void add_costs(aq_sweep_summary *summary)
{
    const aq_sweep_study *study = summary->study;
    for (size_t i = 0; i < study->run_count; i++) {
        const aq_sweep_stage *stage = &study->stages[study->runs[i].stage];
        if (stage->kind == AQ_SWEEP_TUNE) {
            summary->rows[stage->trial].cost_s += aq_sweep_run_spent(study, i, AQ_SWEEP_WALL);
        }
    }
}

int aq_sweep_summary_make(const aq_sweep_study *study, const char *dir,
                          aq_sweep_summary *ret_summary)
{
    const uint32_t winner = aq_sweep_winner(study);
    aq_sweep_summary summary = {.study = study,
                                .dir = dir,
                                .winner = winner,
                                .reported = finding_of(study, winner, AQ_SWEEP_WINNER),
                                .given = finding_of(study, winner, AQ_SWEEP_GIVEN)};
    summary.rows = aq_alloc(study->spec->trials, sizeof(*summary.rows));
    int rc = summary.rows != NULL ? aq_sweep_known(study, &summary.known, &summary.known_count)
                                  : AQ_E_NOMEM;
    if (rc != 0) {
        aq_free(summary.rows);
        return rc;
    }
    for (uint32_t i = 0; i < study->stage_count; i++) {
        const aq_sweep_stage *stage = &study->stages[i];
        if (stage->kind == AQ_SWEEP_TUNE) {
            summary.rows[stage->trial].stage = i; /* the last one stays */
            summary.count = stage->trial >= summary.count ? stage->trial + 1 : summary.count;
        }
    }
    for (uint32_t trial = 0; trial < summary.count; trial++) {
        aq_sweep_row *row = &summary.rows[trial];
        row->state = state_of(study, row->stage);
        summary.done += aq_sweep_stage_is_over(study, row->stage);
        summary.running += row->state == AQ_SWEEP_RUNNING;
    }
    add_costs(&summary);
    *ret_summary = summary;
    return 0;
}

const char *aq_sweep_cost_name(const aq_sweep_study *study)
{
    const enum aq_sweep_figure cost = study->spec->cost;
    return cost == AQ_SWEEP_FIGURE_COUNT ? "took" : aq_sweep_figure_name(cost);
}

const char *aq_sweep_figure_text(enum aq_sweep_figure figure, double value, aq_figure *room)
{
    switch (figure) {
    case AQ_SWEEP_STEPS:
    case AQ_SWEEP_BYTES:
        return aq_figure_count(room, value);
    case AQ_SWEEP_WALL:
    case AQ_SWEEP_CPU:
        return aq_figure_duration(room, value);
    case AQ_SWEEP_JOULES:
        return aq_figure_joules(room, value);
    default:
        return aq_figure_number(room, value);
    }
}

const char *aq_sweep_cost_text(const aq_sweep_summary *summary, uint32_t stage, aq_figure *room)
{
    const aq_sweep_study *study = summary->study;
    const enum aq_sweep_figure cost = study->spec->cost;
    if (cost == AQ_SWEEP_FIGURE_COUNT) {
        return aq_figure_duration(room, summary->rows[study->stages[stage].trial].cost_s);
    }
    return aq_sweep_figure_text(cost, aq_sweep_stage_figure(study, stage, cost), room);
}

void aq_sweep_summary_fini(aq_sweep_summary *summary)
{
    aq_free(summary->rows);
    aq_free(summary->known);
    *summary = (aq_sweep_summary){.study = summary->study};
}
