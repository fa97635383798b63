/*
 * Sweep CSV: a line for each trial at each rung, and one for each run.
 */
#ifndef AQ_CLI_SWEEP_REPORT_SWEEP_CSV_H
#define AQ_CLI_SWEEP_REPORT_SWEEP_CSV_H

#include "cli/sweep/report/sweep_summary.h"
#include "cli/text/long_text.h"

void aq_sweep_csv_trials(const aq_sweep_summary *summary, aq_long_text *out);
void aq_sweep_csv_runs(const aq_sweep_summary *summary, aq_long_text *out);

#endif
