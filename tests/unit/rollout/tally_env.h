/*
 * Tally: an environment for tests whose every number can be foretold. An episode of drawn length 1
 * to 20 counts up; those over 12 are cut by the step limit, and one of exactly 12 terminates in the
 * very step that the limit would have cut.
 *
 *   obs = {steps done, length, last draw, 1}     reward = action + steps done / 4
 */
#ifndef AQ_TESTS_UNIT_ROLLOUT_TALLY_ENV_H
#define AQ_TESTS_UNIT_ROLLOUT_TALLY_ENV_H

#include "common/policy/snapshot.h"
#include "quantizer/engine/engine.h"
#include "rollout/env_task.h"
#include "rollout/trial.h"

enum { TALLY_OBS = 4, TALLY_CHOICES = 3, TALLY_LENGTH_MAX = 20, TALLY_LIMIT = 12 };

extern const aq_env_class tally_env;

/* The same with actions that nothing can act by: floats without a bound, and bytes. */
extern const aq_env_class tally_env_boundless;
extern const aq_env_class tally_env_bytes;

/* Options: "?fail_step=3" fails the third step of each episode, "?fail_once=3" that of every other
 * one of a lane, "?nan_step=3" shows a NaN after it, "?fail_resets=2" fails two resets before each
 * that succeeds. "": none of that. */
aq_env *tally_open(const aq_env_class *class, const char *options);
aq_env_task tally_task(const char *options);

/* A linear policy that scores choice i with bias[i] alone, until the test is over; version 1, to be
 * changed by the caller. */
aq_snapshot *tally_policy(const float *bias);

/* An engine of one for that environment which always takes `choice`, for so many rows. It
 * is destroyed at the end of the test. */
aq_engine *tally_engine(const aq_env *env, uint32_t choice, uint64_t version, size_t rows);

/* A trial of it from start to end, in which time stands still. */
aq_trial_result tally_trial(aq_env *env, aq_engine *engine, uint32_t lanes, uint32_t episodes,
                            uint64_t seed);

#endif
