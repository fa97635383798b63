/*
 * Compare CSV: compare.csv, a line for each arm, and curves.csv, a line for each evaluation
 * of each run, for whoever draws their own figures. What is not known is left empty.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_CSV_H
#define AQ_CLI_COMPARE_COMPARE_CSV_H

#include "cli/compare/compare_summary.h"
#include "cli/text/long_text.h"

void aq_compare_csv_rows(const aq_compare_summary *summary, aq_long_text *out);
void aq_compare_csv_curves(const aq_compare_summary *summary, aq_long_text *out);

#endif
