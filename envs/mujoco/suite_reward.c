/*
 * The order of operations is the original's, so that values agree to the last bits.
 */
#include "envs/mujoco/suite_reward.h"

#include <math.h>

#include "common/base/assert.h"

/* From here on exp(-0.5 x^2) is less than half of the smallest float. */
#define NOTHING_LEFT 14.5

double aq_bell(double x)
{
    return x < NOTHING_LEFT ? exp(-0.5 * (x * x)) : 0;
}

double aq_tolerance_linear(double x, double low, double high, double margin, double value_at_margin)
{
    AQ_ASSERT(low <= high);
    AQ_ASSERT(margin >= 0);
    if (low <= x && x <= high) {
        return 1;
    }
    if (margin == 0) {
        return 0;
    }
    const double scaled = (x < low ? low - x : x - high) / margin * (1 - value_at_margin);
    return scaled < 1 ? 1 - scaled : 0;
}
