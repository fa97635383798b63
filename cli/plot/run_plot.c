/*
 * Run plot: see run_plot.h.
 */
#include "cli/plot/run_plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/plot/run_series.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/sys/file.h"

enum { CELLS = 240, PATH_BYTES_MAX = 4096, LEVEL_NAME_BYTES = 32, NOTE_BYTES = 128 };

typedef struct group_curve {
    aq_plot_point points[CELLS];
    size_t count;
    size_t runs;  /* that it is made of */
    size_t ended; /* of them, before the others */
} group_curve;

struct aq_run_plot {
    const aq_run_plot_options *options;
    size_t run_count;   /* that were not skipped */
    const char **names; /* of each, lent; as the next two */
    aq_run_config *configs;
    aq_band_curve *curves;
    size_t points, fell_back; /* of all runs; points include those that fell back */
    aq_run_groups groups;
    group_curve *group_curves;
    const char *x_label;
    char level_name[LEVEL_NAME_BYTES];
    char notes[AQ_PLOT_NOTES_MAX][NOTE_BYTES];
    size_t note_count;
};

/* ---- reading -------------------------------------------------------------------------------- */

static double x_of(enum aq_plot_x x, const aq_series_point *point)
{
    return x == AQ_PLOT_X_TIME        ? point->wall_s
           : x == AQ_PLOT_X_ENV_STEPS ? point->env_steps
                                      : point->learner_steps;
}

static int take_series(const aq_run_series *series, const aq_run_plot_options *options,
                       aq_band_curve *curve)
{
    int rc = aq_band_curve_init(curve, series->count);
    for (size_t i = 0; rc == 0 && i < series->count; i++) {
        const double at = x_of(options->x, &series->points[i]);
        if (curve->count == 0 || at >= curve->x[curve->count - 1]) {
            aq_band_curve_add(curve, at, series->points[i].value);
        }
    }
    aq_band_curve_smooth(curve, (size_t)options->smooth);
    return rc;
}

/* A run that was not trained yet has a configuration and no metrics: an empty curve. */
static int read_run(aq_run_plot *plot, const char *run, aq_error *error)
{
    const size_t index = plot->run_count;
    char path[PATH_BYTES_MAX];
    aq_run_series series = {0};
    int rc = aq_path_in(path, sizeof(path), run, "config.yaml", error);
    if (rc != 0) {
        return rc;
    }
    if (!aq_path_exists(path)) {
        return aq_fail(error, AQ_E_NOT_FOUND, "%s is no run folder: it has no config.yaml", run);
    }
    aq_settings_init(aq_run_config_table(), &plot->configs[index]);
    rc = aq_settings_read_file(aq_run_config_table(), path, &plot->configs[index], error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_run_series_read(run, plot->options->y, &series, error);
    rc = rc == AQ_E_NOT_FOUND ? 0 : rc;
    if (rc == 0 && take_series(&series, plot->options, &plot->curves[index]) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    if (rc == 0) {
        plot->points += series.count + series.fell_back;
        plot->fell_back += series.fell_back;
        plot->names[plot->run_count++] = run;
    }
    aq_run_series_fini(&series);
    return rc;
}

static bool is_plain_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Folders of other things lie among runs: with one run to draw, they are only said. Files do, too,
 * where a shell names all that several seeds left: nobody meant those. */
static int read_runs(aq_run_plot *plot, const char *const *runs, size_t count, aq_error *error)
{
    aq_error problem = {0};
    int rc = 0;
    for (size_t i = 0; rc != AQ_E_NOMEM && i < count; i++) {
        rc = read_run(plot, runs[i], &problem);
        if (rc != 0 && rc != AQ_E_NOMEM && count > 1 && plot->options->skip != NULL &&
            !is_plain_file(runs[i])) {
            plot->options->skip(problem.text);
        }
    }
    if (rc == AQ_E_NOMEM || plot->run_count == 0) {
        return aq_fail(error, rc, "%s",
                       count > 1 ? "none of the folders is a run's" : problem.text);
    }
    return 0;
}

/* ---- the x axis ----------------------------------------------------------------------------- */

/* Long times are in minutes or hours. */
static void choose_unit(aq_run_plot *plot)
{
    static const char *const labels[] = {"environment steps", "learner steps", "time (s)"};
    double longest = 0, unit = 1;
    plot->x_label = labels[plot->options->x];
    for (size_t i = 0; i < plot->run_count; i++) {
        const aq_band_curve *curve = &plot->curves[i];
        longest = curve->count > 0 ? fmax(longest, curve->x[curve->count - 1]) : longest;
    }
    if (plot->options->x != AQ_PLOT_X_TIME || longest < 600) {
        return;
    }
    unit = longest < 3 * 3600 ? 60 : 3600;
    plot->x_label = unit > 60 ? "time (h)" : "time (min)";
    for (size_t i = 0; i < plot->run_count; i++) {
        for (size_t j = 0; j < plot->curves[i].count; j++) {
            plot->curves[i].x[j] /= unit;
        }
    }
}

/* ---- groups --------------------------------------------------------------------------------- */

static int make_curve(aq_run_plot *plot, size_t group, aq_error *error)
{
    aq_band_curve curves[AQ_BAND_RUNS_MAX];
    size_t count = 0;
    if (plot->groups.groups[group].run_count > AQ_BAND_RUNS_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG, "'%s' are more than %d runs: leave some out",
                       plot->groups.groups[group].name, AQ_BAND_RUNS_MAX);
    }
    for (size_t i = 0; i < plot->run_count; i++) {
        if (plot->groups.group_of[i] == group && plot->curves[i].count > 0) {
            curves[count++] = plot->curves[i];
        }
    }
    group_curve *made = &plot->group_curves[group];
    made->count =
        aq_plot_band(curves, count, CELLS, plot->options->band, plot->options->end, made->points);
    made->runs = count;
    made->ended = aq_plot_band_ended(curves, count, CELLS);
    return 0;
}

static int make_curves(aq_run_plot *plot, aq_error *error)
{
    int rc = aq_run_groups_make(plot->configs, plot->names, plot->run_count, plot->options->by,
                                &plot->groups, error);
    if (rc != 0) {
        return rc;
    }
    if (plot->groups.count > AQ_PLOT_SERIES_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG,
                       "the runs are of %zu kinds, and a plot has room for %d: take fewer, or name "
                       "the settings that count with --group-by",
                       plot->groups.count, AQ_PLOT_SERIES_MAX);
    }
    plot->group_curves = aq_alloc(plot->groups.count, sizeof(*plot->group_curves));
    if (!plot->group_curves) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; rc == 0 && i < plot->groups.count; i++) {
        rc = make_curve(plot, i, error);
    }
    return rc;
}

/* ---- how it was made ------------------------------------------------------------------------ */

static void note(aq_run_plot *plot, const char *format, ...) AQ_PRINTF(2, 3);

static void note(aq_run_plot *plot, const char *format, ...)
{
    va_list arguments;
    AQ_ASSERT(plot->note_count < AQ_PLOT_NOTES_MAX);
    va_start(arguments, format);
    (void)vsnprintf(plot->notes[plot->note_count++], NOTE_BYTES, format, arguments);
    va_end(arguments);
}

static void make_notes(aq_run_plot *plot)
{
    static const char *const bands[] = {
        [AQ_BAND_BOOTSTRAP] = "mean of the runs and its 95 % bootstrap interval",
        [AQ_BAND_STUDENT] = "mean of the runs and its 95 % interval by Student's t",
        [AQ_BAND_STDERR] = "mean of the runs and its standard error",
        [AQ_BAND_MINMAX] = "mean of the runs, from the least to the greatest",
        [AQ_BAND_NONE] = "mean of the runs",
    };
    const aq_run_plot_options *options = plot->options;
    size_t ended = 0, drawn = 0;
    for (size_t i = 0; i < plot->groups.count; i++) {
        ended += plot->group_curves[i].ended;
        drawn += plot->group_curves[i].runs;
    }
    if (plot->groups.count < plot->run_count) {
        note(plot, "%s", bands[options->band]);
    }
    if (ended > 0) {
        note(plot, "%zu of %zu runs ended before others, %s", ended, drawn,
             options->end == AQ_BAND_CUT ? "where their curves are cut"
                                         : "and are carried on with their last value");
    }
    if (drawn < plot->run_count) {
        note(plot, "%zu of %zu runs have no such figure, and are left out", plot->run_count - drawn,
             plot->run_count);
    }
    if (options->smooth > 1) {
        note(plot, "each point the mean of the last %" PRIu64, options->smooth);
    }
    if (plot->fell_back > 0) {
        note(plot, "without %zu of %zu evaluations, whose versions fell back to fp32",
             plot->fell_back, plot->points);
    }
}

int aq_run_plot_create(const char *const *runs, size_t count, const aq_run_plot_options *options,
                       aq_run_plot **ret_plot, aq_error *error)
{
    AQ_ASSERT(count >= 1);
    AQ_ASSERT(count <= AQ_PLOT_RUNS_MAX);
    aq_run_plot *plot = aq_alloc(1, sizeof(*plot));
    if (!plot) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    plot->options = options;
    plot->names = aq_alloc(count, sizeof(*plot->names));
    plot->configs = aq_alloc(count, sizeof(*plot->configs));
    plot->curves = aq_alloc(count, sizeof(*plot->curves));
    int rc = plot->names && plot->configs && plot->curves
                 ? read_runs(plot, runs, count, error)
                 : aq_fail(error, AQ_E_NOMEM, "out of memory");
    if (rc == 0) {
        choose_unit(plot);
        rc = make_curves(plot, error);
    }
    if (rc != 0) {
        aq_run_plot_destroy(plot);
        return rc;
    }
    make_notes(plot);
    (void)snprintf(plot->level_name, sizeof(plot->level_name), "%g", options->level);
    *ret_plot = plot;
    return 0;
}

void aq_run_plot_destroy(aq_run_plot *plot)
{
    if (!plot) {
        return;
    }
    for (size_t i = 0; i < plot->run_count; i++) {
        aq_band_curve_fini(&plot->curves[i]);
    }
    aq_run_groups_fini(&plot->groups);
    aq_free(plot->group_curves);
    aq_free(plot->curves);
    aq_free(plot->configs);
    aq_free(plot->names);
    aq_free(plot);
}

/* ---- what there is -------------------------------------------------------------------------- */

size_t aq_run_plot_curves(const aq_run_plot *plot)
{
    return plot->groups.count;
}

aq_run_curve aq_run_plot_curve(const aq_run_plot *plot, size_t index)
{
    AQ_ASSERT(index < plot->groups.count);
    return (aq_run_curve){
        .name = plot->groups.groups[index].name,
        .run_count = plot->group_curves[index].runs,
        .ended = plot->group_curves[index].ended,
        .points = plot->group_curves[index].points,
        .count = plot->group_curves[index].count,
    };
}

const char *aq_run_plot_note(const aq_run_plot *plot, size_t index)
{
    return index < plot->note_count ? plot->notes[index] : NULL;
}

size_t aq_run_plot_fell_back(const aq_run_plot *plot)
{
    return plot->fell_back;
}

const char *aq_run_plot_x_label(const aq_run_plot *plot)
{
    return plot->x_label;
}

/* The task, when all runs have the same. */
static const char *title_of(const aq_run_plot *plot)
{
    if (plot->options->title) {
        return plot->options->title;
    }
    for (size_t i = 1; i < plot->run_count; i++) {
        if (strcmp(plot->configs[i].task, plot->configs[0].task) != 0) {
            return NULL;
        }
    }
    return plot->configs[0].task;
}

void aq_run_plot_draw(const aq_run_plot *plot, aq_long_text *out)
{
    aq_plot_series series[AQ_PLOT_SERIES_MAX];
    const bool alone = plot->groups.count == 1 && !plot->options->by; /* the title says it all */
    for (size_t i = 0; i < plot->groups.count; i++) {
        const aq_run_curve curve = aq_run_plot_curve(plot, i);
        series[i] = (aq_plot_series){
            .name = alone ? NULL : curve.name,
            .points = curve.points,
            .count = curve.count,
            .colour = (uint32_t)i,
        };
    }
    aq_plot_lines chart = {
        .title = title_of(plot),
        .x_label = plot->x_label,
        .y_label = plot->options->y,
        .series = series,
        .series_count = plot->groups.count,
        .level_name = plot->options->has_level ? plot->level_name : NULL,
        .level = plot->options->level,
        .x_axis = plot->options->x_axis,
        .y_axis = plot->options->y_axis,
        .width = plot->options->width,
        .height = plot->options->height,
    };
    for (size_t i = 0; i < plot->note_count; i++) {
        chart.notes[i] = plot->notes[i];
    }
    aq_plot_lines_draw(&chart, out);
}
