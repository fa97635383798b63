/*
 * Statistics of curves: see compare_stats.h.
 */
#include "cli/compare/compare_stats.h"

#include <math.h>

#include "common/base/assert.h"

/* Added up anew at each point: a running sum would carry its rounding along. */
static double mean_up_to(const aq_curve_point *points, size_t at, size_t window)
{
    size_t first = at + 1 > window ? at + 1 - window : 0;
    double sum = 0;
    for (size_t i = first; i <= at; i++) {
        sum += points[i].value;
    }
    return sum / (double)(at + 1 - first);
}

size_t aq_stats_running_crossing(const aq_curve_point *points, size_t count, size_t window,
                                 double threshold)
{
    AQ_ASSERT(window >= 1);
    for (size_t i = window - 1; i < count; i++) {
        if (mean_up_to(points, i, window) >= threshold) {
            return i;
        }
    }
    return count;
}

void aq_stats_running_mean(const aq_curve_point *points, size_t count, size_t window, double *out)
{
    AQ_ASSERT(window >= 1);
    for (size_t i = 0; i < count; i++) {
        out[i] = mean_up_to(points, i, window);
    }
}

double aq_stats_interpolate(const double *xs, const double *ys, size_t count, double x)
{
    if (count == 0 || !(x >= xs[0]) || !(x <= xs[count - 1])) {
        return (double)NAN;
    }
    size_t low = 0, high = count - 1; /* xs[low] <= x <= xs[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (xs[middle] <= x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double width = xs[high] - xs[low];
    return width > 0 ? ys[low] + (ys[high] - ys[low]) * (x - xs[low]) / width : ys[high];
}
