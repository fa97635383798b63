/*
 * Run plot: curves of runs, of those of one kind together, as a chart. One owner.
 */
#ifndef AQ_CLI_PLOT_RUN_PLOT_H
#define AQ_CLI_PLOT_RUN_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/plot/plot_band.h"
#include "cli/plot/plot_chart.h"
#include "cli/plot/run_groups.h"
#include "common/base/error.h"

enum { AQ_PLOT_SMOOTH_MAX = 1000000, AQ_RUN_CURVE_POINTS = 240, AQ_RUN_NOTE_BYTES = 128 };

typedef struct aq_run_plot_options {
    enum aq_plot_x x;
    const char *y;  /* a quantity of run_series.h */
    const char *by; /* of run_groups.h; NULL: what differs */
    enum aq_band band;
    enum aq_band_end end;        /* of runs that end early */
    uint64_t smooth;             /* a point is the mean of so many, up to it; 0: of itself */
    aq_plot_axis x_axis, y_axis; /* time in seconds, whatever the axis is labelled in */
    const char *title;           /* NULL: the task, when there is one */
    bool has_level;
    double level; /* a line across */
    uint32_t width, height;
    void (*skip)(const char *words); /* says why a folder is not drawn */
} aq_run_plot_options;

/* One line of the chart. */
typedef struct aq_run_curve {
    const char *name; /* of the group */
    size_t run_count; /* that it is made of */
    size_t ended;     /* of them, before the others */
    aq_plot_point points[AQ_RUN_CURVE_POINTS];
    size_t count;
} aq_run_curve;

/* To be read by all, and made in run_plot.c. */
typedef struct aq_run_plot {
    aq_run_curve *curves;
    size_t curve_count;
    const char *x_label; /* "environment steps", "time (min)" */
    /* How the curves were made of the runs, as the picture says below itself. */
    char notes[AQ_PLOT_NOTES_MAX][AQ_RUN_NOTE_BYTES];
    size_t note_count;
    size_t fell_back; /* evaluations that are left out, as their versions fell back to fp32 */
    /* What it is drawn from, besides. */
    const aq_run_plot_options *options;
    const struct aq_run_plots *runs;
    aq_band_curve *run_curves; /* of each run, lent */
    size_t points;             /* of all runs, those that fell back included */
    aq_run_groups groups;
    enum aq_plot_x x;
    double x_unit; /* seconds, of time; else 1 */
    char level_name[32];
} aq_run_plot;

typedef struct aq_run_plots aq_run_plots;

/* A plot for each of the `count` options, of runs that are read once for all of them; the first
 * options say who is told of folders that are skipped. `paths` and the options are lent for as long
 * as the plots live. A folder that is no run's is skipped, unless all are: AQ_E_NOT_FOUND and
 * AQ_E_CORRUPT name the last of them. AQ_E_TOO_BIG says that there are more than AQ_PLOT_SERIES_MAX
 * curves, or too many runs in one. */
int aq_run_plots_create(const char *const *paths, size_t path_count,
                        const aq_run_plot_options *options, size_t count, aq_run_plots **ret_plots,
                        aq_error *error) AQ_MUST_USE;
void aq_run_plots_destroy(aq_run_plots *plots); /* NULL is fine */

/* That of the options of this index; lent. */
const aq_run_plot *aq_run_plots_at(const aq_run_plots *plots, size_t index);

/* Whether there is anything to be drawn. */
bool aq_run_plot_has_points(const aq_run_plot *plot);

/* Appends it as SVG, as aq_plot_lines_draw does. */
void aq_run_plot_draw(const aq_run_plot *plot, aq_long_text *out);

#endif
