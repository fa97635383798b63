/*
 * Run findings: why a run does not learn, in words, each with a setting to try; what stands in the
 * verdict of `actorq train`, in `actorq status` and on the dashboard. A core: figures in, sentences
 * out. A run that goes well has none. Any thread; no state.
 */
#ifndef AQ_LEARNER_RUN_RUN_FINDINGS_H
#define AQ_LEARNER_RUN_RUN_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "common/config/run_config.h"
#include "learner/algorithms/metric.h"
#include "learner/run/coordinator.h"

enum { AQ_FINDING_WORDS_MAX = 192, AQ_FINDING_SETTING_MAX = 320, AQ_FINDINGS_MAX = 10 };

/* NaN: not known, or the algorithm has no such metric. */
typedef struct aq_learning_facts {
    const aq_run_config *config;
    enum aq_run_state state;
    uint64_t env_steps, learner_steps;
    uint64_t own_steps; /* of env_steps, those since this process began */
    double wall_s;
    uint64_t versions, fallbacks; /* published in all; of them in fp32 instead */
    /* Of metrics of these names, the last number. */
    double q_least, q_greatest;
    double mass_below, mass_above;
    double actions_saturated;
    double reward_size;
    double levels_changed, step_kl;
    /* Likewise, the least or the greatest since this process began. */
    double value_floor, value_ceiling;
    double rewarded_share, ended_share;
} aq_learning_facts;

typedef struct aq_finding {
    char words[AQ_FINDING_WORDS_MAX];     /* a clause without its full stop */
    char setting[AQ_FINDING_SETTING_MAX]; /* "learner.tau=0.005"; "task=…" for an option of it */
} aq_finding;

typedef struct aq_findings {
    aq_finding rows[AQ_FINDINGS_MAX]; /* the first explains most */
    size_t count;
} aq_findings;

/* Nothing is known yet. */
void aq_learning_facts_init(aq_learning_facts *facts, const aq_run_config *config);

/* Takes what the metrics came to lately. */
void aq_learning_facts_take(aq_learning_facts *facts, const aq_metric_list *metrics,
                            const double *values);

void aq_findings_of(const aq_learning_facts *facts, aq_findings *ret_findings);

#endif
