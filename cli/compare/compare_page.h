/*
 * Compare page: report.html, one file that needs no other: the tables, the figures as SVG, what
 * they say in words, the machine, the configuration and the commands. Light or dark as the reader
 * has it, and fit to be printed.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_PAGE_H
#define AQ_CLI_COMPARE_COMPARE_PAGE_H

#include "cli/compare/compare_summary.h"
#include "cli/text/long_text.h"

void aq_compare_page(const aq_compare_summary *summary, aq_long_text *out);

#endif
