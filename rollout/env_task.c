/*
 * The checks between settings, policies and environments.
 */
#include "rollout/env_task.h"

#include <inttypes.h>
#include <string.h>

/* A space is small enough to describe in a line. */
enum { SCHEMA_TEXT_BYTES = 128 };

static int check_acting(const aq_env *env, aq_error *error)
{
    char text[SCHEMA_TEXT_BYTES];
    const aq_space *action = &env->schema.action;
    const bool is_box = action->kind == AQ_SPACE_BOX;
    if (env->schema.obs.kind != AQ_SPACE_BOX || (is_box && action->dtype != AQ_DTYPE_F32)) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s is \"%s\"; acting takes a box of f32 or u8 and gives choices or a box "
                       "of f32",
                       env->name, aq_schema_text(&env->schema, text, sizeof(text)));
    }
    if (is_box && !aq_space_is_bounded(action)) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s has actions without bounds, or with too wide ones; a policy's output, "
                       "-1 to 1, has to be spread between two",
                       env->name);
    }
    return 0;
}

int aq_env_task_init(aq_env *env, aq_env_task *ret_task, aq_error *error)
{
    const aq_space *obs = &env->schema.obs, *action = &env->schema.action;
    int rc = check_acting(env, error);
    if (rc != 0) {
        return rc;
    }
    *ret_task = (aq_env_task){
        .env = aq_env_ref(env),
        .schema_hash = aq_schema_hash(&env->schema),
        .obs_dtype = obs->dtype,
        .obs_elements = (uint32_t)aq_space_elements(obs),
        .obs_bytes = aq_space_bytes(obs),
        .action_bytes = aq_space_bytes(action),
    };
    return 0;
}

int aq_env_task_open(const char *name, aq_env_task *ret_task, aq_error *error)
{
    aq_env *env;
    int rc = aq_env_open_to_act(name, &env, error);
    if (rc == 0) {
        rc = aq_env_task_init(env, ret_task, error);
        aq_env_unref(env);
    }
    return rc;
}

int aq_env_task_find(const char *name, uint64_t schema_hash, aq_env_task *ret_task, aq_error *error)
{
    aq_env *env;
    aq_env_task task;
    int rc = aq_env_open(name, &env, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_env_task_init(env, &task, error);
    aq_env_unref(env);
    if (rc != 0) {
        return rc;
    }
    if (task.schema_hash != schema_hash) {
        rc = aq_fail(error, AQ_E_SCHEMA,
                     "%s has schema %016" PRIx64 " here and %016" PRIx64
                     " in the run: the two were built from different versions",
                     task.env->name, task.schema_hash, schema_hash);
        aq_env_task_fini(&task);
        return rc;
    }
    *ret_task = task;
    return 0;
}

aq_env_task aq_env_task_copy(const aq_env_task *task)
{
    aq_env_task copy = *task;
    copy.env = aq_env_ref(task->env);
    return copy;
}

void aq_env_task_fini(aq_env_task *task)
{
    aq_env_unref(task->env);
    *task = (aq_env_task){0};
}

static bool is_named(const aq_env_task *task, const char *name)
{
    char full[AQ_TASK_NAME_MAX];
    return strcmp(name, task->env->name) == 0 ||
           (aq_env_full_name(name, full) == 0 && strcmp(full, task->env->name) == 0);
}

int aq_env_task_check_schema(const aq_env_task *task, const aq_snapshot *snapshot, aq_error *error)
{
    if (aq_schema_hash(&snapshot->schema) != task->schema_hash) {
        char its[SCHEMA_TEXT_BYTES], here[SCHEMA_TEXT_BYTES];
        return aq_fail(error, AQ_E_SCHEMA,
                       "a policy of another schema than %s: %s (%016" PRIx64
                       "), and here it is %s (%016" PRIx64 ")",
                       task->env->name, aq_schema_text(&snapshot->schema, its, sizeof(its)),
                       aq_schema_hash(&snapshot->schema),
                       aq_schema_text(&task->env->schema, here, sizeof(here)), task->schema_hash);
    }
    return 0;
}

int aq_env_task_check_policy(const aq_env_task *task, const aq_snapshot *snapshot, aq_error *error)
{
    if (!is_named(task, snapshot->task)) {
        return aq_fail(error, AQ_E_SCHEMA, "a policy for \"%s\", not for \"%s\"", snapshot->task,
                       task->env->name);
    }
    return aq_env_task_check_schema(task, snapshot, error);
}
