/*
 * Compare run: one run of a comparison: trains it, or goes on with it, and keeps how that came out
 * as RUN/result.json, whose outcome is `missing` while a run that was gone on with is not over. One
 * thread.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_RUN_H
#define AQ_CLI_COMPARE_COMPARE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/compare/compare_curve.h"
#include "cli/compare/compare_plan.h"
#include "cli/run/run_energy.h"
#include "common/base/choice.h"
#include "common/base/error.h"

#define AQ_RUN_OUTCOMES(X)                                                                         \
    X(AQ_OUTCOME_MISSING, "missing")   /* not begun, or not over */                                \
    X(AQ_OUTCOME_FINISHED, "finished") /* at its limits */                                         \
    X(AQ_OUTCOME_DIVERGED, "diverged") /* what it learned from was not finite any more */          \
    X(AQ_OUTCOME_REFUSED, "refused")   /* by a daemon at its start: tried again likewise */        \
    X(AQ_OUTCOME_FAILED, "failed") /* by the machine: tried again when the comparison is resumed */
enum aq_run_outcome { AQ_RUN_OUTCOMES(AQ_CHOICE_CONSTANT) };
const char *aq_run_outcome_name(enum aq_run_outcome outcome); /* static storage */

enum { AQ_COMPARE_REASON_MAX = 256, AQ_COMPARE_FORMAT_MAX = 16, AQ_COMPARE_CPU_MAX = 128 };

/* Where bytes go, of a whole run. */
enum aq_compare_edge {
    AQ_EDGE_EXPERIENCE, /* from actors to shards, as these hold it */
    AQ_EDGE_POLICY,     /* from the learner, once for each actor */
    AQ_EDGE_GRADIENTS,  /* between ranks, or from actors */
    AQ_COMPARE_EDGE_COUNT
};

typedef struct aq_compare_run {
    size_t arm; /* of the plan */
    uint64_t seed;
    enum aq_run_outcome outcome;
    char reason[AQ_COMPARE_REASON_MAX]; /* of those that did not finish */
    double return_fresh;                /* of the best policy, over fresh episodes; NaN: none */
    char format[AQ_COMPARE_FORMAT_MAX]; /* of that policy; "": none */
    char cpu[AQ_COMPARE_CPU_MAX];       /* that it was made on; "": not told */
    unsigned cpus;                      /* that it might use; 0: not told */
    unsigned restarts;                  /* of daemons */
    unsigned resumed;                   /* how often the run was interrupted and gone on with */
    aq_compare_curve curve;
    aq_run_energy energy;
    /* What follows from the curve; NaN where it does not tell. */
    double env_steps_per_s, learner_steps_per_s; /* of the whole run */
    double actor_steps_per_s; /* of one actor, in a second in which it does not wait */
    double return_first;      /* of the first evaluation */
    double return_last;       /* mean of the evaluations in the last tenth of the steps */
    double fallback_share;    /* of the versions */
    double edge_bytes[AQ_COMPARE_EDGE_COUNT]; /* 0: nothing goes there */
    double behind[AQ_CURVE_BINS];             /* share of the rows, by versions */
} aq_compare_run;

/* Trains it if it is not over yet. What goes wrong with the run is its outcome; an error is that
 * this could not be kept, or AQ_E_EXISTS that daemons use its folder, of which nothing is changed
 * then. *ret_interrupted: a signal came; a run that it ended can be gone on with. */
int aq_compare_run_train(const aq_compare_plan *plan, size_t arm, uint64_t seed, bool quiet,
                         bool *ret_interrupted, aq_error *error) AQ_MUST_USE;

/* What its folder holds. A curve or an energy.json that can't be read is as one that is empty. */
void aq_compare_run_read(const aq_compare_plan *plan, size_t arm, uint64_t seed,
                         aq_compare_run *ret_run);
void aq_compare_run_fini(aq_compare_run *run);

#endif
