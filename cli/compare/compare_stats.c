/*
 * Statistics of curves: see compare_stats.h.
 */
#include "cli/compare/compare_stats.h"

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
