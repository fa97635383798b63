/*
 * Compare report: the files that a comparison leaves in its folder: compare.json, compare.csv,
 * curves.csv, a figure each as NAME.svg, and report.html. Each is written whole or not at all, so
 * that they can be made again at any time.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_REPORT_H
#define AQ_CLI_COMPARE_COMPARE_REPORT_H

#include "cli/compare/compare_summary.h"
#include "common/base/error.h"

int aq_compare_report_write(const aq_compare_summary *summary, aq_error *error) AQ_MUST_USE;

#endif
