/*
 * Sweep report: what a sweep leaves: report.html, sweep.json, trials.csv, runs.csv and its figures.
 */
#ifndef AQ_CLI_SWEEP_REPORT_SWEEP_REPORT_H
#define AQ_CLI_SWEEP_REPORT_SWEEP_REPORT_H

#include "cli/sweep/report/sweep_summary.h"
#include "common/base/error.h"

/* Into the sweep's folder, over what an earlier one wrote. */
int aq_sweep_report_write(const aq_sweep_summary *summary, aq_error *error) AQ_MUST_USE;

#endif
