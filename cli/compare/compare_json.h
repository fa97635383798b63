/*
 * Compare JSON: compare.json, a row for each arm and one for each run. docs/compare.md says
 * what each member is.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_JSON_H
#define AQ_CLI_COMPARE_COMPARE_JSON_H

#include <jansson.h>

#include "cli/compare/compare_summary.h"

/* A new object; NULL without memory. */
json_t *aq_compare_json(const aq_compare_summary *summary);

#endif
