/*
 * Run history: what the dashboard draws, from the lines of metrics.jsonl, in about 1 MB however
 * long the run is. Three spans: the last five minutes by the second, the last hour by ten seconds,
 * and the whole run, ever more coarsely. Loop thread only.
 */
#ifndef AQ_LEARNER_METRICS_RUN_HISTORY_H
#define AQ_LEARNER_METRICS_RUN_HISTORY_H

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "learner/algorithms/metric.h"
#include "learner/metrics/history_series.h"

struct json_t; /* jansson's */

enum aq_history_span { AQ_SPAN_MINUTES, AQ_SPAN_HOUR, AQ_SPAN_RUN };
enum { AQ_HISTORY_SPANS = AQ_SPAN_RUN + 1 };

/* What is kept of a line: of progress, of screenings, of confirmed evaluations, of either when the
 * version fell back to fp32, and of comparisons with fp32. */
enum aq_history_kind {
    AQ_HISTORY_PROGRESS,
    AQ_HISTORY_SCREENED,
    AQ_HISTORY_CONFIRMED,
    AQ_HISTORY_FELL_BACK,
    AQ_HISTORY_COMPARED
};
enum { AQ_HISTORY_KINDS = AQ_HISTORY_COMPARED + 1 };

/* The columns that are asked for by name elsewhere. */
enum {
    AQ_PROGRESS_ENV_RATE = 3,
    AQ_PROGRESS_LEARNER_RATE = 4,
    AQ_PROGRESS_LEARNER_WAITS = 7,
    AQ_PROGRESS_ACTORS_WAITED = 8,
    AQ_PROGRESS_ACTORS_RAN = 9,
    AQ_PROGRESS_WAITED_FOR_ACTORS = 10,
    AQ_PROGRESS_WAITED_FOR_ANSWERS = 11,
    AQ_EVALUATION_RETURN = 3
};

typedef struct aq_run_history aq_run_history;

/* Progress has the algorithm's metrics among its columns, by their names. */
int aq_run_history_create(const aq_metric_list *metrics, aq_run_history **ret_history) AQ_MUST_USE;
void aq_run_history_destroy(aq_run_history *history); /* NULL is fine */

/* A line of metrics.jsonl; of an event that is not shown, nothing is kept. */
void aq_run_history_line(aq_run_history *history, const struct json_t *line);

/* Takes up what earlier processes of the run wrote to `path`. Of a long file only some stretches
 * are read, evenly spread, and its end, at most 9 MB in all. No file is an empty one; lines that
 * are none are passed over. */
int aq_run_history_read(aq_run_history *history, const char *path, aq_error *error) AQ_MUST_USE;

const aq_history_series *aq_run_history_series(const aq_run_history *history,
                                               enum aq_history_span span,
                                               enum aq_history_kind kind);

/* {"progress":{...},"screened":{...},"confirmed":{...},"fell_back":{...},"compared":{...}}, see
 * history_series.h. */
int aq_run_history_print(const aq_run_history *history, enum aq_history_span span,
                         aq_buffer *out) AQ_MUST_USE;

#endif
