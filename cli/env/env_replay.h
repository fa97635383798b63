/*
 * Env replay: an environment of ours is put where a recording of the original began, is given the
 * recorded actions, and is compared with what the original showed. One thread.
 */
#ifndef AQ_CLI_ENV_ENV_REPLAY_H
#define AQ_CLI_ENV_ENV_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/env/recording.h"
#include "cli/env/replay_report.h"
#include "common/base/error.h"
#include "envs/env_open.h"

/* per_step: each step begins in the recorded state instead of where the one before it ended; of no
 * meaning for probes and tables. AQ_E_UNSUPPORTED: the environment can't be put into a state;
 * AQ_E_SCHEMA: the recording is of another shape; AQ_E_INVALID, what the environment refuses;
 * AQ_E_CORRUPT: an action that there is not; AQ_E_PEER: a step failed; AQ_E_NOMEM. */
int aq_env_replay(const aq_env *env, const aq_recording *recording, bool per_step,
                  aq_replay_report *ret_report, aq_error *error) AQ_MUST_USE;

#endif
