/*
 * Plot band: see plot_band.h.
 */
#include "cli/plot/plot_band.h"

#include <math.h>

#include "cli/text/student_t.h"
#include "common/base/assert.h"

/* A curve that is walked from cell to cell. */
typedef struct band_walk {
    const aq_band_curve *curve;
    size_t next; /* the first point that is not in an earlier cell */
} band_walk;

/* What the curve is in the cell from `from` up to `to`, whose middle is `x`; NaN: it is not there.
 * The last cell has its end in it. */
static double value_in(band_walk *walk, double from, double to, double x, bool is_last)
{
    const aq_band_curve *curve = walk->curve;
    double sum = 0;
    size_t count = 0;
    while (walk->next < curve->count && curve->x[walk->next] < from) {
        walk->next++;
    }
    while (walk->next < curve->count && (curve->x[walk->next] < to || is_last)) {
        sum += curve->y[walk->next++];
        count++;
    }
    if (count > 0) {
        return sum / (double)count;
    }
    if (walk->next == 0 || walk->next == curve->count) {
        return NAN;
    }
    const double x0 = curve->x[walk->next - 1], x1 = curve->x[walk->next];
    const double y0 = curve->y[walk->next - 1], y1 = curve->y[walk->next];
    return y0 + (x - x0) / (x1 - x0) * (y1 - y0);
}

static void extent_of(const aq_band_curve *curves, size_t count, double *ret_low, double *ret_high)
{
    *ret_low = INFINITY;
    *ret_high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (curves[i].count > 0) {
            *ret_low = fmin(*ret_low, curves[i].x[0]);
            *ret_high = fmax(*ret_high, curves[i].x[curves[i].count - 1]);
        }
    }
}

size_t aq_plot_band(const aq_band_curve *curves, size_t count, size_t cells, aq_plot_point *points)
{
    band_walk walks[AQ_BAND_RUNS_MAX];
    double values[AQ_BAND_RUNS_MAX], low, high;
    size_t used = 0;
    AQ_ASSERT(count <= AQ_BAND_RUNS_MAX);
    AQ_ASSERT(cells >= 1);
    AQ_ASSERT(cells <= AQ_BAND_CELLS_MAX);
    for (size_t i = 0; i < count; i++) {
        walks[i] = (band_walk){.curve = &curves[i]};
    }
    extent_of(curves, count, &low, &high);
    if (low >= high) {
        cells = low == high ? 1 : 0; /* all at one place, or nothing at all */
    }
    for (size_t cell = 0; cell < cells; cell++) {
        const double width = (high - low) / (double)cells;
        const double from = low + (double)cell * width, to = low + (double)(cell + 1) * width;
        const double x = 0.5 * (from + to);
        for (size_t i = 0; i < count; i++) {
            values[i] = value_in(&walks[i], from, to, x, cell + 1 == cells);
        }
        const aq_mean_ci of = aq_mean_ci_of(values, count);
        if (of.count > 0 && 2 * of.count >= count) {
            points[used++] =
                (aq_plot_point){.x = x, .y = of.mean, of.mean - of.ci95, of.mean + of.ci95};
        }
    }
    return used;
}
