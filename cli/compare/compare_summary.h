/*
 * Compare summary: all runs of a comparison and one row for each arm: means over seeds, and ratios
 * to the baseline, which is fp32, or experience of modes, or the first arm where that is not
 * compared. The report's files are written from it. One thread.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_SUMMARY_H
#define AQ_CLI_COMPARE_COMPARE_SUMMARY_H

#include <stddef.h>

#include "cli/compare/compare_plan.h"
#include "cli/compare/compare_run.h"
#include "common/base/error.h"
#include "common/base/student_t.h"

enum aq_threshold_source {
    AQ_THRESHOLD_GIVEN,   /* on the command line or in the configuration */
    AQ_THRESHOLD_TASK,    /* the environment's own */
    AQ_THRESHOLD_REACHED, /* 95 % of the way from the baseline's first return to its last; none
                           * where it did not learn */
};

/* From where on a ratio is more than what two runs of the same differ by. */
#define AQ_COMPARE_NOTABLE 1.05

enum { AQ_SPEEDUP_SEEDS = 3 }; /* finished ones of each arm; fewer tell luck from gain badly */

/* When the mean of AQ_RUNNING_WINDOW evaluations reached the threshold, over the seeds. A single
 * evaluation that does is often lucky. */
typedef struct aq_compare_crossing {
    size_t reached;       /* seeds that did */
    aq_mean_ci time_s;    /* NaN unless all finished seeds did: a mean of some would flatter */
    aq_mean_ci env_steps; /* likewise */
    double speedup;       /* the baseline's time over this; NaN: see `missing` */
    const char *missing;  /* why there is no speed-up; NULL: there is one. Static storage */
} aq_compare_crossing;

/* In the order in which comparisons tell of them. */
enum { AQ_COMPARE_ROLES = 4 };

/* "actors", "learner", "replay", "evaluator"; static storage. */
const char *aq_compare_role_name(unsigned role);

typedef struct aq_compare_row {
    const aq_compare_arm *arm;   /* lent */
    size_t finished;             /* seeds; all else is a mean over them, NaN where one has none */
    size_t resumed;              /* seeds that were interrupted and gone on with */
    size_t restarted;            /* seeds of which a daemon died and was started again */
    const char *reason;          /* of the first run that did not finish; NULL: all did */
    enum aq_run_outcome outcome; /* of that run */
    double wall_s, env_steps, learner_steps;     /* of the whole run */
    double env_steps_per_s, learner_steps_per_s; /* likewise */
    double throughput_ratio;                     /* of env_steps_per_s */
    double actor_steps_per_s; /* of one actor that never waits; NaN: times are not known */
    double actor_ratio;
    aq_mean_ci last;  /* returns in the last tenth of the steps */
    aq_mean_ci fresh; /* of the best policy, over fresh episodes */
    aq_mean_ci gap;   /* of returns as broadcast to those in fp32, of the same versions */
    aq_compare_crossing crossing;
    double broadcast_bytes, broadcast_bytes_fp32, broadcast_ratio;
    double fallback_share;     /* of the versions of a run: in fp32 instead of their precision */
    double staleness;          /* versions */
    const char *energy_source; /* NULL: not measured, or not by one source alone */
    double energy_j, gco2, energy_ratio; /* baseline's over this; NaN across sources */
    double idle_j, role_joules[AQ_COMPARE_ROLES];
    double states[AQ_TIME_STATES]; /* seconds */
    double role_cpu_s[AQ_COMPARE_ROLES];
    double edge_bytes[AQ_COMPARE_EDGE_COUNT]; /* NaN: not told; 0: nothing goes there */
    double update_bytes;                      /* of all edges, of an update */
    double rank_waits[AQ_CURVE_RANKS]; /* share of each rank's time: exchanging, or with nothing to
                                        * learn from; NaN: there is no such rank */
    double waiting_share;              /* of the one of these that waits most */
    double noise_scale, gradient_cosine;
    double behind[AQ_CURVE_BINS]; /* share of the rows, by versions; NaN: none are told */
    double efficiency;            /* of modes; NaN: one alone was not run (compare_scaling.h) */
} aq_compare_row;

typedef struct aq_compare_summary {
    const aq_compare_plan *plan; /* lent */
    aq_compare_run *runs;        /* (arm_count, seeds) */
    size_t run_count;
    aq_compare_row rows[AQ_COMPARE_ARMS_MAX];
    const char *cpu;  /* that runs were made on; where none tells, that of this machine */
    unsigned cpus;    /* that each run might use at least; likewise */
    size_t baseline;  /* a row */
    double threshold; /* NaN: none */
    enum aq_threshold_source threshold_source;
} aq_compare_summary;

/* Reads the folders. `task_threshold` is the environment's own; NaN: none. AQ_E_NOMEM. */
int aq_compare_summary_make(const aq_compare_plan *plan, double task_threshold,
                            aq_compare_summary *ret_summary, aq_error *error) AQ_MUST_USE;
void aq_compare_summary_fini(aq_compare_summary *summary); /* a zeroed one is fine */

/* The runs of one arm, plan->seeds of them. */
const aq_compare_run *aq_compare_summary_runs(const aq_compare_summary *summary, size_t arm);

/* Of the time of all actors, the share in which they wait for replay; NaN where times are not
 * known. */
double aq_compare_actors_wait(const aq_compare_row *row);

/* "as set": how the threshold was come by; static storage. */
const char *aq_compare_threshold_words(const aq_compare_summary *summary);

/* "not reached", "not reached (2 of 3)", "12.3 s": how a row's crossing is said in `size` bytes. */
const char *aq_compare_crossing_text(const aq_compare_row *row, char *out, size_t size);

/* "finished; 1 resumed", "2 of 3 finished; diverged: ...": what became of an arm's runs, and
 * whether that is more than that they finished. */
bool aq_compare_row_has_state(const aq_compare_summary *summary, const aq_compare_row *row);
const char *aq_compare_row_state(const aq_compare_summary *summary, const aq_compare_row *row,
                                 char *out, size_t size);

#endif
