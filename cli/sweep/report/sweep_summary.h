/*
 * Sweep summary: a study as people and programs ask for it: a row for each trial, and what was
 * found. Borrowed from the study, which must not change meanwhile. One thread.
 */
#ifndef AQ_CLI_SWEEP_REPORT_SWEEP_SUMMARY_H
#define AQ_CLI_SWEEP_REPORT_SWEEP_SUMMARY_H

#include "cli/sweep/study/sweep_study.h"
#include "cli/text/figure_text.h"
#include "common/base/error.h"
#include "common/base/student_t.h"

/* A trial by its last stage. */
typedef struct aq_sweep_row {
    uint32_t stage;
    enum aq_sweep_run_state state; /* of its runs, the one that says most */
    double cost_s;                 /* seconds of its runs */
} aq_sweep_row;

/* What the winner, or what is fixed alone, came to from the seeds for the report. */
typedef struct aq_sweep_finding {
    uint32_t stage;                            /* AQ_SWEEP_NONE: not over, or not asked for */
    aq_mean_ci figures[AQ_SWEEP_FIGURE_COUNT]; /* of the runs that came to their end */
} aq_sweep_finding;

typedef struct aq_sweep_summary {
    const aq_sweep_study *study;
    const char *dir;    /* where its runs and its SPEC.yaml are */
    aq_sweep_row *rows; /* by their numbers */
    size_t count;
    uint32_t *known; /* the last stages that are over, the best first: sweep_order.h */
    size_t known_count;
    size_t done, running; /* of them; done ones failed or not */
    uint32_t winner;      /* stage; AQ_SWEEP_NONE */
    aq_sweep_finding reported, given;
} aq_sweep_summary;

/* `dir` is lent too. AQ_E_NOMEM. */
int aq_sweep_summary_make(const aq_sweep_study *study, const char *dir,
                          aq_sweep_summary *ret_summary) AQ_MUST_USE;
void aq_sweep_summary_fini(aq_sweep_summary *summary);

/* Mean and interval of a figure over a stage's runs that came to their end. */
aq_mean_ci aq_sweep_stage_mean(const aq_sweep_study *study, uint32_t stage,
                               enum aq_sweep_figure figure);

/* Half the 95 % interval of a stage's score; NaN where it has no score, or from one seed alone. */
double aq_sweep_stage_spread(const aq_sweep_study *study, uint32_t stage);

/* Over how many seeds a finding's score is: "5", or "3 of 5" where runs failed. Returns `out`. */
const char *aq_sweep_finding_seeds(const aq_sweep_study *study, const aq_sweep_finding *finding,
                                   char *out, size_t size);

/* What a table says of a stage's cost: the one that trials are ranked by, of a run, or else what
 * its trial took, by the clock, in all. Its name is static storage. */
const char *aq_sweep_cost_name(const aq_sweep_study *study);
const char *aq_sweep_figure_text(enum aq_sweep_figure figure, double value, aq_figure *room);
const char *aq_sweep_cost_text(const aq_sweep_summary *summary, uint32_t stage, aq_figure *room);

#endif
