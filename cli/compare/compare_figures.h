/*
 * Compare figures: the charts of a comparison.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_FIGURES_H
#define AQ_CLI_COMPARE_COMPARE_FIGURES_H

#include <stdbool.h>

#include "cli/compare/compare_summary.h"
#include "cli/plot/plot_chart.h"
#include "cli/text/long_text.h"
#include "common/base/choice.h"
#include "common/base/error.h"

#define AQ_FIGURES(X)                                                                              \
    X(AQ_FIGURE_RETURN_TIME, "return-time")                                                        \
    X(AQ_FIGURE_RETURN_STEPS, "return-steps")                                                      \
    X(AQ_FIGURE_ENERGY, "energy")                                                                  \
    X(AQ_FIGURE_ACTOR_TIME, "actor-time")                                                          \
    X(AQ_FIGURE_LEARNER_TIME, "learner-time")                                                      \
    X(AQ_FIGURE_REPLAY_TIME, "replay-time")
enum aq_compare_figure { AQ_FIGURES(AQ_CHOICE_CONSTANT) AQ_FIGURE_COUNT };

/* Of its file: "return-time"; static storage. */
const char *aq_compare_figure_name(enum aq_compare_figure figure);

/* Whether there is anything to show in it. */
bool aq_compare_figure_has_data(const aq_compare_summary *summary, enum aq_compare_figure figure);

/* Appends it as SVG; what goes wrong is the text's failure. */
void aq_compare_figure_draw(const aq_compare_summary *summary, enum aq_compare_figure figure,
                            aq_long_text *out);

/* The curve of one arm over its finished seeds, where all have one: the mean of their running
 * means, and its 95 % bootstrap interval (plot_band.h), up to `points` of them. Over time in
 * seconds, or over environment steps. None without two evaluations of each seed. AQ_E_NOMEM. */
int aq_compare_band(const aq_compare_summary *summary, size_t arm, bool over_steps,
                    aq_plot_point *out, size_t points, size_t *ret_count) AQ_MUST_USE;

#endif
