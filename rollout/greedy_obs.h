/*
 * Greedy observations: what a policy sees when it always takes the action that it values most, for
 * measuring what a quantized one would do in its place.
 */
#ifndef AQ_ROLLOUT_GREEDY_OBS_H
#define AQ_ROLLOUT_GREEDY_OBS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "quantizer/engine/engine.h"
#include "rollout/env_task.h"

/* Environments at once: few, so that not all rows are of the beginnings of episodes. The engine
 * must allow as many rows. */
enum { AQ_GREEDY_OBS_LANES = 16 };

/* Plays the engine's policy, which is one for the task (aq_env_task_check_policy), and writes what
 * it acted on, as the network sees it, into obs (*rows, obs_elements), *rows > 0. Of a policy with
 * a memory one episode in one environment, so that who runs a network over the rows has it in
 * states that it comes to; *rows is how many there were. A function of policy, seed and *rows
 * alone. AQ_E_PEER when the environment fails, AQ_E_NOMEM, what the environment refuses to begin
 * with; in words. */
int aq_greedy_obs(const aq_env_task *task, aq_engine *engine, size_t *rows, uint64_t seed,
                  float *obs, aq_error *error) AQ_MUST_USE;

#endif
