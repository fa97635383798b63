/*
 * Sweep figures: the charts of a sweep, each as SVG.
 */
#ifndef AQ_CLI_SWEEP_REPORT_SWEEP_FIGURES_H
#define AQ_CLI_SWEEP_REPORT_SWEEP_FIGURES_H

#include "cli/sweep/report/sweep_summary.h"
#include "cli/text/long_text.h"

typedef struct aq_sweep_chart {
    const char *name; /* of its file: "best" */
    /* Whether there is anything to show in it. */
    bool (*has_data)(const aq_sweep_summary *summary);
    /* Appends it. What goes wrong is the text's failure. */
    void (*draw)(const aq_sweep_summary *summary, aq_long_text *out);
} aq_sweep_chart;

enum { AQ_SWEEP_CHART_COUNT = 6 };
extern const aq_sweep_chart aq_sweep_charts[AQ_SWEEP_CHART_COUNT]; /* as the page has them */

#endif
