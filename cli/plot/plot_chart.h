/*
 * Plot: charts as SVG: lines with bands, and bars. A chart is one element that stands alone as a
 * file or lies in a page: it follows the reader's light or dark colours, and prints in light ones.
 * plot_png.h makes a PNG of it.
 *
 * A chart only lends: texts, points and values are the caller's and read while it is drawn. Texts
 * are UTF-8 and may hold anything; what is not printable is made plain. Any thread.
 */
#ifndef AQ_CLI_PLOT_PLOT_CHART_H
#define AQ_CLI_PLOT_PLOT_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/run/run_series.h"
#include "cli/text/long_text.h"

enum {
    AQ_PLOT_SERIES_MAX = AQ_CURVES_MAX, /* lines of a chart, parts of a bar */
    AQ_PLOT_GROUPS_MAX = 64,            /* groups of bars */
    AQ_PLOT_POINTS_MAX = 1 << 20,
    AQ_PLOT_BYTES_MAX = 64 << 20, /* a limit for the texts that charts are drawn into */
    AQ_PLOT_SIDE_MIN = 160,
    AQ_PLOT_SIDE_MAX = 4096,
    AQ_PLOT_NOTES_MAX = 5,
};

/* One point of a line. A point whose x or y is not finite is a gap in the line; one whose low or
 * high is not finite is a gap in the band. A band far wider than the lines is cut off. */
typedef struct aq_plot_point {
    double x, y;
    double low, high; /* the band: low <= y <= high */
} aq_plot_point;

typedef struct aq_plot_series {
    const char *name;            /* in the legend; NULL: not there */
    const aq_plot_point *points; /* x never falls */
    size_t count;                /* <= AQ_PLOT_POINTS_MAX; 0 is fine */
    uint32_t colour;             /* of the palette, which repeats; dashed from its second time on */
} aq_plot_series;

/* Where an axis begins and ends; NaN: where the points do. */
typedef struct aq_plot_range {
    double low, high;
} aq_plot_range;

/* One axis of a chart: what is outside of its range is not drawn, nor what is not above 0 on a
 * logarithmic one, whose range is above 0. */
typedef struct aq_plot_axis {
    bool is_log;
    const aq_plot_range *range; /* NULL: all open */
} aq_plot_axis;

typedef struct aq_plot_lines {
    const char *title;   /* NULL: none; likewise the labels */
    const char *x_label; /* "environment steps" */
    const char *y_label;
    const aq_plot_series *series;
    size_t series_count; /* <= AQ_PLOT_SERIES_MAX */
    aq_plot_axis x_axis, y_axis;
    const char *level_name; /* NULL: no level */
    double level;           /* a dotted line across, such as a threshold; part of the y axis */
    const char *notes[AQ_PLOT_NOTES_MAX]; /* below the picture; NULL: none */
    uint32_t width, height; /* of the SVG in px, AQ_PLOT_SIDE_MIN to _MAX; 0: 760 by 440 */
} aq_plot_lines;

/* Bars along the x axis, one for each group, its parts on each other. A value that is not finite is
 * no part of it; a bar of none says "n/a". */
typedef struct aq_plot_bars {
    const char *title;
    const char *y_label;
    const char *const *groups; /* their names */
    size_t group_count;        /* 1 to AQ_PLOT_GROUPS_MAX */
    const char *const *parts;  /* their names, in the legend; NULL: no legend */
    size_t part_count;         /* 1 to AQ_PLOT_SERIES_MAX */
    const double *values;      /* (group_count, part_count); >= 0 */
    uint32_t width, height;
} aq_plot_bars;

/* Append the picture to `out`; what goes wrong is the text's failure. */
void aq_plot_lines_draw(const aq_plot_lines *chart, aq_long_text *out);
void aq_plot_bars_draw(const aq_plot_bars *chart, aq_long_text *out);

#endif
