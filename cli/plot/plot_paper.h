/*
 * Plot paper: what a chart is drawn on, one of the pens, so that a chart does not ask which. One
 * owner.
 */
#ifndef AQ_CLI_PLOT_PLOT_PAPER_H
#define AQ_CLI_PLOT_PLOT_PAPER_H

#include "cli/plot/plot_chart.h"
#include "cli/plot/plot_pen.h"

/* Draws a chart; a failure of its own goes into pen->rc. */
typedef void (*aq_plot_fn)(aq_plot_pen *pen, const void *chart);

/* Appends a picture of that size, on which `draw` was let, to `out`: what aq_plot_lines_draw
 * says. */
int aq_plot_on_paper(enum aq_plot_format format, uint32_t width, uint32_t height, const char *title,
                     aq_plot_fn draw, const void *chart, aq_buffer *out) AQ_MUST_USE;

#endif
