/*
 * Run verdict: how a run goes, in words, from its figures; what stands on top of the dashboard. A
 * core: numbers in, sentences out. Any thread; no state.
 */
#ifndef AQ_LEARNER_RUN_RUN_VERDICT_H
#define AQ_LEARNER_RUN_RUN_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learner/run/coordinator.h"
#include "learner/run/run_findings.h"

enum { AQ_VERDICT_TEXT_MAX = 576, AQ_VERDICT_NOTES_MAX = 20 };

/* From the least to the most pressing. */
enum aq_verdict_level { AQ_VERDICT_GOOD, AQ_VERDICT_NOTE, AQ_VERDICT_ATTENTION, AQ_VERDICT_BAD };

enum aq_return_trend { AQ_TREND_UNKNOWN, AQ_TREND_RISING, AQ_TREND_LEVEL, AQ_TREND_FALLING };

/* What the learner mostly waits for, when it waits. */
enum aq_verdict_wait { AQ_VERDICT_WAITS_FOR_ACTORS, AQ_VERDICT_WAITS_FOR_ANSWERS };

/* Shares and rates are means over the last minute; NaN is "not known". */
typedef struct aq_run_facts {
    enum aq_run_state state;
    bool offline;                /* it learns from stored data: no actors are meant to be there */
    double wall_s, wall_limit_s; /* 0: no limit, likewise below */
    double uptime_s;             /* of the learner's process */
    uint64_t env_steps, env_steps_limit, learner_steps, learner_steps_limit;
    double env_steps_per_s, learner_steps_per_s;
    uint64_t stored, needed; /* steps in replay, and before training begins */
    uint32_t actors, evaluators, shards, shards_wanted;
    uint32_t silent;     /* members that missed their last heartbeats */
    uint32_t stuck;      /* shards that cannot write */
    const char *trouble; /* the status's: why the learner can't keep or publish; NULL: it can */
    double learner_waits, actors_wait;
    bool queue; /* gives each item once: no ratio holds actors back */
    enum aq_verdict_wait waits_for;
    double return_now, return_best, threshold;
    bool best_is_fresh; /* else it is of a screening */
    enum aq_return_trend trend;
    aq_findings findings;
} aq_run_facts;

typedef struct aq_verdict_note {
    enum aq_verdict_level level;
    char text[AQ_VERDICT_TEXT_MAX];
} aq_verdict_note;

typedef struct aq_verdict {
    enum aq_verdict_level level; /* of the most pressing note */
    char headline[AQ_VERDICT_TEXT_MAX];
    aq_verdict_note notes[AQ_VERDICT_NOTES_MAX];
    size_t note_count;
} aq_verdict;

void aq_verdict_of(const aq_run_facts *facts, aq_verdict *ret_verdict);

const char *aq_verdict_level_name(enum aq_verdict_level level); /* "good" */

#endif
