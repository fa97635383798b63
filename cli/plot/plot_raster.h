/*
 * Plot raster: the pen that draws pixels, two for each px, and makes a PNG of them. See plot_pen.h.
 */
#ifndef AQ_CLI_PLOT_PLOT_RASTER_H
#define AQ_CLI_PLOT_PLOT_RASTER_H

#include "cli/plot/plot_pen.h"
#include "common/base/buffer.h"
#include "envs/canvas.h"

typedef struct aq_plot_raster {
    aq_plot_pen pen;
    aq_canvas canvas;
} aq_plot_raster;

/* A white picture. Out of memory is kept as the pen's error. */
void aq_plot_raster_begin(aq_plot_raster *raster, uint32_t width, uint32_t height);

/* Appends the PNG to `out` and releases the pixels. The pen's error, if it had one; what
 * aq_png_picture says. */
int aq_plot_raster_end(aq_plot_raster *raster, aq_buffer *out) AQ_MUST_USE;

#endif
