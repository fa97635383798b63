/*
 * Run plan: what follows from the configuration and the task, worked out once before anything
 * starts, so that whatever can't work is said then.
 */
#ifndef AQ_LEARNER_RUN_RUN_PLAN_H
#define AQ_LEARNER_RUN_RUN_PLAN_H

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/config/run_settings.h"
#include "learner/algorithms/algorithm.h"

typedef struct aq_run_plan {
    aq_run_config config; /* with the seed that is really used */
    aq_run_settings settings;
    aq_layout layout;
    aq_table_spec table;      /* of one shard; the one that the learner draws from */
    uint32_t sequence_length; /* of the rows that the algorithm trains on; 0: n-step items */
    const aq_algorithm_class *algorithm_class;
    uint32_t head;                /* enum aq_head_number: how its actors act here */
    double threshold;             /* NaN: none */
    double environment_threshold; /* the environment's own; NaN: none */
} aq_run_plan;

/* Resolves the task, the seed (one from the system for 0), the threshold and what the members are
 * told. AQ_E_NOT_FOUND names an unknown task and the nearest known one. */
int aq_run_plan_make(const aq_run_config *config, aq_run_plan *ret_plan,
                     aq_error *error) AQ_MUST_USE;

/* Of a run whose actors compute gradients, once it is known of how many parameters they are: shards
 * hold gradients, and the learner draws those. AQ_E_TOO_BIG, in words, when they fit no message. */
int aq_run_plan_take_gradients(aq_run_plan *plan, size_t parameters, aq_error *error) AQ_MUST_USE;

/* The plan under `config`, which differs from the plan's own in live settings alone. AQ_E_INVALID,
 * as when a plan is made. */
int aq_run_plan_change(const aq_run_plan *plan, const aq_run_config *config, aq_run_plan *ret_plan,
                       aq_error *error) AQ_MUST_USE;

#endif
