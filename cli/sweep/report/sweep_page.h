/*
 * Sweep page: a sweep as one page of HTML that needs nothing else.
 */
#ifndef AQ_CLI_SWEEP_REPORT_SWEEP_PAGE_H
#define AQ_CLI_SWEEP_REPORT_SWEEP_PAGE_H

#include "cli/sweep/report/sweep_summary.h"
#include "cli/text/long_text.h"

void aq_sweep_page(const aq_sweep_summary *summary, aq_long_text *out);

#endif
