/*
 * Config view: a run's configuration as JSON, and what people want to know of it first.
 */
#ifndef AQ_CLI_POLICY_CONFIG_VIEW_H
#define AQ_CLI_POLICY_CONFIG_VIEW_H

#include <jansson.h>
#include <stdio.h>

#include "common/base/error.h"
#include "common/config/run_config.h"

/* Reads a configuration as it was printed: what the text leaves out is the default. */
int aq_config_view_parse(const char *text, aq_run_config *ret_config, aq_error *error) AQ_MUST_USE;

/* Every setting: {"task": …, "learner": {"algorithm": "dqn", …}, …}. NULL when out of memory. */
json_t *aq_config_view_json(const aq_run_config *config);

/* The facts that tell one run from another. */
void aq_config_view_print(FILE *out, const aq_run_config *config);

#endif
