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

/* Fails the test when the environment cannot be opened or reset. */
aq_env *env_lane_open(const char *name);
void env_lane_init(env_lane *lane, aq_env *env, uint64_t seed);
void env_lane_fini(env_lane *lane); /* checks the guards */

/* A random action, and a reset after the end of an episode. */
void env_lane_step(env_lane *lane);

/* Every number is finite and within the schema's bounds. */
void env_lane_check_obs(const env_lane *lane);

#endif
