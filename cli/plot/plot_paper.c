/*
 * Plot paper: see plot_paper.h.
 */
#include "cli/plot/plot_paper.h"

#include "cli/plot/plot_raster.h"
#include "cli/plot/plot_svg.h"
#include "common/base/assert.h"

static int on_svg(uint32_t width, uint32_t height, const char *title, aq_plot_fn draw,
                  const void *chart, aq_buffer *out)
{
    aq_plot_svg svg;
    const size_t size = out->size;
    aq_plot_svg_begin(&svg, width, height, title, out);
    draw(&svg.pen, chart);
    int rc = aq_plot_svg_end(&svg);
    if (rc) {
        out->size = size; /* a part of a picture is none */
    }
    return rc;
}

static int on_raster(uint32_t width, uint32_t height, aq_plot_fn draw, const void *chart,
                     aq_buffer *out)
{
    aq_plot_raster raster;
    aq_plot_raster_begin(&raster, width, height);
    draw(&raster.pen, chart);
    return aq_plot_raster_end(&raster, out);
}

int aq_plot_on_paper(enum aq_plot_format format, uint32_t width, uint32_t height, const char *title,
                     aq_plot_fn draw, const void *chart, aq_buffer *out)
{
    AQ_ASSERT(width >= AQ_PLOT_SIDE_MIN && width <= AQ_PLOT_SIDE_MAX);
    AQ_ASSERT(height >= AQ_PLOT_SIDE_MIN && height <= AQ_PLOT_SIDE_MAX);
    return format == AQ_PLOT_SVG ? on_svg(width, height, title, draw, chart, out)
                                 : on_raster(width, height, draw, chart, out);
}
