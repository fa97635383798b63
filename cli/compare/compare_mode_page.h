/*
 * Compare mode page: the tables of a comparison of modes, on the page and on a terminal.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_MODE_PAGE_H
#define AQ_CLI_COMPARE_COMPARE_MODE_PAGE_H

#include <stdio.h>

#include "cli/compare/compare_summary.h"
#include "cli/text/long_text.h"

/* Its tables, as HTML, with how their figures were come by. */
void aq_compare_mode_tables(const aq_compare_summary *summary, aq_long_text *out);

/* The same as text. AQ_E_NOMEM. */
int aq_compare_mode_print(const aq_compare_summary *summary, FILE *out) AQ_MUST_USE;

#endif
