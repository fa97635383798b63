/*
 * Compare scaling: what a mode gains from more of it side by side. The measure is the same for all:
 * environment steps of the whole run a second, made and learned from alike, over as many times
 * those of one learner with one actor (of async: with one actor that pushes gradients).
 *
 * What was not run is told by a model, from what was measured at another number N of the mode. It
 * tells nothing where its actors and ranks had to share processors: ranks that share one wait for
 * each other, and that would pass for the cost of an exchange. With E the efficiency,
 *
 *   E(n) = E(N) (rate(n) / n) / (rate(N) / N)
 *
 *   experience, async   rate(n) = min(n / a, 1 / u)
 *   sync                rate(n) = min(n / a, n k / (c + x (n - 1) / (N - 1)))
 *   model               rate(n) = min(n / a, k / (c / n + x (n - 1) / (N - 1)))
 *
 * a: seconds of an actor that does not wait, for an environment step; u: of the learner's training,
 * likewise; c: of its training, for an update of one rank (of a whole network, as one learner with
 * one actor tells); k: environment steps for one rank's update; x: seconds of an update's exchange
 * of N ranks, which grows with the messages to the others. Any thread.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_SCALING_H
#define AQ_CLI_COMPARE_COMPARE_SCALING_H

#include "cli/compare/compare_summary.h"

/* The numbers that a report tells of. */
enum { AQ_SCALING_POINTS = 4 };
uint64_t aq_scaling_parallel(size_t point); /* 1, 2, 4, 8 */

typedef struct aq_scaling {
    double efficiency; /* NaN: neither was run, nor can the model tell */
    bool is_model;
} aq_scaling;

/* Of the mode of row `arm`, with so many side by side. */
aq_scaling aq_compare_scaling(const aq_compare_summary *summary, size_t arm, uint64_t parallel);

/* What was measured at the row's own number; NaN: not told, as of precisions. */
double aq_compare_efficiency(const aq_compare_summary *summary, size_t arm);

#endif
