/*
 * Sweep figures: the charts of a sweep, each as SVG.
 */
#ifndef AQ_CLI_SWEEP_REPORT_SWEEP_FIGURES_H
#define AQ_CLI_SWEEP_REPORT_SWEEP_FIGURES_H

#include "cli/sweep/report/sweep_summary.h"
#include "cli/text/long_text.h"
#include "common/base/choice.h"

#define AQ_SWEEP_CHARTS(X)                                                                         \
    X(AQ_SWEEP_CHART_BEST, "best")     /* the best so far, against what was spent */               \
    X(AQ_SWEEP_CHART_CURVES, "curves") /* the winner and what is given, over their seeds */        \
    X(AQ_SWEEP_CHART_FRONT, "front")   /* scores against costs, and what no other beats */         \
    X(AQ_SWEEP_CHART_IMPORTANCE, "importance")                                                     \
    X(AQ_SWEEP_CHART_COORDINATES, "coordinates") /* a line through the settings of each trial */   \
    X(AQ_SWEEP_CHART_LINEAGE, "lineage")         /* of a population: who went on from whom */
enum aq_sweep_chart { AQ_SWEEP_CHARTS(AQ_CHOICE_CONSTANT) AQ_SWEEP_CHART_COUNT };
const char *aq_sweep_chart_name(enum aq_sweep_chart chart); /* static storage */

/* Whether there is anything to show in it. */
bool aq_sweep_chart_has_data(const aq_sweep_summary *summary, enum aq_sweep_chart chart);

/* Appends it. What goes wrong is the text's failure. */
void aq_sweep_chart_draw(const aq_sweep_summary *summary, enum aq_sweep_chart chart,
                         aq_long_text *out);

#endif
