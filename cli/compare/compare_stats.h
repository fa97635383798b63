/*
 * Statistics of curves: running means, and when one reaches a threshold. Intervals over seeds are
 * student_t.h's. All values are finite; the caller leaves others out. Any thread.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_STATS_H
#define AQ_CLI_COMPARE_COMPARE_STATS_H

#include <stddef.h>

enum { AQ_RUNNING_WINDOW = 10 }; /* evaluations; as in the ActorQ paper's curves */

/* One evaluation of a run. */
typedef struct aq_curve_point {
    double wall_s;
    double env_steps;
    double value;
} aq_curve_point;

/* The first point at which the mean of the last AQ_RUNNING_WINDOW values is at least `threshold`,
 * once there are as many; `count` when there is none. */
size_t aq_stats_running_crossing(const aq_curve_point *points, size_t count, double threshold);

/* out[i] is the mean of the values up to i, of AQ_RUNNING_WINDOW of them at most. */
void aq_stats_running_mean(const aq_curve_point *points, size_t count, double *out);

#endif
