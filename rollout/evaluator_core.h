/*
 * Evaluator core: greedy episodes of one policy version in environments of its own, many at once.
 *
 * A version is screened over few episodes; if their mean reaches the threshold, it is confirmed
 * over `episodes` fresh ones, and only their mean counts (a mean over episodes that selected the
 * version would flatter it). The episodes that were played last can be played once more under
 * another form of the version, to compare the two episode by episode. As many fresh episodes as a
 * screening has rank the version that leads, which the core keeps beside the one that it has. No
 * sockets, no clock. One thread at a time.
 */
#ifndef AQ_ROLLOUT_EVALUATOR_CORE_H
#define AQ_ROLLOUT_EVALUATOR_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "quantizer/engine/engine.h"
#include "rollout/evaluation.h"
#include "rollout/trial.h"

typedef struct aq_evaluator_core aq_evaluator_core;

/* `threshold` NaN: every screening is followed by nothing. Takes a reference to the environment.
 * AQ_E_INVALID for numbers of episodes that are not 1 to AQ_EVALUATION_EPISODES_MAX, what the
 * environment refuses to begin with, AQ_E_NOMEM. */
int aq_evaluator_core_create(const aq_env_task *task, uint32_t screen_episodes, uint32_t episodes,
                             double threshold, uint64_t seed, aq_evaluator_core **ret_core,
                             aq_error *error) AQ_MUST_USE;
void aq_evaluator_core_destroy(aq_evaluator_core *core); /* NULL is fine; engines are not its own */

/* Another threshold, for the screenings that are not over yet; NaN as above. */
void aq_evaluator_core_set_threshold(aq_evaluator_core *core, double threshold);

/* What plays its episodes: it says how many rows an engine must allow, one for each lane, how many
 * steps were made, how often an environment failed, and why it did last. */
const aq_trial *aq_evaluator_core_trial(const aq_evaluator_core *core);

/* Starts on a version, a policy for this environment (aq_env_task_check_policy); returns the engine
 * that it needs no more, unfinished or not: the one it had, or that of the leader before when the
 * one it had leads. NULL: none. Without an engine it becomes idle, and gives back what it has, one
 * a call. */
aq_engine *aq_evaluator_core_set_engine(aq_evaluator_core *core, aq_engine *engine);

/* Plays the episodes of the last result again under `twin`, the fp32 form of the version that the
 * core has: it is idle, and has given that result, a screening's or a confirmation's. It gives it
 * once more, with a gap. The engine is the core's until it is idle again, or another is set. */
void aq_evaluator_core_compare(aq_evaluator_core *core, aq_engine *twin);

/* Who leads; 0: nobody. */
void aq_evaluator_core_set_leader(aq_evaluator_core *core, uint64_t version);

/* Plays fresh episodes of the leader: it is idle. False when it does not have that version. */
bool aq_evaluator_core_rank(aq_evaluator_core *core);

/* What was set last; NULL: nothing. */
const aq_engine *aq_evaluator_core_engine(const aq_evaluator_core *core);

/* What plays, or has played last, while it is lent; NULL: nothing. */
const aq_engine *aq_evaluator_core_playing(const aq_evaluator_core *core);

/* One batched step. True: a result is in *ret_result (take the next engine when it
 * was a screening that failed or a confirmation; else it goes on by itself); false: nothing yet or
 * idle. */
bool aq_evaluator_core_run(aq_evaluator_core *core, int64_t now_ns, aq_evaluation *ret_result);
bool aq_evaluator_core_idle(const aq_evaluator_core *core);

/* When a run can do something: in the past, unless all environments wait to be tried again;
 * INT64_MAX when it is idle. */
int64_t aq_evaluator_core_due_ns(const aq_evaluator_core *core);

/* Versions that were given up since the environment failed too often; it is idle then. */
uint64_t aq_evaluator_core_failures(const aq_evaluator_core *core);

#endif
