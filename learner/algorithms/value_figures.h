/*
 * Value figures: what an update tells of the values that it learned from targets, and the rows of
 * metrics for it, which all algorithms that learn values have. Pure; any thread.
 */
#ifndef AQ_LEARNER_ALGORITHMS_VALUE_FIGURES_H
#define AQ_LEARNER_ALGORITHMS_VALUE_FIGURES_H

#include <stdint.h>

#include "learner/algorithms/metric.h"

/* Over the rows of an update, or of a part of one. Zeroed: none yet. */
typedef struct aq_value_figures {
    uint32_t rows;
    double value, error, error_squares; /* sums; an error is the value less its target */
    double least, greatest;             /* of the values */
    double mass_below, mass_above;      /* sums, of targets beyond the atoms; see categorical.h */
} aq_value_figures;

/* One row. */
void aq_value_figures_add(aq_value_figures *figures, double value, double error);
void aq_value_figures_merge(aq_value_figures *figures, const aq_value_figures *other);

/* What lists begin with. */
enum {
    AQ_VALUE_LOSS,
    AQ_VALUE_MEAN,
    AQ_VALUE_LEAST,
    AQ_VALUE_GREATEST,
    AQ_VALUE_ERROR_SPREAD,
    AQ_VALUE_FIGURES, /* a table has no more */
    AQ_VALUE_GRADIENT_NORM = AQ_VALUE_FIGURES,
    AQ_VALUE_GRADIENT_CLIPPED,
    AQ_VALUE_METRICS
};

#define AQ_VALUE_FIGURE_ROWS                                                                       \
    [AQ_VALUE_LOSS] = {"loss", "loss", "", .meaning = "Mean loss over the last second.",           \
                       .is_logarithmic = true},                                                    \
    [AQ_VALUE_MEAN] = {"q_mean", "mean value", "",                                                 \
                       .meaning = "Mean value of the actions taken, over the last second."},       \
    [AQ_VALUE_LEAST] = {"q_least", "least value", "",                                              \
                        .meaning = "Least value of an action taken, in the last second.",          \
                        .fold = AQ_METRIC_MIN},                                                    \
    [AQ_VALUE_GREATEST] = {"q_greatest", "greatest value", "",                                     \
                           .meaning = "Greatest value of an action taken, in the last second.",    \
                           .fold = AQ_METRIC_MAX},                                                 \
    [AQ_VALUE_ERROR_SPREAD] = {                                                                    \
        "td_error_spread", "spread of TD errors", "",                                              \
        .meaning = "Standard deviation of a batch's TD errors, mean over the last second.",        \
        .is_logarithmic = true}

#define AQ_GRADIENT_METRIC_ROWS                                                                    \
    [AQ_VALUE_GRADIENT_NORM] = {"gradient_norm", "gradient norm", "",                              \
                                .meaning = "Mean norm of the value network's gradient before it "  \
                                           "is clipped, over the last second.",                    \
                                .is_logarithmic = true},                                           \
    [AQ_VALUE_GRADIENT_CLIPPED] = {"gradient_norm_clipped", "clipped norm", "",                    \
                                   .meaning = "The same after it was clipped.",                    \
                                   .is_logarithmic = true}

#define AQ_VALUE_METRIC_ROWS AQ_VALUE_FIGURE_ROWS, AQ_GRADIENT_METRIC_ROWS

/* What lists of distributions end with. */
enum { AQ_MASS_BELOW, AQ_MASS_ABOVE, AQ_MASS_METRICS };

#define AQ_MASS_METRIC_ROWS(first)                                                                 \
    [(first) +                                                                                     \
        AQ_MASS_BELOW] = {"mass_below", "mass below atoms", "",                                    \
                          .meaning =                                                               \
                              "Share of the targets' probability that lay below "                  \
                              "learner.value_min and counts as there, over the last second."},     \
        [(first) + AQ_MASS_ABOVE] = {                                                              \
            "mass_above", "mass above atoms", "",                                                  \
            .meaning = "Share of the targets' probability that lay above learner.value_max and "   \
                       "counts as there, over the last second."}

/* Nothing was learned from: all AQ_VALUE_METRICS are NaN, and count for no mean. */
void aq_value_figures_untold(double *metrics);

/* Into the places of AQ_VALUE_MEAN, AQ_VALUE_LEAST, AQ_VALUE_GREATEST and AQ_VALUE_ERROR_SPREAD. Of
 * no row, NaN. */
void aq_value_figures_tell(const aq_value_figures *figures, double *metrics);

/* Into AQ_MASS_METRICS places. */
void aq_value_figures_tell_mass(const aq_value_figures *figures, double *metrics);

#endif
