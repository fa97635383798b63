/*
 * Line pace: when something that happens again and again gets another line. Lines are a fiftieth of
 * the run's time apart, and a tenth of a second at most: so a run of a second has a curve as well
 * as one of hours, and neither has a line for all that happens. From an hour on they are ever
 * further apart, by the run's age, so that the files of a run of a month are not much larger than
 * those of a day. No clock of its own.
 */
#ifndef AQ_LEARNER_METRICS_LINE_PACE_H
#define AQ_LEARNER_METRICS_LINE_PACE_H

#include <math.h>
#include <stdbool.h>

/* Up to this age lines are as close as any. */
#define AQ_LINE_PACE_YOUNG_S 3600.0

/* Zeroes at the start. */
typedef struct aq_line_pace {
    double next_s; /* of the run */
} aq_line_pace;

static inline bool aq_line_pace_is_due(const aq_line_pace *pace, double wall_s)
{
    return wall_s >= pace->next_s;
}

/* Of what comes once a second, a line was written: the next is a second behind, and of an old run
 * its age in hours in seconds. */
static inline void aq_line_pace_of_seconds(aq_line_pace *pace, double wall_s)
{
    pace->next_s = wall_s + wall_s / AQ_LINE_PACE_YOUNG_S - 0.5; /* clocks are not that even */
}

/* Of what comes hundreds of times a second. True: it gets a line. Times must not go back. */
static inline bool aq_line_pace_take(aq_line_pace *pace, double wall_s)
{
    if (!aq_line_pace_is_due(pace, wall_s)) {
        return false;
    }
    pace->next_s = wall_s + fmin(wall_s / 50.0, 0.1 * fmax(1, wall_s / AQ_LINE_PACE_YOUNG_S));
    return true;
}

#endif
