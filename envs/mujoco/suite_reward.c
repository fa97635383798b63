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

double aq_tolerance(double x, double low, double high, double margin, double value_at_margin,
                    enum aq_falloff falloff)
{
    AQ_ASSERT(low <= high);
    AQ_ASSERT(margin >= 0);
    if (low <= x && x <= high) {
        return 1;
    }
    if (margin == 0) {
        return 0;
    }
    const double distance = (x < low ? low - x : x - high) / margin;
    double scaled;
    switch (falloff) {
    case AQ_FALLOFF_GAUSSIAN:
        return aq_bell(distance * sqrt(-2 * log(value_at_margin)));
    case AQ_FALLOFF_LINEAR:
        scaled = distance * (1 - value_at_margin);
        return scaled < 1 ? 1 - scaled : 0;
    case AQ_FALLOFF_QUADRATIC:
        scaled = distance * sqrt(1 - value_at_margin);
        return scaled < 1 ? 1 - scaled * scaled : 0;
    default:
        AQ_ASSERT(!"a falloff");
        return 0;
    }
}
