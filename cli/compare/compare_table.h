/*
 * Compare table: the comparison on a terminal, a line for each arm.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_TABLE_H
#define AQ_CLI_COMPARE_COMPARE_TABLE_H

#include <stdio.h>

#include "cli/compare/compare_summary.h"
#include "common/base/error.h"

/* AQ_E_NOMEM. */
int aq_compare_table_print(const aq_compare_summary *summary, FILE *out) AQ_MUST_USE;

#endif
