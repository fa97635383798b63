/*
 * Evaluator core: greedy episodes of one policy version in environments of its own, many at once.
 *
 * A version is screened over few episodes; if their mean reaches the threshold, it is confirmed over
 * `episodes` fresh ones, and only their mean counts (a mean over episodes that selected the version
 * would flatter it). No sockets, no clock.
 */
#ifndef AQ_ACTOR_EVALUATOR_CORE_H
#define AQ_ACTOR_EVALUATOR_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "envs/env.h"
#include "quantizer/engine.h"

typedef struct aq_evaluation {
    uint64_t version;
    uint32_t episodes;
    double return_mean, return_std, return_min, return_max;
    bool confirmed; /* over all episodes, after a screening that passed */
} aq_evaluation;

typedef struct aq_evaluator_core aq_evaluator_core;

/* `threshold` NaN: every screening is followed by nothing. `lanes_max` environments at once. */
int aq_evaluator_core_create(const aq_env_class *env, uint32_t screen_episodes, uint32_t episodes,
                             double threshold, uint64_t seed, aq_evaluator_core **ret_core,
                             aq_error *error) AQ_MUST_USE;
void aq_evaluator_core_destroy(aq_evaluator_core *core); /* NULL is fine */

/* Rows that an engine must allow. */
uint32_t aq_evaluator_core_lanes(const aq_evaluator_core *core);

/* Starts on a version; returns the engine it had (NULL at first), unfinished or not. */
aq_engine *aq_evaluator_core_set_engine(aq_evaluator_core *core, aq_engine *engine);

/* Up to `steps_max` batched steps. 1: a result is in *ret_result (take the next engine when it was
 * a screening that failed or a confirmation; else it goes on by itself); 0: nothing yet or idle. */
int aq_evaluator_core_run(aq_evaluator_core *core, uint32_t steps_max, aq_evaluation *ret_result);
bool aq_evaluator_core_idle(const aq_evaluator_core *core);

/* Exactly `episodes` greedy episodes at once, for `actorq eval`: no screening, no threshold. The
 * first that finish are not favoured: each lane plays a fixed share. */
int aq_evaluate(const aq_env_class *env, aq_engine *engine, uint32_t episodes, uint64_t seed,
                aq_evaluation *ret_result, aq_error *error) AQ_MUST_USE;

#endif
