/*
 * One lane of an environment for tests: it is played with random actions of a stream of its own,
 * and what it is lent stands before a guard.
 */
#ifndef AQ_TESTS_UNIT_ENVS_ENV_LANE_H
#define AQ_TESTS_UNIT_ENVS_ENV_LANE_H

#include "envs/env_open.h"

typedef struct env_lane {
    aq_env *env; /* a reference */
    uint8_t *state, *obs, *action;
    size_t obs_bytes, action_bytes;
    aq_rng rng;        /* the environment's */
    aq_rng action_rng; /* of the actions */
    float reward;
    enum aq_step_end end;
} env_lane;

/* Fail the test when the environment cannot be opened or reset. What is opened is given back at the
 * test's end. */
aq_env *env_lane_open(const char *name);
void env_lane_init(env_lane *lane, aq_env *env, uint64_t seed);
void env_lane_fini(env_lane *lane); /* checks the guards */

/* A random action, and a reset after the end of an episode. */
void env_lane_step(env_lane *lane);

/* Every number is finite and within the schema's bounds, and `observe` writes the same ones. */
void env_lane_check_obs(const env_lane *lane);

/* What the last step gave is the same of both, to the bit. */
void env_lane_assert_same(const env_lane *a, const env_lane *b);

/* An episode in a lane that has been elsewhere has the same bits as in a new one. */
void env_lane_check_fresh(aq_env *env);

/* Steps and resets allocate nothing. */
void env_lane_check_memory(aq_env *env);

#endif
