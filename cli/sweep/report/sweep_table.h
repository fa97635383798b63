/*
 * Sweep table: a sweep on a terminal: how far it is, its best trials, and what was found.
 */
#ifndef AQ_CLI_SWEEP_REPORT_SWEEP_TABLE_H
#define AQ_CLI_SWEEP_REPORT_SWEEP_TABLE_H

#include <stdio.h>

#include "cli/sweep/report/sweep_summary.h"

/* At most `rows` trials, the best first. AQ_E_NOMEM. */
int aq_sweep_table_print(const aq_sweep_summary *summary, size_t rows, FILE *out) AQ_MUST_USE;

/* "12 of 64 trials done, 2 running, best 487.5" in one line; returns `line`. */
const char *aq_sweep_progress_line(const aq_sweep_summary *summary, char *line, size_t size);

#endif
