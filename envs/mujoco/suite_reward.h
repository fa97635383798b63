/*
 * Tolerance: how well a number lies within bounds, from 0 to 1, as rewards of the control suite are
 * made of it. Stateless.
 */
#ifndef AQ_ENVS_MUJOCO_SUITE_REWARD_H
#define AQ_ENVS_MUJOCO_SUITE_REWARD_H

/* Of how the value falls off outside the bounds, with d the distance from them in margins and v the
 * value at d = 1. */
enum aq_falloff {
    AQ_FALLOFF_GAUSSIAN,  /* v^(d^2) */
    AQ_FALLOFF_LINEAR,    /* 1 - (1 - v) d, at least 0 */
    AQ_FALLOFF_QUADRATIC, /* 1 - (1 - v) d^2, at least 0 */
};

/* 1 in [low, high]; outside, by `falloff`. A margin of 0 makes it 0 there. low <= high, margin >=
 * 0, 0 < value_at_margin < 1, or 0 for the linear and the quadratic. */
double aq_tolerance(double x, double low, double high, double margin, double value_at_margin,
                    enum aq_falloff falloff);

/* exp(-0.5 x^2) of an x >= 0; 0 where that is less than half of the smallest float, as rewards are
 * floats. */
double aq_bell(double x);

/* With the suite's defaults: gaussian, 0.1 at the margin. In the header because the step of a small
 * domain fills the instruction cache, and what is in line here needs no further lines of it. */
static inline double aq_tolerance_gaussian(double x, double low, double high, double margin)
{
    /* sqrt(-2 ln 0.1): how many standard deviations of the bell curve the margin is. */
    static const double deviations_at_margin = 2.145966026289347;
    if (low <= x && x <= high) {
        return 1;
    }
    if (margin == 0) {
        return 0;
    }
    return aq_bell((x < low ? low - x : x - high) / margin * deviations_at_margin);
}

#endif
