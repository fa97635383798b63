/*
 * Policy view: a policy file, as people and programs want to see it.
 */
#ifndef AQ_CLI_POLICY_POLICY_VIEW_H
#define AQ_CLI_POLICY_POLICY_VIEW_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"
#include "common/policy/snapshot.h"

/* `file_bytes` is the size of the file, or 0 where the policy is part of another. NULL when out of
 * memory. */
json_t *aq_policy_view_json(const aq_snapshot *snapshot, size_t file_bytes);

/* The facts below a line that names the file, then a table of layers. AQ_E_NOMEM. */
int aq_policy_view_print(FILE *out, const char *path, const aq_snapshot *snapshot,
                         size_t file_bytes) AQ_MUST_USE;

/* The facts alone. */
void aq_policy_view_print_facts(FILE *out, const aq_snapshot *snapshot, size_t file_bytes);

/* "version 31 of learner step 3100, int8, 5.1 kB (18.3 kB in fp32)" into out[size]; returns out. */
const char *aq_policy_view_line(const aq_snapshot *snapshot, char *out, size_t size);

#endif
