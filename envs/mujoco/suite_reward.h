/*
 * Tolerance: how well a number lies within bounds, from 0 to 1, as rewards of the control suite are
 * made of it. Stateless.
 */
#ifndef AQ_ENVS_MUJOCO_SUITE_REWARD_H
#define AQ_ENVS_MUJOCO_SUITE_REWARD_H

/* 1 in [low, high]; outside 1 - (1 - v) d, at least 0, with d the distance from them in margins and
 * v the value at d = 1. A margin of 0 makes it 0 there. low <= high, margin >= 0, 0 <= v < 1. */
double aq_tolerance_linear(double x, double low, double high, double margin,
                           double value_at_margin);

/* exp(-0.5 x^2) of an x >= 0; 0 where that is less than half of the smallest float, as rewards are
 * floats. */
double aq_bell(double x);

/* With the suite's defaults: 0.1^(d^2) outside. In the header because the step of a small
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
