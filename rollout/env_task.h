/*
 * Env task: an open environment, and whether a run's settings, and then a policy, fit it. Asked
 * once when a run is joined and once for each policy, so that stepping need not check anything.
 *
 * Any thread. Each owner of a task has a reference to its environment.
 */
#ifndef AQ_ROLLOUT_ENV_TASK_H
#define AQ_ROLLOUT_ENV_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/snapshot.h"
#include "envs/env_open.h"

typedef struct aq_env_task {
    aq_env *env; /* a reference */
    uint64_t schema_hash;
    uint32_t obs_dtype;    /* enum aq_dtype */
    uint32_t obs_elements; /* of one observation row: the inputs of a policy */
    size_t obs_bytes;      /* of one row */
    size_t action_bytes;   /* of one row: an int32 choice, or a float for each element */
} aq_env_task;

/* Takes a reference of its own. AQ_E_UNSUPPORTED, in words, where there is no rule here for acting:
 * observations or actions of a kind that no policy takes, or actions without bounds. */
int aq_env_task_init(aq_env *env, aq_env_task *ret_task, aq_error *error) AQ_MUST_USE;

/* Opens the task of that name for who acts in it. As aq_env_open_to_act, as aq_env_task_init. */
int aq_env_task_open(const char *name, aq_env_task *ret_task, aq_error *error) AQ_MUST_USE;

/* Opens the task of that name as it is. As aq_env_open, as aq_env_task_init, or AQ_E_SCHEMA when
 * this build's schema of it is not the one with `schema_hash`. */
int aq_env_task_find(const char *name, uint64_t schema_hash, aq_env_task *ret_task,
                     aq_error *error) AQ_MUST_USE;

/* Another owner's. */
aq_env_task aq_env_task_copy(const aq_env_task *task);
void aq_env_task_fini(aq_env_task *task); /* a zeroed one is fine */

/* Whether a valid snapshot, of whichever task, takes what this one shows and gives what it takes.
 * AQ_E_SCHEMA, in words. */
int aq_env_task_check_schema(const aq_env_task *task, const aq_snapshot *snapshot,
                             aq_error *error) AQ_MUST_USE;

/* Whether it is also a policy of this task. AQ_E_SCHEMA, in words. */
int aq_env_task_check_policy(const aq_env_task *task, const aq_snapshot *snapshot,
                             aq_error *error) AQ_MUST_USE;

#endif
