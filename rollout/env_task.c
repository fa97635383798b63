/*
 * The checks between settings, policies and environments.
 */
#include "rollout/env_task.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/nearest.h"

/* A space is small enough to describe in a line. */
enum { SCHEMA_TEXT_BYTES = 128 };

static int check_acting(const aq_env_class *env, const aq_schema *schema, aq_error *error)
{
    char text[SCHEMA_TEXT_BYTES];
    if (schema->obs.kind != AQ_SPACE_BOX || schema->obs.dtype != AQ_DTYPE_F32 ||
        schema->action.kind != AQ_SPACE_DISCRETE) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s is \"%s\"; acting takes a box of f32 and gives a choice", env->name,
                       aq_schema_text(schema, text, sizeof(text)));
    }
    return 0;
}

int aq_env_task_init(const aq_env_class *env, aq_env_task *ret_task, aq_error *error)
{
    aq_schema schema = {0};
    void *params = aq_alloc(1, env->params_bytes);
    if (params == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the parameters of %s", env->name);
    }
    env->init_params(params);
    env->schema(params, &schema);
    aq_free(params);

    int rc = check_acting(env, &schema, error);
    if (rc != 0) {
        return rc;
    }
    *ret_task = (aq_env_task){
        .env = env,
        .schema_hash = aq_schema_hash(&schema),
        .obs_elements = (uint32_t)aq_space_elements(&schema.obs),
        .choice_count = schema.action.choice_count,
    };
    return 0;
}

static int fail_unknown(const char *name, aq_error *error)
{
    aq_nearest nearest;
    aq_nearest_init(&nearest, name);
    for (size_t i = 0; i < aq_env_count(); i++) {
        aq_nearest_offer(&nearest, aq_env_at(i)->name);
    }
    const char *guess = aq_nearest_name(&nearest);
    if (guess == NULL) {
        return aq_fail(error, AQ_E_NOT_FOUND, "there is no task \"%s\" in this build", name);
    }
    return aq_fail(error, AQ_E_NOT_FOUND,
                   "there is no task \"%s\" in this build; the nearest is \"%s\"", name, guess);
}

int aq_env_task_find(const char *name, uint64_t schema_hash, aq_env_task *ret_task, aq_error *error)
{
    const aq_env_class *env = aq_env_find(name);
    if (env == NULL) {
        return fail_unknown(name, error);
    }
    aq_env_task task;
    int rc = aq_env_task_init(env, &task, error);
    if (rc != 0) {
        return rc;
    }
    if (task.schema_hash != schema_hash) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "%s has schema %016" PRIx64 " here and %016" PRIx64
                       " in the run: the two were built from different versions",
                       env->name, task.schema_hash, schema_hash);
    }
    *ret_task = task;
    return 0;
}

int aq_env_task_check_policy(const aq_env_task *task, const aq_snapshot *snapshot, aq_error *error)
{
    if (strcmp(snapshot->task, task->env->name) != 0 && aq_env_find(snapshot->task) != task->env) {
        return aq_fail(error, AQ_E_SCHEMA, "a policy for \"%s\", not for \"%s\"", snapshot->task,
                       task->env->name);
    }
    if (aq_schema_hash(&snapshot->schema) != task->schema_hash) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "a policy for schema %016" PRIx64 "; that of %s is %016" PRIx64,
                       aq_schema_hash(&snapshot->schema), task->env->name, task->schema_hash);
    }
    if (snapshot->act_rule != AQ_ACT_ARGMAX) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "a policy that acts by rule %" PRIu32 "; only argmax, rule %d, is known",
                       snapshot->act_rule, AQ_ACT_ARGMAX);
    }
    if (aq_net_spec_inputs(&snapshot->spec) != task->obs_elements ||
        aq_net_spec_outputs(&snapshot->spec) != task->choice_count) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "a network of %" PRIu32 " inputs and %" PRIu32 " outputs; %s has %" PRIu32
                       " and %" PRIu32,
                       aq_net_spec_inputs(&snapshot->spec), aq_net_spec_outputs(&snapshot->spec),
                       task->env->name, task->obs_elements, task->choice_count);
    }
    return 0;
}
