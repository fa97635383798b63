/*
 * Sweep coordinates: parallel coordinates, an axis for each setting and one for the score, and a
 * line through the values of each trial.
 */
#ifndef AQ_CLI_SWEEP_REPORT_SWEEP_COORDINATES_H
#define AQ_CLI_SWEEP_REPORT_SWEEP_COORDINATES_H

#include "cli/sweep/report/sweep_summary.h"
#include "cli/text/long_text.h"

/* Appends the SVG; the best tenth stands out, at the last rungs. What goes wrong is the text's
 * failure. */
void aq_sweep_coordinates_draw(const aq_sweep_summary *summary, aq_long_text *out);

#endif
