/*
 * Value figures: see value_figures.h.
 */
#include "learner/algorithms/value_figures.h"

#include <math.h>

void aq_value_figures_add(aq_value_figures *figures, double value, double error)
{
    aq_value_figures_merge(figures, &(aq_value_figures){.rows = 1,
                                                        .value = value,
                                                        .error = error,
                                                        .error_squares = error * error,
                                                        .least = value,
                                                        .greatest = value});
}

void aq_value_figures_merge(aq_value_figures *figures, const aq_value_figures *other)
{
    const bool is_first = figures->rows == 0;
    if (other->rows == 0) {
        return;
    }
    figures->rows += other->rows;
    figures->value += other->value;
    figures->error += other->error;
    figures->error_squares += other->error_squares;
    figures->mass_below += other->mass_below;
    figures->mass_above += other->mass_above;
    figures->least = is_first || other->least < figures->least ? other->least : figures->least;
    figures->greatest =
        is_first || other->greatest > figures->greatest ? other->greatest : figures->greatest;
}

void aq_value_figures_untold(double *metrics)
{
    for (int i = 0; i < AQ_VALUE_METRICS; i++) {
        metrics[i] = NAN;
    }
}

void aq_value_figures_tell(const aq_value_figures *figures, double *metrics)
{
    const double mean = figures->error / figures->rows;
    metrics[AQ_VALUE_MEAN] = figures->value / figures->rows;
    metrics[AQ_VALUE_LEAST] = figures->rows > 0 ? figures->least : (double)NAN;
    metrics[AQ_VALUE_GREATEST] = figures->rows > 0 ? figures->greatest : (double)NAN;
    metrics[AQ_VALUE_ERROR_SPREAD] =
        figures->rows > 0 ? sqrt(fmax(0, figures->error_squares / figures->rows - mean * mean))
                          : (double)NAN;
}

void aq_value_figures_tell_mass(const aq_value_figures *figures, double *metrics)
{
    metrics[AQ_MASS_BELOW] = figures->mass_below / figures->rows;
    metrics[AQ_MASS_ABOVE] = figures->mass_above / figures->rows;
}
