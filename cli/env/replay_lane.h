/*
 * Replay lane: one lane of an environment that can be put into recorded states and is stepped with
 * recorded actions, with everything in double. What the environment has no golden form of is made
 * from its rows. One thread.
 */
#ifndef AQ_CLI_ENV_REPLAY_LANE_H
#define AQ_CLI_ENV_REPLAY_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/rng.h"
#include "envs/env_golden.h"
#include "envs/env_open.h"

typedef struct aq_replay_lane {
    const aq_env *env;
    const struct aq_env_golden *golden;
    void *state;
    bool is_begun;
    aq_rng rng;
    void *action_row, *obs_row; /* as stored in columns */
    size_t action_width, obs_width;
    double *obs; /* obs_width: of the last step, or of the state that was put in */
    double reward;
    bool terminated, truncated;
    uint32_t elapsed; /* steps of the episode */
} aq_replay_lane;

/* `env` is lent until fini. AQ_E_UNSUPPORTED: it can't be put into a state; AQ_E_NOMEM; what its
 * begin says; AQ_E_PEER: its reset failed. After a failure there is nothing to fini. */
int aq_replay_lane_init(aq_replay_lane *lane, const aq_env *env, aq_error *error) AQ_MUST_USE;
void aq_replay_lane_fini(aq_replay_lane *lane);

/* Puts the state in. `is_start`: an episode begins in it. */
int aq_replay_lane_set(aq_replay_lane *lane, const aq_golden_values *values, bool is_start,
                       aq_error *error) AQ_MUST_USE;

/* Fills obs and reward (NaN where it is one of transitions) of the state that was put in. */
void aq_replay_lane_observe(aq_replay_lane *lane);

/* Fills obs, reward, terminated and truncated. AQ_E_CORRUPT: there is no such action; AQ_E_PEER:
 * the step failed. */
int aq_replay_lane_step(aq_replay_lane *lane, const double *action, aq_error *error) AQ_MUST_USE;

#endif
