/*
 * Env view: a task, as people and programs want to see it.
 */
#ifndef AQ_CLI_ENV_ENV_VIEW_H
#define AQ_CLI_ENV_ENV_VIEW_H

#include <jansson.h>
#include <stdio.h>

#include "envs/env_open.h"

enum { AQ_ENV_SUITE_BYTES = 32 };

/* What stands before the colon of a task's name: "gym". Returns `out`. */
const char *aq_env_suite(const char *name, char out[AQ_ENV_SUITE_BYTES]);

/* NULL when out of memory. */
json_t *aq_env_view_json(const aq_env *env);
void aq_env_view_print(FILE *out, const aq_env *env);

#endif
