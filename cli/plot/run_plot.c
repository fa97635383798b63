/*
 * Run plot: see run_plot.h.
 */
#include "cli/plot/run_plot.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/run/run_paths.h"
#include "cli/run/run_series.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/sys/file.h"

struct aq_run_plots {
    size_t count;       /* of runs that were not skipped */
    const char **names; /* of each, lent */
    aq_run_config *configs;
    aq_run_plot *plots;
    const char **quantities; /* of each plot, lent */
    size_t plot_count;
    /* Of each run that there is room for, of each plot; and the other way round. */
    aq_run_series *series;
    aq_band_curve *curves;
    size_t curve_count;
};

/* ---- reading -------------------------------------------------------------------------------- */

/* A run that was not trained yet has a configuration and no metrics: empty series. */
static int read_series(const char *run, aq_run_plots *runs, aq_error *error)
{
    const size_t count = runs->plot_count;
    const int rc =
        aq_run_series_read(run, runs->quantities, count, &runs->series[runs->count * count], error);
    return rc == AQ_E_NOT_FOUND ? 0 : rc;
}

static int read_run(const char *run, aq_run_plots *runs, aq_error *error)
{
    aq_run_config *config = &runs->configs[runs->count];
    char path[PATH_MAX];
    int rc = aq_path_in(path, sizeof(path), run, "config.yaml", error);
    if (rc != 0) {
        return rc;
    }
    if (!aq_path_exists(path)) {
        return aq_fail(error, AQ_E_NOT_FOUND, "%s is no run folder: it has no config.yaml", run);
    }
    aq_settings_init(aq_run_config_table(), config);
    rc = aq_settings_read_file(aq_run_config_table(), path, config, error);
    rc = rc != 0 ? rc : read_series(run, runs, error);
    if (rc == 0) {
        runs->names[runs->count++] = run;
    }
    return rc;
}

static bool is_plain_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Folders of other things lie among runs: with one run to draw, they are only said. Files do, too,
 * where a shell names all that several seeds left: nobody meant those. */
static int read_runs(const char *const *paths, size_t path_count, aq_run_plots *runs,
                     aq_error *error)
{
    void (*skip)(const char *words) = runs->plots[0].options->skip;
    aq_error problem = {0};
    int rc = 0;
    for (size_t i = 0; rc != AQ_E_NOMEM && i < path_count; i++) {
        rc = read_run(paths[i], runs, &problem);
        if (rc != 0 && rc != AQ_E_NOMEM && path_count > 1 && skip != NULL &&
            !is_plain_file(paths[i])) {
            skip(problem.text);
        }
    }
    if (rc == AQ_E_NOMEM || runs->count == 0) {
        const bool are_others = path_count > 1 && rc == AQ_E_NOT_FOUND;
        return aq_fail(error, rc, "%s",
                       are_others ? "none of the folders is a run's" : problem.text);
    }
    return 0;
}

/* ---- the x axis ----------------------------------------------------------------------------- */

/* All plots have the same: one whose runs have a point each says nothing. */
static enum aq_plot_x what_moves(const aq_run_plots *runs)
{
    bool envs_move = false, learners_move = false;
    for (size_t i = 0; i < runs->count * runs->plot_count; i++) {
        const aq_run_series *series = &runs->series[i];
        if (series->count > 0) {
            const aq_series_point *last = &series->points[series->count - 1];
            envs_move = envs_move || last->env_steps > series->points[0].env_steps;
            learners_move = learners_move || last->learner_steps > series->points[0].learner_steps;
        }
    }
    return learners_move && !envs_move ? AQ_PLOT_X_LEARNER_STEPS : AQ_PLOT_X_ENV_STEPS;
}

static int make_run_curves(aq_run_plot *plot, aq_error *error)
{
    const aq_run_plots *runs = plot->runs;
    const size_t index = (size_t)(plot - runs->plots);
    for (size_t i = 0; i < runs->count; i++) {
        const aq_run_series *series = &runs->series[i * runs->plot_count + index];
        if (aq_band_curve_of(series, plot->x, (size_t)plot->options->smooth,
                             &plot->run_curves[i]) != 0) {
            return aq_fail(error, AQ_E_NOMEM, "out of memory");
        }
        plot->points += series->count + series->fell_back;
        plot->fell_back += series->fell_back;
    }
    return 0;
}

/* Long times are in minutes or hours. */
static void choose_unit(aq_run_plot *plot)
{
    static const char *const labels[] = {
        [AQ_PLOT_X_ENV_STEPS] = "environment steps",
        [AQ_PLOT_X_LEARNER_STEPS] = "learner steps",
        [AQ_PLOT_X_TIME] = "time (s)",
    };
    double longest = 0;
    plot->x_label = labels[plot->x];
    plot->x_unit = 1;
    for (size_t i = 0; i < plot->runs->count; i++) {
        const aq_band_curve *curve = &plot->run_curves[i];
        longest = curve->count > 0 ? fmax(longest, curve->x[curve->count - 1]) : longest;
    }
    if (plot->x != AQ_PLOT_X_TIME || longest < 600) {
        return;
    }
    plot->x_unit = longest < 3 * 3600 ? 60 : 3600;
    plot->x_label = plot->x_unit > 60 ? "time (h)" : "time (min)";
    for (size_t i = 0; i < plot->runs->count; i++) {
        for (size_t j = 0; j < plot->run_curves[i].count; j++) {
            plot->run_curves[i].x[j] /= plot->x_unit;
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
    for (size_t i = 0; i < plot->runs->count; i++) {
        if (plot->groups.group_of[i] == group && plot->run_curves[i].count > 0) {
            curves[count++] = plot->run_curves[i];
        }
    }
    aq_run_curve *made = &plot->curves[group];
    made->name = plot->groups.groups[group].name;
    made->run_count = count;
    made->ended = aq_plot_band_ended(curves, count, AQ_RUN_CURVE_POINTS);
    made->count = aq_plot_band(curves, count, AQ_RUN_CURVE_POINTS, plot->options->band,
                               plot->options->end, made->points);
    return 0;
}

static int make_curves(aq_run_plot *plot, aq_error *error)
{
    int rc = aq_run_groups_make(plot->runs->configs, plot->runs->names, plot->runs->count,
                                plot->options->by, &plot->groups, error);
    if (rc != 0) {
        return rc;
    }
    if (plot->groups.count > AQ_PLOT_SERIES_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG,
                       "the runs are of %zu kinds, and a plot has room for %d: take fewer, or name "
                       "the settings that count with --group-by",
                       plot->groups.count, AQ_PLOT_SERIES_MAX);
    }
    plot->curve_count = plot->groups.count;
    plot->curves = aq_alloc(plot->curve_count, sizeof(*plot->curves));
    if (!plot->curves) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; rc == 0 && i < plot->curve_count; i++) {
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
    (void)vsnprintf(plot->notes[plot->note_count++], AQ_RUN_NOTE_BYTES, format, arguments);
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
    for (size_t i = 0; i < plot->curve_count; i++) {
        ended += plot->curves[i].ended;
        drawn += plot->curves[i].run_count;
    }
    if (plot->curve_count < plot->runs->count) {
        note(plot, "%s", bands[options->band]);
    }
    if (ended > 0) {
        note(plot, "%zu of %zu runs ended before others, %s", ended, drawn,
             options->end == AQ_BAND_CUT ? "where their curves are cut"
                                         : "and are carried on with their last value");
    }
    if (drawn < plot->runs->count) {
        note(plot, "%zu of %zu runs have no such figure, and are left out",
             plot->runs->count - drawn, plot->runs->count);
    }
    if (options->smooth > 1) {
        note(plot, "each point the mean of the last %" PRIu64, options->smooth);
    }
    if (plot->fell_back > 0) {
        note(plot, "without %zu of %zu evaluations, whose versions fell back to fp32",
             plot->fell_back, plot->points);
    }
}

static int make_plot(aq_run_plot *plot, aq_error *error)
{
    int rc = make_run_curves(plot, error);
    if (rc == 0) {
        choose_unit(plot);
        rc = make_curves(plot, error);
    }
    if (rc == 0) {
        make_notes(plot);
        (void)snprintf(plot->level_name, sizeof(plot->level_name), "%g", plot->options->level);
    }
    return rc;
}

/* ---- to make and to end --------------------------------------------------------------------- */

static int allocate(aq_run_plots *plots, size_t path_count, const aq_run_plot_options *options,
                    size_t count)
{
    plots->names = aq_alloc(path_count, sizeof(*plots->names));
    plots->configs = aq_alloc(path_count, sizeof(*plots->configs));
    plots->plots = aq_alloc(count, sizeof(*plots->plots));
    plots->quantities = aq_alloc(count, sizeof(*plots->quantities));
    plots->series = aq_alloc(count * path_count, sizeof(*plots->series));
    plots->curves = aq_alloc(count * path_count, sizeof(*plots->curves));
    if (!plots->names || !plots->configs || !plots->plots || !plots->quantities || !plots->series ||
        !plots->curves) {
        return AQ_E_NOMEM;
    }
    plots->plot_count = count;
    plots->curve_count = count * path_count;
    for (size_t i = 0; i < count; i++) {
        plots->quantities[i] = options[i].y;
        plots->plots[i] = (aq_run_plot){
            .options = &options[i], .runs = plots, .run_curves = &plots->curves[i * path_count]};
    }
    return 0;
}

int aq_run_plots_create(const char *const *paths, size_t path_count,
                        const aq_run_plot_options *options, size_t count, aq_run_plots **ret_plots,
                        aq_error *error)
{
    AQ_ASSERT(path_count >= 1);
    AQ_ASSERT(path_count <= AQ_RUN_PATHS_MAX);
    AQ_ASSERT(count >= 1);
    aq_run_plots *plots = aq_alloc(1, sizeof(*plots));
    int rc = plots ? allocate(plots, path_count, options, count) : AQ_E_NOMEM;
    rc = rc == 0 ? read_runs(paths, path_count, plots, error) : aq_fail(error, rc, "out of memory");
    for (size_t i = 0; rc == 0 && i < count; i++) {
        aq_run_plot *plot = &plots->plots[i];
        plot->x = options[i].x != AQ_PLOT_X_AUTO ? options[i].x : what_moves(plots);
        rc = make_plot(plot, error);
    }
    if (rc != 0) {
        aq_run_plots_destroy(plots);
        return rc;
    }
    *ret_plots = plots;
    return 0;
}

void aq_run_plots_destroy(aq_run_plots *plots)
{
    if (!plots) {
        return;
    }
    for (size_t i = 0; i < plots->plot_count; i++) {
        aq_run_groups_fini(&plots->plots[i].groups);
        aq_free(plots->plots[i].curves);
    }
    for (size_t i = 0; i < plots->curve_count; i++) {
        aq_run_series_fini(&plots->series[i]);
        aq_band_curve_fini(&plots->curves[i]);
    }
    aq_free(plots->series);
    aq_free(plots->curves);
    aq_free(plots->quantities);
    aq_free(plots->plots);
    aq_free(plots->configs);
    aq_free(plots->names);
    aq_free(plots);
}

const aq_run_plot *aq_run_plots_at(const aq_run_plots *plots, size_t index)
{
    AQ_ASSERT(index < plots->plot_count);
    return &plots->plots[index];
}

/* ---- what there is -------------------------------------------------------------------------- */

bool aq_run_plot_has_points(const aq_run_plot *plot)
{
    bool has = false;
    for (size_t i = 0; i < plot->curve_count; i++) {
        has = has || plot->curves[i].count > 0;
    }
    return has;
}

/* The task, when all runs have the same. */
static const char *title_of(const aq_run_plot *plot)
{
    if (plot->options->title) {
        return plot->options->title;
    }
    for (size_t i = 1; i < plot->runs->count; i++) {
        if (strcmp(plot->runs->configs[i].task, plot->runs->configs[0].task) != 0) {
            return NULL;
        }
    }
    return plot->runs->configs[0].task;
}

void aq_run_plot_draw(const aq_run_plot *plot, aq_long_text *out)
{
    aq_plot_series series[AQ_PLOT_SERIES_MAX];
    const bool alone = plot->curve_count == 1 && !plot->options->by; /* the title says it all */
    for (size_t i = 0; i < plot->curve_count; i++) {
        const aq_run_curve *curve = &plot->curves[i];
        series[i] = (aq_plot_series){
            .name = alone ? NULL : curve->name,
            .points = curve->points,
            .count = curve->count,
            .colour = (uint32_t)i,
        };
    }
    aq_plot_lines chart = {
        .title = title_of(plot),
        .x_label = plot->x_label,
        .y_label = plot->options->y,
        .series = series,
        .series_count = plot->curve_count,
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
    aq_plot_range x_range;
    if (chart.x_axis.range != NULL) {
        x_range = (aq_plot_range){chart.x_axis.range->low / plot->x_unit,
                                  chart.x_axis.range->high / plot->x_unit};
        chart.x_axis.range = &x_range;
    }
    aq_plot_lines_draw(&chart, out);
}
