/*
 * See playback_report.h.
 */
#include "bench/env_replay/playback_report.h"

#include <math.h>

static double scaled_error(double ours, double recorded)
{
    if (isnan(ours) || isnan(recorded)) {
        return isnan(ours) && isnan(recorded) ? 0.0 : (double)INFINITY;
    }
    if (ours == recorded) {
        return 0.0;
    }
    double size = fabs(recorded) > 1.0 ? fabs(recorded) : 1.0;
    double error = fabs(ours - recorded) / size;
    return isnan(error) ? (double)INFINITY : error;
}

void aq_worst_offer(aq_worst *worst, int64_t step, double ours, double recorded)
{
    double error = scaled_error(ours, recorded);
    if (worst->compared == 0 || error > worst->error) {
        worst->error = error;
        worst->step = step;
    }
    worst->compared++;
}
