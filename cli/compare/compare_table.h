/*
 * Compare table: the tables of a comparison, a line for each arm, on the page and on a terminal.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_TABLE_H
#define AQ_CLI_COMPARE_COMPARE_TABLE_H

#include <stdio.h>

#include "cli/compare/compare_summary.h"
#include "cli/text/long_text.h"
#include "common/base/error.h"

/* As HTML, with how the figures were come by. */
void aq_compare_table_add(const aq_compare_summary *summary, aq_long_text *out);

/* As text, with what was compared, and what became of runs that did not finish. AQ_E_NOMEM. */
int aq_compare_table_print(const aq_compare_summary *summary, FILE *out) AQ_MUST_USE;

#endif
