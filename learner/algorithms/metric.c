/*
 * Metrics: see metric.h.
 */
#include "learner/algorithms/metric.h"

#include <math.h>

#include "common/base/assert.h"

void aq_metric_sums_add(const aq_metric_list *metrics, aq_metric_sums *sums, const double *values)
{
    aq_metric_sums one = {0};
    for (size_t i = 0; i < metrics->count; i++) {
        one.updates[i] = !isnan(values[i]);
        one.values[i] = values[i];
    }
    aq_metric_sums_merge(metrics, sums, &one);
}

static double merged(enum aq_metric_fold fold, double value, double later)
{
    switch (fold) {
    case AQ_METRIC_MEAN:
        return value + later;
    case AQ_METRIC_MIN:
        return fmin(value, later);
    case AQ_METRIC_MAX:
        return fmax(value, later);
    case AQ_METRIC_LAST:
        break;
    }
    return later;
}

void aq_metric_sums_merge(const aq_metric_list *metrics, aq_metric_sums *sums,
                          const aq_metric_sums *later)
{
    AQ_ASSERT(metrics->count <= AQ_METRICS_MAX);
    for (size_t i = 0; i < metrics->count; i++) {
        if (later->updates[i] == 0) {
            continue;
        }
        sums->values[i] = sums->updates[i] > 0
                              ? merged(metrics->rows[i].fold, sums->values[i], later->values[i])
                              : later->values[i];
        sums->updates[i] += later->updates[i];
    }
}

double aq_metric_value(const aq_metric_list *metrics, const aq_metric_sums *sums, size_t row)
{
    AQ_ASSERT(row < metrics->count);
    if (sums->updates[row] == 0) {
        return (double)NAN;
    }
    return metrics->rows[row].fold == AQ_METRIC_MEAN
               ? sums->values[row] / (double)sums->updates[row]
               : sums->values[row];
}
