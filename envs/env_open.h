/*
 * An open environment: a class with its parameters, made from a task's name with options, and with
 * the wrappers that the options ask for (env_wrap.h) around it. Reference-counted; immutable.
 */
#ifndef AQ_ENVS_ENV_OPEN_H
#define AQ_ENVS_ENV_OPEN_H

#include "common/base/error.h"
#include "common/base/references.h"
#include "common/policy/snapshot.h"
#include "envs/env.h"

typedef struct aq_env {
    const aq_env_class *class;
    char name[AQ_TASK_NAME_MAX]; /* the full one, with its options as given */
    void *params;
    aq_schema schema;
    uint32_t step_limit;     /* 0: none */
    double reward_threshold; /* NaN: none */
    const char *summary;     /* one sentence */
    const char *options;     /* its own, for help; NULL: none */
    bool can_be_drawn;
    aq_references references;
} aq_env;

/* AQ_E_NOT_FOUND, naming the nearest task there is; what the class's open refuses; an option that
 * nobody knows; a schema that cannot be; code that nobody has allowed (env_code.h). */
int aq_env_open(const char *name, aq_env **ret_env, aq_error *error) AQ_MUST_USE;

/* The same for who acts in it: where states are counted and the name does not say how they are
 * shown, as one of many, in bytes (`one_hot=bytes`, which is part of its name then). */
int aq_env_open_to_act(const char *name, aq_env **ret_env, aq_error *error) AQ_MUST_USE;

/* The same of a class that need not be in the registry: `name` is its own, or begins with its
 * prefix, and may have options behind it. */
int aq_env_open_class(const aq_env_class *class, const char *name, aq_env **ret_env,
                      aq_error *error) AQ_MUST_USE;

/* The full name of a task, its options included ("CartPole-v1" is "gym:CartPole-v1"), without
 * opening it. AQ_E_NOT_FOUND, AQ_E_INVALID. */
int aq_env_full_name(const char *name, char ret_name[AQ_TASK_NAME_MAX]) AQ_MUST_USE;

/* Why the last step, reset or picture of a state failed: what the class says of it, or else
 * `fallback`. */
const char *aq_env_said(const aq_env *env, const void *state, const char *fallback);

/* The end of what was said, of which a traceback's last line says most: as much as an aq_error has
 * room for beside the task's name and a few words, from a whole line on where lines are short. */
const char *aq_env_said_last(const char *said);

aq_env *aq_env_ref(aq_env *env);
void aq_env_unref(aq_env *env); /* NULL is fine */

#endif
