/*
 * Metrics page: builds a page of Prometheus's text format 0.0.4, one family after another.
 *
 * A failure is kept and told at the end; calls after it do nothing. One owner, no locking.
 */
#ifndef AQ_COMMON_BASE_METRICS_PAGE_H
#define AQ_COMMON_BASE_METRICS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

#define AQ_METRICS_PAGE_TYPE "text/plain; version=0.0.4; charset=utf-8"

typedef struct aq_metrics_page {
    aq_buffer *text;
    const char *prefix; /* of the names that follow: "actorq_learner_"; a constant, never NULL */
    const char *name;   /* of the family that is written */
    int rc;
} aq_metrics_page;

typedef struct aq_metric_label {
    const char *name;
    const char *value;
} aq_metric_label;

enum aq_metric_type { AQ_METRIC_COUNTER, AQ_METRIC_GAUGE, AQ_METRIC_HISTOGRAM };

/* `text` is lent. */
void aq_metrics_page_begin(aq_metrics_page *page, aq_buffer *text);

/* 0, AQ_E_TOO_BIG or AQ_E_NOMEM. */
int aq_metrics_page_end(const aq_metrics_page *page) AQ_MUST_USE;

/* Begins a family. `name` follows the prefix; `help` is one line. A family without samples stays on
 * the page, so that its name is known before it has a value. */
void aq_page_family(aq_metrics_page *page, enum aq_metric_type type, const char *name,
                    const char *help);

/* A sample of the family; NaN: there is none. */
void aq_page_sample(aq_metrics_page *page, const char *label, const char *label_value,
                    double value);
void aq_page_labelled(aq_metrics_page *page, const aq_metric_label *labels, size_t count,
                      double value);

/* A family of one sample without labels. */
void aq_page_counter(aq_metrics_page *page, const char *name, const char *help, double value);
void aq_page_gauge(aq_metrics_page *page, const char *name, const char *help, double value);

/* A histogram of counts of [0, 1), [1, 2), [2, 4), [4, 8), ... times `unit`, the last of all that
 * is more; of `whole` numbers, whose bounds are then 0, 1, 3, 7, ... It has no sum: nobody kept
 * it. */
void aq_page_histogram(aq_metrics_page *page, const char *name, const char *help,
                       const uint64_t *counts, size_t size, double unit, bool whole);

#endif
