/*
 * Compare figures: the charts of a comparison.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_FIGURES_H
#define AQ_CLI_COMPARE_COMPARE_FIGURES_H

#include <stdbool.h>

#include "cli/compare/compare_summary.h"
#include "cli/plot/plot_chart.h"
#include "common/base/buffer.h"
#include "common/base/error.h"

enum aq_compare_figure {
    AQ_FIGURE_RETURN_TIME,
    AQ_FIGURE_RETURN_STEPS,
    AQ_FIGURE_ENERGY,
    AQ_FIGURE_ACTOR_TIME,
    AQ_FIGURE_LEARNER_TIME,
    AQ_FIGURE_REPLAY_TIME,
    AQ_FIGURE_COUNT
};

/* Of its file: "return-time"; static storage. */
const char *aq_compare_figure_name(enum aq_compare_figure figure);

/* Whether there is anything to show in it. */
bool aq_compare_figure_has_data(const aq_compare_summary *summary, enum aq_compare_figure figure);

/* Appends it as SVG. AQ_E_NOMEM, AQ_E_TOO_BIG. */
int aq_compare_figure_draw(const aq_compare_summary *summary, enum aq_compare_figure figure,
                           aq_buffer *out) AQ_MUST_USE;

/* The curve of one precision over its finished seeds, `points` of them evenly from the first
 * evaluation that all seeds have to the last: the running mean's mean, and its 95 % interval. Over
 * time in seconds, or over environment steps. Returns how many were filled: `points`, or 0 without
 * two evaluations of each seed. AQ_E_NOMEM. */
int aq_compare_band(const aq_compare_summary *summary, size_t precision, bool over_steps,
                    aq_plot_point *out, size_t points, size_t *ret_count) AQ_MUST_USE;

#endif
