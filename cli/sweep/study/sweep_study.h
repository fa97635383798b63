/*
 * Sweep study: what has been decided and what came of it so far: stages, and the runs that they
 * are made of. It is nothing but what the events of the journal make of it, in their order; an
 * event that does not fit is refused, and leaves it as it was.
 *
 *   trial   a point of the space, by its number; in a population, a member
 *   stage   a trial up to one rung: a run from each seed
 *   run     `actorq train`, claimed by one worker at a time
 *
 * One thread.
 */
#ifndef AQ_CLI_SWEEP_STUDY_SWEEP_STUDY_H
#define AQ_CLI_SWEEP_STUDY_SWEEP_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/sweep/study/sweep_spec.h"
#include "common/base/choice.h"
#include "common/base/error.h"

enum {
    AQ_SWEEP_STAGES_MAX = 1 << 20,
    AQ_SWEEP_WORKER_MAX = 80,
    AQ_SWEEP_REASON_MAX = 200,
    AQ_SWEEP_LOSSES_MAX = 100, /* a run that was lost so often has failed */
};
#define AQ_SWEEP_NONE UINT32_MAX /* of stages */

/* What a stage is for. */
#define AQ_SWEEP_KINDS(X)                                                                          \
    X(AQ_SWEEP_TUNE, "tune")                                                                       \
    X(AQ_SWEEP_WINNER, "winner") /* the best settings, from seeds of their own */                  \
    X(AQ_SWEEP_GIVEN, "given")   /* what is fixed alone, from the same seeds */
enum aq_sweep_kind { AQ_SWEEP_KINDS(AQ_CHOICE_CONSTANT) };
const char *aq_sweep_kind_name(enum aq_sweep_kind kind); /* static storage */

#define AQ_SWEEP_RUN_STATES(X)                                                                     \
    X(AQ_SWEEP_OPEN, "open")                                                                       \
    X(AQ_SWEEP_RUNNING, "running")                                                                 \
    X(AQ_SWEEP_DONE, "done")                                                                       \
    X(AQ_SWEEP_FAILED, "failed") /* it came to nothing, and would again */
enum aq_sweep_run_state { AQ_SWEEP_RUN_STATES(AQ_CHOICE_CONSTANT) };
const char *aq_sweep_run_state_name(enum aq_sweep_run_state state);

/* How a run ended. Costs are of all of it, what it went on from included. */
typedef struct aq_sweep_outcome {
    bool is_failed;
    bool is_solved;                        /* before its steps were used up */
    double figures[AQ_SWEEP_FIGURE_COUNT]; /* NaN: not known */
    char reason[AQ_SWEEP_REASON_MAX];      /* of one that failed */
} aq_sweep_outcome;

typedef struct aq_sweep_run {
    uint32_t stage;
    uint64_t seed;
    enum aq_sweep_run_state state;
    uint32_t attempt; /* of the last claim, from 1 */
    uint32_t losses;  /* of these, those whose worker was lost, or that were given back unasked */
    char worker[AQ_SWEEP_WORKER_MAX];
    aq_sweep_outcome outcome; /* when it is done or failed */
} aq_sweep_run;

typedef struct aq_sweep_stage {
    enum aq_sweep_kind kind;
    uint32_t trial, rung;
    uint32_t from; /* the stage that its runs go on from; AQ_SWEEP_NONE */
    aq_sweep_point point;
    uint32_t round; /* that it was decided on in; as the next two, the study's to say */
    size_t first_run;
    size_t run_count;
} aq_sweep_stage;

#define AQ_SWEEP_EVENTS(X)                                                                         \
    X(AQ_SWEEP_EVENT_STUDY, "study")     /* what the journal is of */                              \
    X(AQ_SWEEP_EVENT_SUGGEST, "suggest") /* a round: its stages */                                 \
    X(AQ_SWEEP_EVENT_CLAIM, "claim")     /* a worker takes a run */                                \
    X(AQ_SWEEP_EVENT_RELEASE, "release") /* and gives it back as it is */                          \
    X(AQ_SWEEP_EVENT_REPORT, "report")   /* or says what came of it */                             \
    X(AQ_SWEEP_EVENT_END, "end")         /* nothing is left to do */
enum aq_sweep_event_kind { AQ_SWEEP_EVENTS(AQ_CHOICE_CONSTANT) };

typedef struct aq_sweep_event {
    enum aq_sweep_event_kind kind;
    double time_s;          /* wall clock of who wrote it; for people */
    uint32_t spec_sum;      /* study: of SPEC.yaml's bytes */
    aq_sweep_plan plan;     /* study */
    uint32_t round;         /* suggest */
    aq_sweep_stage *stages; /* suggest: owned */
    size_t stage_count;
    size_t run; /* claim, release, report */
    uint32_t attempt;
    char worker[AQ_SWEEP_WORKER_MAX];
    bool is_asked;            /* release: somebody asked the worker to stop */
    aq_sweep_outcome outcome; /* report */
} aq_sweep_event;
void aq_sweep_event_fini(aq_sweep_event *event);

typedef struct aq_sweep_study {
    const aq_sweep_spec *spec; /* lent */
    uint32_t spec_sum;
    aq_sweep_plan plan; /* once it is begun */
    bool is_begun, is_ended;
    uint32_t rounds;
    uint32_t trials; /* begun */
    aq_sweep_stage *stages;
    size_t stage_count, stage_capacity;
    aq_sweep_run *runs;
    size_t run_count, run_capacity;
    size_t runs_done;       /* or failed */
    double began_s, last_s; /* by the events' times */
} aq_sweep_study;

void aq_sweep_study_init(aq_sweep_study *study, const aq_sweep_spec *spec, uint32_t spec_sum);
void aq_sweep_study_fini(aq_sweep_study *study);

/* AQ_E_CORRUPT says what does not fit, AQ_E_FOREIGN that it is of another SPEC; AQ_E_NOMEM. */
int aq_sweep_study_apply(aq_sweep_study *study, const aq_sweep_event *event,
                         aq_error *error) AQ_MUST_USE;

/* Environment steps that a run may take at a rung. */
uint64_t aq_sweep_study_steps(const aq_sweep_study *study, uint32_t rung);

/* Whether all runs are over that there are: the next round can be decided on. */
bool aq_sweep_study_is_idle(const aq_sweep_study *study);

/* Whether the worker's claim is still the run's last. */
bool aq_sweep_study_holds(const aq_sweep_study *study, size_t run, uint32_t attempt);

/* Of a stage all of whose runs are over. */
bool aq_sweep_stage_is_over(const aq_sweep_study *study, size_t stage);

/* The mean over its runs; NaN while one is not over, or when one failed. */
double aq_sweep_stage_figure(const aq_sweep_study *study, size_t stage,
                             enum aq_sweep_figure figure);

/* The same of what counts. */
double aq_sweep_stage_score(const aq_sweep_study *study, size_t stage);

/* The run that it goes on from; AQ_SWEEP_NONE of one that begins anew. */
size_t aq_sweep_run_source(const aq_sweep_study *study, size_t run);

/* The run that was trained for it: itself, or an earlier one that was solved or failed, which left
 * nothing to be trained. The folder is that one's. */
size_t aq_sweep_run_trained(const aq_sweep_study *study, size_t run);

/* What a run took beyond the one that it went on from, and what all runs took: of figures that are
 * costs. 0 where it is not known. */
double aq_sweep_run_spent(const aq_sweep_study *study, size_t run, enum aq_sweep_figure figure);
double aq_sweep_study_spent(const aq_sweep_study *study, enum aq_sweep_figure figure);

/* The last stage of a kind; AQ_SWEEP_NONE when there is none. */
uint32_t aq_sweep_study_last(const aq_sweep_study *study, enum aq_sweep_kind kind);

/* The last stage of a trial that has one. */
uint32_t aq_sweep_trial_last(const aq_sweep_study *study, uint32_t trial);

/* The name of a run below the study's folder: "runs/trial-7-rung-1-seed-2". */
void aq_sweep_run_name(const aq_sweep_study *study, size_t run, char *out, size_t size);

#endif
