/*
 * Metrics: what training tells of itself, declared once. Whoever trains has a list of rows, and
 * gives a number for each row at every update. The lists go on to metrics.jsonl, CSV, TensorBoard,
 * Prometheus, `actorq status`, the dashboard and `actorq plot`. None of these knows a name.
 */
#ifndef AQ_LEARNER_ALGORITHMS_METRIC_H
#define AQ_LEARNER_ALGORITHMS_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AQ_METRICS_MAX = 32 };

/* What stands for many updates. */
enum aq_metric_fold { AQ_METRIC_MEAN, AQ_METRIC_LAST, AQ_METRIC_MIN, AQ_METRIC_MAX };

/* Of static storage. */
typedef struct aq_metric {
    const char *name;    /* in files and of Prometheus: lower case letters, digits and '_' */
    const char *title;   /* for people, a few words in lower case: "mean value" */
    const char *unit;    /* "" for none */
    const char *meaning; /* a sentence */
    enum aq_metric_fold fold;
    bool is_logarithmic; /* is drawn so */
} aq_metric;

typedef struct aq_metric_list {
    const aq_metric *rows;
    size_t count; /* at most AQ_METRICS_MAX */
} aq_metric_list;

/* Many updates as one. Zeroed: none yet. */
typedef struct aq_metric_sums {
    uint64_t updates[AQ_METRICS_MAX]; /* that had a number for the row */
    double values[AQ_METRICS_MAX];
} aq_metric_sums;

/* `values` has a number for each row; NaN: this update has none. */
void aq_metric_sums_add(const aq_metric_list *metrics, aq_metric_sums *sums, const double *values);

/* As if the updates of `later` had been added one by one. */
void aq_metric_sums_merge(const aq_metric_list *metrics, aq_metric_sums *sums,
                          const aq_metric_sums *later);

/* What the row comes to; NaN where no update had a number. */
double aq_metric_value(const aq_metric_list *metrics, const aq_metric_sums *sums, size_t row);

#endif
