/*
 * Metrics mirror: the lines of metrics.jsonl once more, in the files that other people's tools
 * read, TensorBoard's events and CSV, and in the history that the dashboard draws. Loop thread
 * only.
 */
#ifndef AQ_LEARNER_METRICS_METRICS_MIRROR_H
#define AQ_LEARNER_METRICS_METRICS_MIRROR_H

#include <stdbool.h>

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "learner/metrics/run_history.h"

typedef struct aq_metrics_mirror aq_metrics_mirror;
struct json_t; /* jansson's */

typedef struct aq_mirror_config {
    const char *run_dir; /* lent */
    const char *format;  /* of the broadcast, "int8": its returns are called by it. Lent */
    bool tensorboard, csv;
    enum aq_log_step step;         /* what TensorBoard's steps are */
    const aq_metric_list *metrics; /* of the algorithm; lent */
    bool goes_on;                  /* the run was there before this process */
    uint64_t learner_steps;        /* that it had then: of what comes before the first progress */
    aq_run_history *history;       /* NULL: none is kept. Lent */
} aq_mirror_config;

/* A file that can't be opened for the disk's sake is tried again with each line. AQ_E_CORRUPT: one
 * that is there is not ours to go on with. */
int aq_metrics_mirror_open(const aq_mirror_config *config, aq_metrics_mirror **ret_mirror,
                           aq_error *error) AQ_MUST_USE;
void aq_metrics_mirror_close(aq_metrics_mirror *mirror); /* NULL is fine */

/* Every file is tried; the error is the first one's. A line that is not kept is for the
 * history alone. */
int aq_metrics_mirror_line(aq_metrics_mirror *mirror, const struct json_t *line, bool is_kept,
                           aq_error *error) AQ_MUST_USE;

#endif
