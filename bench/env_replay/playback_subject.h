/*
 * Playback subject: one instance of an environment, which is put into recorded states and stepped
 * with recorded actions. Everything is in double; what the environment has no exact form of is
 * made from its rows. One thread.
 */
#ifndef AQ_BENCH_ENV_REPLAY_PLAYBACK_SUBJECT_H
#define AQ_BENCH_ENV_REPLAY_PLAYBACK_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/env_replay/original.h"
#include "common/base/error.h"
#include "common/base/rng.h"
#include "envs/env_golden.h"
#include "envs/env_open.h"

typedef struct aq_playback_subject {
    const aq_env *env;
    const aq_original *original;
    void *state;
    bool is_begun;
    aq_rng rng;
    void *action_row, *obs_row; /* as stored in columns */
    size_t action_width, obs_width;
    double *obs; /* obs_width: of the last step, or of the state that was put in */
    double reward;
    bool terminated, truncated;
    uint32_t elapsed; /* steps of the episode */
} aq_playback_subject;

/* `env` is lent until fini; `original` is of its class. AQ_E_UNSUPPORTED: it can't be put into a
 * state; AQ_E_NOMEM; what its begin says; AQ_E_PEER: its reset failed. After a failure there is
 * nothing to fini. */
int aq_playback_subject_init(aq_playback_subject *subject, const aq_env *env,
                             const aq_original *original, aq_error *error) AQ_MUST_USE;
void aq_playback_subject_fini(aq_playback_subject *subject);

/* Puts the state in. `is_start`: an episode begins in it. */
int aq_playback_subject_set(aq_playback_subject *subject, const aq_golden_values *values,
                            bool is_start, aq_error *error) AQ_MUST_USE;

/* Fills obs and reward (NaN where it is one of transitions) of the state that was put in. */
void aq_playback_subject_observe(aq_playback_subject *subject);

/* Fills obs, reward, terminated and truncated. AQ_E_CORRUPT: there is no such action; AQ_E_PEER:
 * the step failed. */
int aq_playback_subject_step(aq_playback_subject *subject, const double *action,
                             aq_error *error) AQ_MUST_USE;

#endif
