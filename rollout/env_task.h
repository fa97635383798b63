/*
 * Env task: whether a run's settings, and then a policy, fit an environment of this build. Asked
 * once when a run is joined and once for each policy, so that stepping need not check anything.
 *
 * Any thread.
 */
#ifndef AQ_ROLLOUT_ENV_TASK_H
#define AQ_ROLLOUT_ENV_TASK_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/rl/snapshot.h"
#include "envs/env.h"

typedef struct aq_env_task {
    const aq_env_class *env;
    uint64_t schema_hash;
    uint32_t obs_elements; /* floats of one observation row */
    uint32_t choice_count; /* actions are 0 .. choice_count - 1 */
} aq_env_task;

/* AQ_E_UNSUPPORTED, in words, for observations that are not a box of f32 or actions that are not a
 * choice: there is no rule here for acting on those. */
int aq_env_task_init(const aq_env_class *env, aq_env_task *ret_task, aq_error *error) AQ_MUST_USE;

/* The task of that name. AQ_E_NOT_FOUND (naming the nearest there is), AQ_E_SCHEMA when this
 * build's schema of it is not the one with `schema_hash`, or as aq_env_task_init. */
int aq_env_task_find(const char *name, uint64_t schema_hash, aq_env_task *ret_task,
                     aq_error *error) AQ_MUST_USE;

/* Whether a valid snapshot is a policy for this task. AQ_E_SCHEMA, AQ_E_UNSUPPORTED (another way to
 * act), in words. */
int aq_env_task_check_policy(const aq_env_task *task, const aq_snapshot *snapshot,
                             aq_error *error) AQ_MUST_USE;

#endif
