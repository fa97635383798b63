/*
 * Sweep figures: see sweep_figures.h.
 */
#include "cli/sweep/report/sweep_figures.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/plot/plot_band.h"
#include "cli/plot/plot_chart.h"
#include "cli/run/run_series.h"
#include "cli/sweep/report/sweep_coordinates.h"
#include "cli/sweep/report/sweep_importance.h"
#include "cli/sweep/training/sweep_training.h"
#include "common/base/memory.h"

enum { CELLS = 200, PATH_BYTES = PATH_MAX + 256 };

static const aq_plot_point gap = {.x = NAN, .y = NAN, .low = NAN, .high = NAN};

/* What counts as a cost; seconds where nothing does. */
static enum aq_sweep_figure cost_of(const aq_sweep_study *study)
{
    return study->spec->cost != AQ_SWEEP_FIGURE_COUNT ? study->spec->cost : AQ_SWEEP_WALL;
}

static aq_plot_point point_of(const aq_sweep_study *study, uint32_t stage, double x)
{
    const aq_mean_ci mean = aq_sweep_stage_mean(study, stage, study->spec->score);
    return (aq_plot_point){.x = x,
                           .y = aq_sweep_stage_score(study, stage),
                           .low = mean.mean - mean.ci95,
                           .high = mean.mean + mean.ci95};
}

/* ---- the best so far ------------------------------------------------------------------------ */

static void draw_best(const aq_sweep_summary *summary, aq_long_text *out)
{
    const aq_sweep_study *study = summary->study;
    aq_plot_point *points = aq_alloc(2 * study->stage_count + 1, sizeof(*points));
    size_t count = 0;
    double spent = 0;
    if (points == NULL) {
        aq_long_text_fail(out, AQ_E_NOMEM);
        return;
    }
    for (uint32_t i = 0; i < study->stage_count; i++) {
        const aq_sweep_stage *stage = &study->stages[i];
        for (size_t j = 0; j < stage->run_count; j++) {
            spent += aq_sweep_run_spent(study, stage->first_run + j, cost_of(study));
        }
        aq_plot_point point = point_of(study, i, spent);
        if (stage->kind != AQ_SWEEP_TUNE || !isfinite(point.y)) {
            continue;
        }
        if (count > 0) { /* a step, not a slope */
            const aq_plot_point before = points[count - 1];
            points[count++] =
                (aq_plot_point){.x = spent, .y = before.y, .low = before.low, .high = before.high};
            point = point.y > before.y ? point : points[count - 1];
        }
        points[count++] = point;
    }
    char label[64];
    (void)snprintf(label, sizeof(label), "%s of all runs so far",
                   aq_sweep_figure_name(cost_of(study)));
    const aq_plot_series series = {.points = points, .count = count};
    const aq_plot_lines chart = {
        .title = "The best so far",
        .x_label = label,
        .y_label = aq_sweep_figure_name(study->spec->score),
        .series = &series,
        .series_count = 1,
        .notes = {"of any rung; with several seeds, 95 % intervals over them"}};
    aq_plot_lines_draw(&chart, out);
    aq_free(points);
}

/* ---- curves --------------------------------------------------------------------------------- */

static int band_of(const aq_sweep_summary *summary, uint32_t stage, aq_plot_point *points,
                   size_t *ret_count)
{
    const aq_sweep_stage *its = &summary->study->stages[stage];
    aq_band_curve curves[AQ_SWEEP_SEEDS_MAX];
    size_t count = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < its->run_count; i++) {
        const size_t run = its->first_run + i;
        char folder[PATH_BYTES];
        static const char *const quantity = "return";
        aq_run_series returns;
        aq_sweep_training_folder(summary->study, summary->dir, run, folder, sizeof(folder));
        if (summary->study->runs[run].state != AQ_SWEEP_DONE ||
            aq_run_series_read(folder, &quantity, 1, &returns, NULL) != 0) {
            continue;
        }
        rc = aq_band_curve_of(&returns, AQ_PLOT_X_ENV_STEPS, 0, &curves[count]);
        count += rc == 0 ? 1 : 0;
        aq_run_series_fini(&returns);
    }
    *ret_count =
        rc == 0 ? aq_plot_band(curves, count, CELLS, AQ_BAND_BOOTSTRAP, AQ_BAND_CARRY, points) : 0;
    for (size_t i = 0; i < count; i++) {
        aq_band_curve_fini(&curves[i]);
    }
    return rc;
}

static void draw_curves(const aq_sweep_summary *summary, aq_long_text *out)
{
    aq_plot_point *points = aq_alloc(2 * CELLS, sizeof(*points));
    aq_plot_series series[2] = {{.name = "winner", .points = points, .colour = 0}, {0}};
    int rc = points != NULL ? 0 : AQ_E_NOMEM;
    if (rc == 0) {
        series[1] = (aq_plot_series){.name = "as given", .points = points + CELLS, .colour = 1};
        rc = band_of(summary, summary->reported.stage, points, &series[0].count);
    }
    if (rc == 0 && summary->given.stage != AQ_SWEEP_NONE) {
        rc = band_of(summary, summary->given.stage, points + CELLS, &series[1].count);
    }
    const aq_plot_lines chart = {
        .title = "What was found, from seeds that had no part in it",
        .x_label = "environment steps",
        .y_label = "return",
        .series = series,
        .series_count = 2,
        .notes = {"means of the runs that came to their end, and their 95 % bootstrap intervals"}};
    aq_long_text_fail(out, rc);
    if (rc == 0) {
        aq_plot_lines_draw(&chart, out);
    }
    aq_free(points);
}

/* ---- scores and costs ----------------------------------------------------------------------- */

/* The best first of those that cost as much. */
static int by_x(const void *left, const void *right)
{
    const aq_plot_point *a = left, *b = right;
    return a->x != b->x ? (a->x > b->x) - (a->x < b->x) : (a->y < b->y) - (a->y > b->y);
}

/* With a gap behind each: dots. */
static size_t scatter(aq_plot_point *points, size_t count)
{
    qsort(points, count, sizeof(*points), by_x);
    for (size_t i = count; i-- > 0;) {
        points[2 * i] = points[i];
        points[2 * i + 1] = gap;
    }
    return 2 * count;
}

static void draw_front(const aq_sweep_summary *summary, aq_long_text *out)
{
    const aq_sweep_study *study = summary->study;
    aq_plot_point *points = aq_alloc(3 * summary->known_count + 1, sizeof(*points));
    size_t count = 0, front = 0;
    if (points == NULL) {
        aq_long_text_fail(out, AQ_E_NOMEM);
        return;
    }
    for (size_t i = 0; i < summary->known_count; i++) {
        const uint32_t stage = summary->known[i];
        aq_plot_point point =
            point_of(study, stage, aq_sweep_stage_figure(study, stage, cost_of(study)));
        if (isfinite(point.x) && isfinite(point.y)) {
            point.low = point.high = NAN;
            points[count++] = point;
        }
    }
    aq_plot_point *const line = points + 2 * summary->known_count;
    qsort(points, count, sizeof(*points), by_x);
    for (size_t i = 0; i < count; i++) {
        if (front == 0 || points[i].y > line[front - 1].y) {
            line[front++] = points[i];
        }
    }
    const aq_plot_series series[] = {
        {.name = "trials", .points = points, .count = scatter(points, count), .colour = 0},
        {.name = "beaten by none", .points = line, .count = front, .colour = 1}};
    const aq_plot_lines chart = {.title = "Score against cost",
                                 .x_label = aq_sweep_figure_name(cost_of(study)),
                                 .y_label = aq_sweep_figure_name(study->spec->score),
                                 .series = series,
                                 .series_count = 2,
                                 .notes = {"each trial at the last rung that it has ended",
                                           study->plan.is_resumed
                                               ? "costs are of a run, the rungs before included"
                                               : "costs are of a run, which begins anew at each "
                                                 "rung"}};
    aq_plot_lines_draw(&chart, out);
    aq_free(points);
}

/* ---- importance ----------------------------------------------------------------------------- */

static void draw_importance(const aq_sweep_summary *summary, aq_long_text *out)
{
    const aq_sweep_space *space = &summary->study->spec->space;
    const char *names[AQ_SWEEP_DIMS_MAX];
    double shares[AQ_SWEEP_DIMS_MAX];
    int rc = aq_sweep_importance(summary->study, shares);
    for (size_t i = 0; i < space->count; i++) {
        names[i] = aq_setting_short_key(space->dims[i].key);
    }
    const aq_plot_bars chart = {.title = "What each setting explains by itself",
                                .y_label = "share of the differences between trials",
                                .groups = names,
                                .group_count = space->count,
                                .part_count = 1,
                                .values = shares};
    aq_long_text_fail(out, rc);
    if (rc == 0) {
        aq_plot_bars_draw(&chart, out);
    }
}

/* ---- lineage -------------------------------------------------------------------------------- */

/* A member's line, which begins anew at another's point where it went on from that one. */
static size_t lineage_of(const aq_sweep_study *study, uint32_t member, aq_plot_point *points)
{
    size_t count = 0;
    for (uint32_t i = 0; i < study->stage_count; i++) {
        const aq_sweep_stage *stage = &study->stages[i];
        if (stage->kind != AQ_SWEEP_TUNE || stage->trial != member) {
            continue;
        }
        const uint32_t from = stage->from;
        if (from != AQ_SWEEP_NONE && study->stages[from].trial != member) {
            points[count++] = gap;
            points[count++] = point_of(
                study, from, (double)aq_sweep_study_steps(study, study->stages[from].rung));
        }
        points[count] = point_of(study, i, (double)aq_sweep_study_steps(study, stage->rung));
        points[count].low = points[count].high = NAN;
        count++;
    }
    return count;
}

static void draw_lineage(const aq_sweep_summary *summary, aq_long_text *out)
{
    const aq_sweep_study *study = summary->study;
    const size_t room = 3 * study->spec->rung_count;
    const size_t members =
        summary->count < AQ_PLOT_SERIES_MAX ? summary->count : AQ_PLOT_SERIES_MAX;
    aq_plot_point *points = aq_alloc(members * room + 1, sizeof(*points));
    aq_plot_series series[AQ_PLOT_SERIES_MAX];
    char names[AQ_PLOT_SERIES_MAX][16];
    if (points == NULL) {
        aq_long_text_fail(out, AQ_E_NOMEM);
        return;
    }
    for (size_t i = 0; i < members; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "%zu", i);
        series[i] = (aq_plot_series){.name = names[i],
                                     .points = points + i * room,
                                     .count = lineage_of(study, (uint32_t)i, points + i * room),
                                     .colour = (uint32_t)i};
    }
    const aq_plot_lines chart = {
        .title = "Who went on from whom",
        .x_label = "environment steps",
        .y_label = aq_sweep_figure_name(study->spec->score),
        .series = series,
        .series_count = members,
        .notes = {"a line that begins at another's point goes on from that member's run",
                  summary->count > members ? "the first members alone" : NULL}};
    aq_plot_lines_draw(&chart, out);
    aq_free(points);
}

/* ---- all ------------------------------------------------------------------------------------ */

static bool has_winner(const aq_sweep_summary *summary)
{
    return summary->winner != AQ_SWEEP_NONE;
}

static bool has_report(const aq_sweep_summary *summary)
{
    return summary->reported.stage != AQ_SWEEP_NONE;
}

static bool has_members(const aq_sweep_summary *summary)
{
    return summary->study->spec->method == AQ_SWEEP_PBT && summary->count > 0;
}

const aq_sweep_chart aq_sweep_charts[AQ_SWEEP_CHART_COUNT] = {
    {"best", has_winner, draw_best},     /* the best so far, against what was spent */
    {"curves", has_report, draw_curves}, /* the winner and what is given, over their seeds */
    {"front", has_winner, draw_front},   /* scores against costs, and what no other beats */
    {"importance", has_winner, draw_importance},
    {"coordinates", has_winner, aq_sweep_coordinates_draw}, /* a line for each trial's settings */
    {"lineage", has_members, draw_lineage}, /* of a population: who went on from whom */
};
