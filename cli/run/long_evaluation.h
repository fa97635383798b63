/*
 * Long evaluation: an evaluation that says on standard error that it is still going on, when it
 * takes longer than people wait without a word.
 */
#ifndef AQ_CLI_RUN_LONG_EVALUATION_H
#define AQ_CLI_RUN_LONG_EVALUATION_H

#include <stdint.h>

#include "common/base/error.h"
#include "rollout/evaluation.h"

/* As aq_evaluate, which runs on another thread meanwhile. */
int aq_long_evaluation(aq_env *env, aq_engine *engine, uint32_t episodes, uint64_t seed,
                       aq_evaluation *ret_result, aq_error *error) AQ_MUST_USE;

#endif
