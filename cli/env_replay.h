/*
 * Env replay: an environment of ours is put where a recording of the original began, is given the
 * recorded actions, and is compared with what the original showed. One thread.
 *
 * Errors are scaled: |ours - recorded| / max(1, |recorded|).
 */
#ifndef AQ_CLI_ENV_REPLAY_H
#define AQ_CLI_ENV_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/recording.h"
#include "common/base/error.h"
#include "envs/env_open.h"

/* The largest error of its kind, and the step (or probe, or cell of a table) that has it: -1 is the
 * first observation. */
typedef struct aq_worst {
    uint64_t compared; /* numbers; 0: the recording has none, or the environment shows none */
    double error;
    int64_t step;
} aq_worst;

typedef struct aq_replay_report {
    uint64_t steps; /* or probes, or pairs of a state and an action */
    aq_worst obs, reward, state;
    uint64_t mismatched_flags; /* terminated and truncated, each counts */
} aq_replay_report;

/* per_step: each step begins in the recorded state instead of where the one before it ended; of no
 * meaning for probes and tables. AQ_E_UNSUPPORTED: the environment can't be put into a state;
 * AQ_E_SCHEMA: the recording is of another shape; AQ_E_INVALID, what the environment refuses;
 * AQ_E_CORRUPT: an action that there is not; AQ_E_PEER: a step failed; AQ_E_NOMEM. */
int aq_env_replay(const aq_env *env, const aq_recording *recording, bool per_step,
                  aq_replay_report *ret_report, aq_error *error) AQ_MUST_USE;

/* For the parts of a replay. NaN against a number is an infinite error. */
void aq_worst_offer(aq_worst *worst, int64_t step, double ours, double recorded);

#endif
