/*
 * Plot lines: see plot_chart.h. Bands lie under all lines, and are cut off at the area's edges
 * where they are far wider than the lines: the interval of two runs is thirteen times their
 * spread, and nothing could be seen beside it. Points that fall on one and the same tenth of a px
 * are drawn once, so that a picture stays small, however many points a line has.
 */
#include <math.h>

#include "cli/plot/plot_chart.h"
#include "cli/plot/plot_frame.h"
#include "common/base/assert.h"
#include "common/base/memory.h"

enum { UNDER_PX = 22, X_TICK_EVERY_PX = 84 };

#define BAND_ROOM 0.5

/* How far a band goes on outside of an area that is clipped, in heights of it: its slope at the
 * edge is right then. */
#define BEYOND_AREA 100

/* The chart on its way to a picture. */
typedef struct lines_picture {
    const aq_plot_lines *chart;
    aq_plot_frame frame;
    aq_plot_scale x;
    bool empty;         /* not a single point */
    aq_plot_at *points; /* room for the longest line */
    aq_plot_cut *cuts;  /* likewise, for its band */
} lines_picture;

static bool is_placed(const aq_plot_axis *axis, double value)
{
    return isfinite(value) && (!axis->is_log || value > 0);
}

static bool is_point(const aq_plot_lines *chart, const aq_plot_point *point)
{
    return is_placed(&chart->x_axis, point->x) && is_placed(&chart->y_axis, point->y);
}

static bool is_cut(const aq_plot_lines *chart, const aq_plot_point *point)
{
    return is_point(chart, point) && isfinite(point->low) && isfinite(point->high);
}

/* ---- extent --------------------------------------------------------------------------------- */

typedef struct extent {
    double low, high;
} extent;

static void take(extent *of, double value)
{
    of->low = fmin(of->low, value);
    of->high = fmax(of->high, value);
}

/* Where the axis says so, it begins and ends there, whatever the points are. */
static void hold(extent *of, const aq_plot_axis *axis)
{
    const aq_plot_range *range = axis->range;
    if (range != NULL && isfinite(range->low)) {
        of->low = range->low;
        of->high = fmax(of->high, of->low);
    }
    if (range != NULL && isfinite(range->high)) {
        of->high = range->high;
        of->low = fmin(of->low, of->high);
    }
}

/* What the x axis leaves out tells nothing about the y axis. */
static bool is_seen(const aq_plot_lines *chart, const aq_plot_point *point)
{
    const aq_plot_range *range = chart->x_axis.range;
    return is_point(chart, point) &&
           (range == NULL || !(point->x < range->low || point->x > range->high));
}

/* Bands widen the axis by up to half of what the lines take, on either side. */
static void measure_bands(const aq_plot_lines *chart, extent *y)
{
    extent bands = *y;
    const double room = BAND_ROOM * (y->high - y->low);
    for (size_t i = 0; i < chart->series_count; i++) {
        const aq_plot_series *series = &chart->series[i];
        for (size_t j = 0; j < series->count; j++) {
            const aq_plot_point *point = &series->points[j];
            if (is_seen(chart, point) && is_cut(chart, point)) {
                take(&bands, is_placed(&chart->y_axis, point->low) ? point->low : point->y);
                take(&bands, point->high);
            }
        }
    }
    if (room > 0) {
        bands.low = fmax(bands.low, y->low - room);
        bands.high = fmin(bands.high, y->high + room);
    }
    *y = bands;
}

static void measure(const aq_plot_lines *chart, extent *x, extent *y)
{
    for (size_t i = 0; i < chart->series_count; i++) {
        const aq_plot_series *series = &chart->series[i];
        for (size_t j = 0; j < series->count; j++) {
            if (is_seen(chart, &series->points[j])) {
                take(x, series->points[j].x);
                take(y, series->points[j].y);
            }
        }
    }
    measure_bands(chart, y);
    if (chart->level_name && is_placed(&chart->y_axis, chart->level)) {
        take(y, chart->level);
    }
}

/* ---- layout --------------------------------------------------------------------------------- */

static void lay(lines_picture *picture)
{
    const aq_plot_lines *chart = picture->chart;
    aq_plot_frame *frame = &picture->frame;
    extent x = {INFINITY, -INFINITY}, y = {INFINITY, -INFINITY};
    measure(chart, &x, &y);
    picture->empty = x.low > x.high;
    x = x.low <= x.high ? x : (extent){chart->x_axis.is_log, 1};
    y = y.low <= y.high ? y : (extent){chart->y_axis.is_log, 1};
    hold(&x, &chart->x_axis);
    hold(&y, &chart->y_axis);
    *frame = (aq_plot_frame){
        .title = chart->title,
        .x_label = chart->x_label,
        .y_label = chart->y_label,
        .legend_count = chart->series_count,
        .width = chart->width,
        .height = chart->height,
        .under_px = UNDER_PX,
        .y_is_log = chart->y_axis.is_log,
    };
    for (size_t i = 0; i < AQ_PLOT_NOTES_MAX; i++) {
        frame->notes[i].name = chart->notes[i];
    }
    for (size_t i = 0; i < chart->series_count; i++) {
        frame->legend[i] = (aq_legend_entry){chart->series[i].name, chart->series[i].colour};
    }
    aq_plot_frame_lay(frame, y.low, y.high, chart->y_axis.range == NULL);
    const double ticks = fmax(2, fmin(10, frame->area.width / X_TICK_EVERY_PX));
    picture->x = chart->x_axis.is_log ? aq_plot_scale_log(x.low, x.high, (uint32_t)ticks)
                                      : aq_plot_scale_of(x.low, x.high, (uint32_t)ticks, false);
}

static double place_x(const lines_picture *picture, double value)
{
    const aq_plot_box *area = &picture->frame.area;
    return area->x + area->width * aq_plot_scale_at(&picture->x, value);
}

static double tenth(double px)
{
    return rint(10 * px) / 10;
}

/* ---- drawing -------------------------------------------------------------------------------- */

static void draw_x_axis(const lines_picture *picture, aq_long_text *svg)
{
    const aq_plot_box *area = &picture->frame.area;
    const double bottom = area->y + area->height;
    aq_tick_label room;
    aq_plot_svg_rule(svg, AQ_RULE_AXIS, (aq_plot_at){area->x, bottom},
                     (aq_plot_at){area->x + area->width, bottom});
    for (uint32_t i = 0; i < picture->x.tick_count; i++) {
        const double x = place_x(picture, aq_plot_tick(&picture->x, i));
        aq_plot_svg_rule(svg, AQ_RULE_AXIS, (aq_plot_at){x, bottom}, (aq_plot_at){x, bottom + 5});
        aq_plot_svg_text(svg, AQ_LETTERS_TICK, AQ_ANCHOR_MIDDLE, false,
                         (aq_plot_at){x, bottom + 19}, aq_plot_tick_label(&picture->x, i, &room));
    }
}

/* The picture shows its area alone, as a range leaves things out. */
static bool is_clipped(const aq_plot_lines *chart)
{
    return chart->x_axis.range != NULL || chart->y_axis.range != NULL;
}

static void draw_band(lines_picture *picture, aq_long_text *svg, const aq_plot_series *series)
{
    const aq_plot_box *area = &picture->frame.area;
    const double beyond = is_clipped(picture->chart) ? BEYOND_AREA * area->height : 0;
    size_t count = 0;
    for (size_t i = 0; i <= series->count; i++) {
        if (i == series->count || !is_cut(picture->chart, &series->points[i])) {
            if (count > 1) {
                aq_plot_svg_band(svg, series->colour, picture->cuts, count);
            }
            count = 0;
            continue;
        }
        const aq_plot_point *point = &series->points[i];
        const double top = aq_plot_frame_y(&picture->frame, point->high);
        const double bottom = aq_plot_frame_y(&picture->frame, point->low);
        const aq_plot_cut cut = {
            .x = tenth(place_x(picture, point->x)),
            .top = tenth(fmax(top, area->y - beyond)),
            .bottom = tenth(fmin(bottom, area->y + area->height + beyond)),
        };
        const aq_plot_cut *before = count > 0 ? &picture->cuts[count - 1] : NULL;
        if (!before || before->x != cut.x || before->top != cut.top ||
            before->bottom != cut.bottom) {
            picture->cuts[count++] = cut;
        }
    }
}

static void draw_line(lines_picture *picture, aq_long_text *svg, const aq_plot_series *series)
{
    size_t count = 0;
    for (size_t i = 0; i <= series->count; i++) {
        if (i == series->count || !is_point(picture->chart, &series->points[i])) {
            if (count > 0) {
                aq_plot_svg_curve(svg, series->colour, series->name, picture->points, count);
            }
            count = 0;
            continue;
        }
        const aq_plot_at at = {
            tenth(place_x(picture, series->points[i].x)),
            tenth(aq_plot_frame_y(&picture->frame, series->points[i].y)),
        };
        const aq_plot_at *before = count > 0 ? &picture->points[count - 1] : NULL;
        if (!before || before->x != at.x || before->y != at.y) {
            picture->points[count++] = at;
        }
    }
}

static void draw_level(const lines_picture *picture, aq_long_text *svg)
{
    const aq_plot_lines *chart = picture->chart;
    const aq_plot_box *area = &picture->frame.area;
    if (!chart->level_name || !is_placed(&chart->y_axis, chart->level)) {
        return;
    }
    const double y = aq_plot_frame_y(&picture->frame, chart->level);
    aq_plot_svg_rule(svg, AQ_RULE_LEVEL, (aq_plot_at){area->x, y},
                     (aq_plot_at){area->x + area->width, y});
    /* At the left, where curves have not come so far yet; below it when there is no room above. */
    aq_plot_svg_text(svg, AQ_LETTERS_TICK, AQ_ANCHOR_START, false,
                     (aq_plot_at){area->x + 6, y - 6 > area->y + 8 ? y - 6 : y + 16},
                     chart->level_name);
}

static void draw(lines_picture *picture, aq_long_text *svg)
{
    const aq_plot_lines *chart = picture->chart;
    aq_plot_frame_draw(&picture->frame, svg);
    draw_x_axis(picture, svg);
    if (is_clipped(chart)) {
        aq_plot_svg_clip(svg, picture->frame.area);
    }
    for (size_t i = 0; i < chart->series_count; i++) {
        draw_band(picture, svg, &chart->series[i]);
    }
    draw_level(picture, svg);
    for (size_t i = 0; i < chart->series_count; i++) {
        draw_line(picture, svg, &chart->series[i]);
    }
    if (is_clipped(chart)) {
        aq_plot_svg_clip_end(svg);
    }
    if (picture->empty) {
        const aq_plot_box *area = &picture->frame.area;
        aq_plot_svg_text(svg, AQ_LETTERS_LABEL, AQ_ANCHOR_MIDDLE, false,
                         (aq_plot_at){area->x + area->width / 2, area->y + area->height / 2},
                         "no data");
    }
}

void aq_plot_lines_draw(const aq_plot_lines *chart, aq_long_text *out)
{
    lines_picture picture = {.chart = chart};
    size_t longest = 1;
    AQ_ASSERT(chart->series_count <= AQ_PLOT_SERIES_MAX);
    for (size_t i = 0; i < chart->series_count; i++) {
        AQ_ASSERT(chart->series[i].count <= AQ_PLOT_POINTS_MAX);
        longest = chart->series[i].count > longest ? chart->series[i].count : longest;
    }
    picture.points = aq_alloc(longest, sizeof(*picture.points));
    picture.cuts = aq_alloc(longest, sizeof(*picture.cuts));
    if (picture.points != NULL && picture.cuts != NULL) {
        lay(&picture);
        aq_plot_svg_begin(out, picture.frame.width, picture.frame.height, chart->title);
        draw(&picture, out);
        aq_plot_svg_end(out);
    } else {
        aq_long_text_fail(out, AQ_E_NOMEM);
    }
    aq_free(picture.points);
    aq_free(picture.cuts);
}
