/*
 * Statistics of curves: see compare_stats.h.
 */
#include "cli/compare/compare_stats.h"

/* Added up anew at each point: a running sum would carry its rounding along. */
static double mean_up_to(const aq_curve_point *points, size_t at)
{
    size_t first = at + 1 > AQ_RUNNING_WINDOW ? at + 1 - AQ_RUNNING_WINDOW : 0;
    double sum = 0;
    for (size_t i = first; i <= at; i++) {
        sum += points[i].value;
    }
    return sum / (double)(at + 1 - first);
}

size_t aq_stats_running_crossing(const aq_curve_point *points, size_t count, double threshold)
{
    for (size_t i = AQ_RUNNING_WINDOW - 1; i < count; i++) {
        if (mean_up_to(points, i) >= threshold) {
            return i;
        }
    }
    return count;
}

void aq_stats_running_mean(const aq_curve_point *points, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = mean_up_to(points, i);
    }
}
