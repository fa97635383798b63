/*
 * Tally: an environment for tests whose every number can be foretold. An episode of drawn length 1
 * to 20 counts up; those over 12 are cut by the step limit, and one of exactly 12 terminates in the
 * very step that the limit would have cut.
 *
 *   obs = {steps done, length, last draw, 1}     reward = action + steps done / 4
 */
#ifndef AQ_TESTS_UNIT_ROLLOUT_TALLY_ENV_H
#define AQ_TESTS_UNIT_ROLLOUT_TALLY_ENV_H

#include "common/rl/snapshot.h"
#include "envs/env.h"

enum { TALLY_OBS = 4, TALLY_CHOICES = 3, TALLY_LENGTH_MAX = 20, TALLY_LIMIT = 12 };

extern const aq_env_class tally_env;

/* The same without a box of floats, and without a choice: nothing can act in those. */
extern const aq_env_class tally_env_u8;
extern const aq_env_class tally_env_box;

/* A linear policy that scores choice i with bias[i] alone; version 1 to be changed by the caller.
 * */
aq_snapshot *tally_policy(const float *bias);

#endif
