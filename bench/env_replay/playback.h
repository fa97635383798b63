/*
 * Playback: an environment of ours is put where a recording of the original began, is given the
 * recorded actions, and is compared with what the original showed. One thread.
 */
#ifndef AQ_BENCH_ENV_REPLAY_PLAYBACK_H
#define AQ_BENCH_ENV_REPLAY_PLAYBACK_H

#include <stdbool.h>

#include "bench/env_replay/original.h"
#include "bench/env_replay/playback_report.h"
#include "bench/env_replay/recording.h"
#include "common/base/error.h"
#include "envs/env_open.h"

/* `original` is of the environment's class; NULL: nothing can be put into it.
 * per_step: each step begins in the recorded state instead of where the one before it ended; of no
 * meaning for probes and tables. AQ_E_UNSUPPORTED: the environment can't be put into a state;
 * AQ_E_SCHEMA: the recording is of another shape; AQ_E_INVALID, what the environment refuses;
 * AQ_E_CORRUPT: an action that there is not; AQ_E_PEER: a step failed; AQ_E_NOMEM. */
int aq_playback(const aq_env *env, const aq_original *original, const aq_recording *recording,
                bool per_step, aq_playback_report *ret_report, aq_error *error) AQ_MUST_USE;

#endif
