/*
 * Env list: all tasks that this build has, by suite, and the families of those that users bring.
 */
#ifndef AQ_CLI_ENV_ENV_LIST_H
#define AQ_CLI_ENV_ENV_LIST_H

#include <jansson.h>
#include <stdio.h>

#include "common/base/error.h"

/* {"envs": [what aq_env_view_json makes, …], "families": [{"prefix", "suite", "summary",
 * "options"}, …], "options_of_all": what every task takes}. Every task is opened for it; what that
 * refuses, or AQ_E_NOMEM. */
int aq_env_list_json(json_t **ret_object, aq_error *error) AQ_MUST_USE;

int aq_env_list_print(FILE *out, aq_error *error) AQ_MUST_USE;

#endif
