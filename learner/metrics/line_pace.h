/*
 * Line pace: when something that happens hundreds of times a second gets another line. Lines are a
 * fiftieth of the run's time apart, and a tenth of a second at most: so a run of a second has a
 * curve as well as one of hours, and neither has a line for all that happens. No clock of its own.
 */
#ifndef AQ_LEARNER_METRICS_LINE_PACE_H
#define AQ_LEARNER_METRICS_LINE_PACE_H

#include <math.h>
#include <stdbool.h>

/* Zeroes at the start. */
typedef struct aq_line_pace {
    double next_s; /* of the run */
} aq_line_pace;

/* True: it gets a line. Times must not go back. */
static inline bool aq_line_pace_take(aq_line_pace *pace, double wall_s)
{
    if (wall_s < pace->next_s) {
        return false;
    }
    pace->next_s = wall_s + fmin(wall_s / 50.0, 0.1);
    return true;
}

#endif
