/*
 * Metrics: see metric.h.
 */
#include "learner/algorithms/metric.h"

#include <math.h>

#include "common/base/assert.h"

void aq_metric_sums_add(const aq_metric_list *metrics, aq_metric_sums *sums, const double *values)
{
    aq_metric_sums one = {.updates = 1};
    for (size_t i = 0; i < metrics->count; i++) {
        one.values[i] = values[i];
    }
    aq_metric_sums_merge(metrics, sums, &one);
}

void aq_metric_sums_merge(const aq_metric_list *metrics, aq_metric_sums *sums,
                          const aq_metric_sums *later)
{
    AQ_ASSERT(metrics->count <= AQ_METRICS_MAX);
    for (size_t i = 0; later->updates > 0 && i < metrics->count; i++) {
        const double value = later->values[i];
        switch (metrics->rows[i].fold) {
        case AQ_METRIC_MEAN:
            sums->values[i] += value;
            break;
        case AQ_METRIC_LAST:
            sums->values[i] = value;
            break;
        case AQ_METRIC_MAX:
            sums->values[i] = sums->updates > 0 ? fmax(sums->values[i], value) : value;
            break;
        }
    }
    sums->updates += later->updates;
}

double aq_metric_value(const aq_metric_list *metrics, const aq_metric_sums *sums, size_t row)
{
    AQ_ASSERT(row < metrics->count);
    if (sums->updates == 0) {
        return (double)NAN;
    }
    return metrics->rows[row].fold == AQ_METRIC_MEAN ? sums->values[row] / (double)sums->updates
                                                     : sums->values[row];
}
