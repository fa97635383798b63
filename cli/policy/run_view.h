/*
 * Run view: a run folder, as people and programs want to see it.
 */
#ifndef AQ_CLI_POLICY_RUN_VIEW_H
#define AQ_CLI_POLICY_RUN_VIEW_H

#include <jansson.h>
#include <stdio.h>

#include "cli/policy/run_record.h"

/* NULL when out of memory. */
json_t *aq_run_view_json(const char *path, const aq_run_record *record);

void aq_run_view_print(FILE *out, const char *path, const aq_run_record *record);

#endif
