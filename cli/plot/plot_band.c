/*
 * Plot band: see plot_band.h.
 */
#include "cli/plot/plot_band.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/base/student_t.h"

enum { DRAWS = 1000, DRAW_SEED = 1 };

/* ---- curves --------------------------------------------------------------------------------- */

static double x_of(enum aq_plot_x x, const aq_series_point *point)
{
    return x == AQ_PLOT_X_TIME        ? point->wall_s
           : x == AQ_PLOT_X_ENV_STEPS ? point->env_steps
                                      : point->learner_steps;
}

/* From the last on, as means reach back; added up anew at each point, as a running sum would carry
 * its rounding along. */
static void smooth(aq_band_curve *curve, size_t window)
{
    for (size_t i = curve->count; window > 1 && i-- > 0;) {
        const size_t first = i + 1 > window ? i + 1 - window : 0;
        double sum = 0;
        for (size_t j = first; j <= i; j++) {
            sum += curve->y[j];
        }
        curve->y[i] = sum / (double)(i + 1 - first);
    }
}

int aq_band_curve_of(const aq_run_series *series, enum aq_plot_x x, size_t window,
                     aq_band_curve *ret_curve)
{
    double *block = aq_alloc(2 * series->count + 1, sizeof(*block));
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    aq_band_curve curve = {.x = block, .y = block + series->count};
    for (size_t i = 0; i < series->count; i++) {
        const double at = x_of(x, &series->points[i]);
        if (curve.count == 0 || at >= curve.x[curve.count - 1]) {
            curve.x[curve.count] = at;
            curve.y[curve.count++] = series->points[i].value;
        }
    }
    smooth(&curve, window);
    *ret_curve = curve;
    return 0;
}

void aq_band_curve_fini(aq_band_curve *curve)
{
    aq_free(curve->x);
    *curve = (aq_band_curve){.count = 0};
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* A curve that is walked from cell to cell. */
typedef struct band_walk {
    const aq_band_curve *curve;
    size_t next; /* the first point that is not in an earlier cell */
} band_walk;

/* What the curve is in the cell from `from` up to `to`, whose middle is `x`; it has begun by then.
 * The last cell has its end in it. */
static double value_in(band_walk *walk, double from, double to, double x, bool is_last)
{
    const aq_band_curve *curve = walk->curve;
    double sum = 0;
    size_t count = 0;
    while (walk->next < curve->count && curve->x[walk->next] < from) {
        walk->next++;
    }
    while (walk->next < curve->count &&
           (curve->x[walk->next] < to || (is_last && curve->x[walk->next] <= to))) {
        sum += curve->y[walk->next++];
        count++;
    }
    if (count > 0) {
        return sum / (double)count;
    }
    if (walk->next == curve->count) {
        return curve->y[curve->count - 1];
    }
    AQ_ASSERT(walk->next > 0);
    const double x0 = curve->x[walk->next - 1], x1 = curve->x[walk->next];
    const double y0 = curve->y[walk->next - 1], y1 = curve->y[walk->next];
    return y0 + (x - x0) / (x1 - x0) * (y1 - y0);
}

typedef struct band_extent {
    double begin;       /* where all have begun */
    double first, last; /* where the first of them ends, and the last */
} band_extent;

static band_extent extent_of(const aq_band_curve *curves, size_t count)
{
    band_extent extent = {.begin = -INFINITY, .first = INFINITY, .last = -INFINITY};
    for (size_t i = 0; i < count; i++) {
        if (curves[i].count > 0) {
            const double end = curves[i].x[curves[i].count - 1];
            extent.begin = fmax(extent.begin, curves[i].x[0]);
            extent.first = fmin(extent.first, end);
            extent.last = fmax(extent.last, end);
        }
    }
    return extent;
}

/* ---- bands ---------------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Runs are drawn, as many as there are, and their mean is taken, again and again. The seed is the
 * same for each cell: so are the draws, and the band is as smooth as the runs. */
static void bootstrap(const double *values, size_t count, aq_plot_point *point)
{
    double means[DRAWS];
    aq_rng rng;
    aq_rng_init(&rng, DRAW_SEED, 0);
    for (size_t draw = 0; draw < DRAWS; draw++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum += values[aq_rng_below(&rng, count)];
        }
        means[draw] = sum / (double)count;
    }
    qsort(means, DRAWS, sizeof(*means), by_value);
    point->low = means[DRAWS / 40];
    point->high = means[DRAWS - 1 - DRAWS / 40];
}

static void put_band(enum aq_band band, const double *values, size_t count, aq_plot_point *point)
{
    const aq_mean_ci mean = aq_mean_ci_of(values, count);
    *point = (aq_plot_point){.x = point->x, .y = mean.mean, .low = NAN, .high = NAN};
    if (count < 2 || band == AQ_BAND_NONE) {
        return;
    }
    const double half = band == AQ_BAND_STUDENT ? mean.ci95 : mean.std / sqrt((double)count);
    point->low = mean.mean - half;
    point->high = mean.mean + half;
    if (band == AQ_BAND_BOOTSTRAP) {
        bootstrap(values, count, point);
    } else if (band == AQ_BAND_MINMAX) {
        point->low = point->high = values[0];
        for (size_t i = 1; i < count; i++) {
            point->low = fmin(point->low, values[i]);
            point->high = fmax(point->high, values[i]);
        }
    }
}

size_t aq_plot_band(const aq_band_curve *curves, size_t count, size_t cells, enum aq_band band,
                    enum aq_band_end end, aq_plot_point *points)
{
    band_walk walks[AQ_BAND_RUNS_MAX];
    double values[AQ_BAND_RUNS_MAX];
    size_t walk_count = 0;
    AQ_ASSERT(count <= AQ_BAND_RUNS_MAX);
    AQ_ASSERT(cells >= 1);
    AQ_ASSERT(cells <= AQ_BAND_CELLS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (curves[i].count > 0) {
            walks[walk_count++] = (band_walk){.curve = &curves[i]};
        }
    }
    const band_extent extent = extent_of(curves, count);
    const double low = extent.begin, high = end == AQ_BAND_CUT ? extent.first : extent.last;
    if (walk_count == 0 || !(low < high)) { /* nothing at all, or in common, or at one place */
        cells = walk_count > 0 && low == high ? 1 : 0;
    }
    for (size_t cell = 0; cell < cells; cell++) {
        const double width = (high - low) / (double)cells;
        const double from = low + (double)cell * width, to = low + (double)(cell + 1) * width;
        const bool is_last = cell + 1 == cells;
        points[cell].x = 0.5 * (from + to);
        for (size_t i = 0; i < walk_count; i++) {
            values[i] = value_in(&walks[i], from, is_last ? high : to, points[cell].x, is_last);
        }
        put_band(band, values, walk_count, &points[cell]);
    }
    return cells;
}

size_t aq_plot_band_ended(const aq_band_curve *curves, size_t count, size_t cells)
{
    const band_extent extent = extent_of(curves, count);
    const double cell = (extent.last - extent.begin) / (double)cells;
    size_t ended = 0;
    for (size_t i = 0; i < count; i++) {
        ended += curves[i].count > 0 && curves[i].x[curves[i].count - 1] < extent.last - cell;
    }
    return ended;
}
