/*
 * Plot bars: see plot_chart.h. Bars start at zero, or their lengths would say nothing. Each says
 * what it comes to where there is room for it.
 */
#include <math.h>
#include <stdio.h>

#include "cli/plot/plot_chart.h"
#include "cli/plot/plot_frame.h"
#include "common/base/assert.h"
#include "common/base/parse.h"

enum {
    NAME_PX = 22,
    NAME_PX_MAX = 140, /* of names that stand upright */
    BAR_PX_MAX = 72,
};

#define GROUP_SHARE 0.72 /* of a group's place that its bar takes */

typedef struct bars_picture {
    const aq_plot_bars *chart;
    aq_plot_frame frame;
    bool upright; /* names of groups are too long to lie */
    double slot;  /* px of a group */
    double bar;   /* px of its bar */
} bars_picture;

static double value_of(const aq_plot_bars *chart, size_t group, size_t part)
{
    return chart->values[group * chart->part_count + part];
}

/* ---- layout --------------------------------------------------------------------------------- */

static double highest(const aq_plot_bars *chart)
{
    double high = 0;
    for (size_t group = 0; group < chart->group_count; group++) {
        double sum = 0;
        for (size_t part = 0; part < chart->part_count; part++) {
            const double value = value_of(chart, group, part);
            sum += isfinite(value) ? value : 0;
        }
        high = fmax(high, sum);
    }
    return high > 0 ? high : 1;
}

static void lay(bars_picture *picture)
{
    const aq_plot_bars *chart = picture->chart;
    const double high = highest(chart);
    double widest = 0;
    picture->frame = (aq_plot_frame){
        .title = chart->title,
        .y_label = chart->y_label,
        .legend_count = chart->parts ? chart->part_count : 0,
        .legend_boxes = true,
        .width = chart->width,
        .height = chart->height,
        .under_px = NAME_PX,
    };
    aq_plot_frame *frame = &picture->frame;
    for (size_t i = 0; i < frame->legend_count; i++) {
        frame->legend[i] = (aq_legend_entry){chart->parts[i], (uint32_t)i};
    }
    for (size_t i = 0; i < chart->group_count; i++) {
        widest = fmax(widest, aq_plot_text_px(chart->groups[i]));
    }
    aq_plot_frame_lay(frame, 0, high, true);
    picture->slot = frame->area.width / (double)chart->group_count;
    picture->upright = widest > picture->slot - 4;
    if (picture->upright) { /* once more, with room for them */
        frame->under_px = fmin(NAME_PX_MAX, widest + 10);
        aq_plot_frame_lay(frame, 0, high, true);
        picture->slot = frame->area.width / (double)chart->group_count;
    }
    picture->bar = fmin(BAR_PX_MAX, picture->slot * GROUP_SHARE);
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* From one value to another; its middle is at `x`. */
static void draw_part(const bars_picture *picture, aq_long_text *svg, size_t group, size_t part,
                      double x, double from, double to)
{
    const aq_plot_bars *chart = picture->chart;
    const double a = aq_plot_frame_y(&picture->frame, from);
    const double b = aq_plot_frame_y(&picture->frame, to);
    char name[AQ_PLOT_TEXT_BYTES];
    int rc =
        aq_text_format(name, sizeof(name), "%s%s%s: %.4g", chart->groups[group],
                       chart->parts ? ", " : "", chart->parts ? chart->parts[part] : "", to - from);
    (void)rc; /* a long name is cut */
    aq_plot_svg_box(svg, (uint32_t)part, name,
                    (aq_plot_box){x - picture->bar / 2, fmin(a, b), picture->bar, fabs(a - b)});
}

/* Three digits, as "0.0123", "450" and "12.3k"; thousands are as short whole. */
static const char *value_text(char *out, size_t size, double value)
{
    if (isfinite(value) && fabs(value) >= 1e4) {
        return aq_text_count(out, size, value);
    }
    if (!isfinite(value)) {
        (void)snprintf(out, size, "n/a");
    } else if (fabs(value) >= 1e3) {
        (void)snprintf(out, size, "%.0f", value);
    } else {
        (void)snprintf(out, size, "%.3g", value);
    }
    return out;
}

/* `y` is the end of the bar. */
static void draw_value(const bars_picture *picture, aq_long_text *svg, double x, double y,
                       double value)
{
    char text[32];
    (void)value_text(text, sizeof(text), value);
    if (aq_plot_text_px(text) <= 1.25 * picture->bar) {
        aq_plot_svg_text(svg, AQ_LETTERS_TICK, AQ_ANCHOR_MIDDLE, false, (aq_plot_at){x, y - 4},
                         text);
    }
}

static void draw_bar(const bars_picture *picture, aq_long_text *svg, size_t group, double middle)
{
    const aq_plot_bars *chart = picture->chart;
    double sum = 0;
    bool any = false;
    for (size_t part = 0; part < chart->part_count; part++) {
        const double value = value_of(chart, group, part);
        if (isfinite(value)) {
            draw_part(picture, svg, group, part, middle, sum, sum + value);
            sum += value;
            any = true;
        }
    }
    draw_value(picture, svg, middle, aq_plot_frame_y(&picture->frame, sum), any ? sum : NAN);
}

static void draw_name(const bars_picture *picture, aq_long_text *svg, size_t group, double middle)
{
    const aq_plot_box *area = &picture->frame.area;
    const double bottom = area->y + area->height;
    if (picture->upright) {
        aq_plot_svg_text(svg, AQ_LETTERS_TICK, AQ_ANCHOR_END, true,
                         (aq_plot_at){middle + 4, bottom + 8}, picture->chart->groups[group]);
    } else {
        aq_plot_svg_text(svg, AQ_LETTERS_TICK, AQ_ANCHOR_MIDDLE, false,
                         (aq_plot_at){middle, bottom + 18}, picture->chart->groups[group]);
    }
}

static void draw(const bars_picture *picture, aq_long_text *svg)
{
    const aq_plot_bars *chart = picture->chart;
    const aq_plot_box *area = &picture->frame.area;
    aq_plot_frame_draw(&picture->frame, svg);
    for (size_t group = 0; group < chart->group_count; group++) {
        const double middle = area->x + ((double)group + 0.5) * picture->slot;
        draw_bar(picture, svg, group, middle);
        draw_name(picture, svg, group, middle);
    }
    const double zero = aq_plot_frame_y(&picture->frame, 0);
    aq_plot_svg_rule(svg, AQ_RULE_AXIS, (aq_plot_at){area->x, zero},
                     (aq_plot_at){area->x + area->width, zero});
}

void aq_plot_bars_draw(const aq_plot_bars *chart, aq_long_text *out)
{
    bars_picture picture = {.chart = chart};
    AQ_ASSERT(chart->group_count >= 1);
    AQ_ASSERT(chart->group_count <= AQ_PLOT_GROUPS_MAX);
    AQ_ASSERT(chart->part_count >= 1);
    AQ_ASSERT(chart->part_count <= AQ_PLOT_SERIES_MAX);
    lay(&picture);
    aq_plot_svg_begin(out, picture.frame.width, picture.frame.height, chart->title);
    draw(&picture, out);
    aq_plot_svg_end(out);
}
