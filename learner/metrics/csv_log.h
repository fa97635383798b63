/*
 * CSV log: metrics.csv, the lines of metrics.jsonl as a table for spreadsheets and data frames. The
 * first row names the columns; a file that is there already keeps its own, whatever version wrote
 * them, and a row that a crash cut short is taken away. A cell without a number is empty. Loop
 * thread only.
 */
#ifndef AQ_LEARNER_METRICS_CSV_LOG_H
#define AQ_LEARNER_METRICS_CSV_LOG_H

#include "common/base/error.h"
#include "learner/algorithms/metric.h"

typedef struct aq_csv_log aq_csv_log;
struct json_t; /* jansson's */

/* RUN/metrics.csv. AQ_E_CORRUPT when its first row names no columns. */
int aq_csv_log_open(const char *run_dir, const aq_metric_list *metrics, aq_csv_log **ret_csv,
                    aq_error *error) AQ_MUST_USE;
void aq_csv_log_close(aq_csv_log *csv); /* NULL is fine */

/* Appends the line as a row. A full disk loses it: AQ_E_NO_SPACE. */
int aq_csv_log_row(aq_csv_log *csv, const struct json_t *line, aq_error *error) AQ_MUST_USE;

#endif
