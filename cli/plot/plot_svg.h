/*
 * Plot SVG: the pen that writes SVG text. See plot_pen.h.
 */
#ifndef AQ_CLI_PLOT_PLOT_SVG_H
#define AQ_CLI_PLOT_PLOT_SVG_H

#include "cli/plot/plot_pen.h"
#include "common/base/buffer.h"

typedef struct aq_plot_svg {
    aq_plot_pen pen;
    aq_buffer *out; /* lent */
} aq_plot_svg;

/* Begins an <svg> element of that size; `title`, which may be NULL, is what it shows. */
void aq_plot_svg_begin(aq_plot_svg *svg, uint32_t width, uint32_t height, const char *title,
                       aq_buffer *out);

/* Ends the element. The pen's error, if it had one. */
int aq_plot_svg_end(aq_plot_svg *svg) AQ_MUST_USE;

#endif
