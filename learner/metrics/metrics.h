/*
 * Metrics: metrics.jsonl of the run folder, one JSON object a line, each whole or not there
 * (log_file.h). Numbers that are not finite are null. Loop thread only.
 */
#ifndef AQ_LEARNER_METRICS_METRICS_H
#define AQ_LEARNER_METRICS_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "learner/algorithms/metric.h"
#include "learner/metrics/metrics_mirror.h"
#include "learner/publish/policy_shelf.h"
#include "learner/publish/precision_gap.h"
#include "learner/run/ranking.h"
#include "learner/run/run_findings.h"

typedef struct aq_metrics aq_metrics;
struct json_t; /* jansson's */

/* What the learner did since the last sample, and where the run stands. */
typedef struct aq_metrics_sample {
    double wall_s;
    uint64_t env_steps;
    uint64_t learner_steps;
    double env_steps_per_s;
    double learner_steps_per_s;
    const aq_metric_list *metrics; /* of the algorithm */
    const double *metric_values;   /* one for each; NaN: no step since */
    double staleness;              /* versions behind, mean; NaN: none */
    double training_return;        /* of the actors' episodes; NaN: none yet */
    uint64_t policy_version;
    aq_policy_totals policies; /* all that were published */
    double quantization_cost;
    uint32_t actors, evaluators, shards;
    double batch_wait_share;          /* of the time, 0 to 1 */
    struct json_t *replay;            /* what the shards said, together; NULL: nothing. Lent */
    struct json_t *replay_use;        /* how the learner gets on with them; NULL: left out. Lent */
    struct json_t *time;              /* where it went, by role; NULL: left out. Lent */
    struct json_t *energy;            /* what the run took so far; NULL: left out. Lent */
    const aq_evaluation_result *best; /* NULL: nothing was evaluated yet. Lent */
} aq_metrics_sample;

/* What a run came to. */
typedef struct aq_metrics_outcome {
    struct json_t *time;   /* as in a sample */
    const char *state;     /* "solved" */
    const char *products;  /* "fp32" */
    struct json_t *energy; /* what it took; NULL: left out. Lent */
    double wall_s;
    uint64_t env_steps;
    uint64_t learner_steps;
    aq_policy_totals policies; /* likewise */
    aq_precision_gap gap;
    aq_findings findings;             /* why it did not learn */
    const aq_evaluation_result *best; /* as in a sample */
} aq_metrics_outcome;

/* Of the folder that the mirror's configuration names; each line goes to that, too, which fails as
 * aq_metrics_mirror_open does. */
int aq_metrics_open(const aq_mirror_config *config, aq_metrics **ret_metrics,
                    aq_error *error) AQ_MUST_USE;
void aq_metrics_close(aq_metrics *metrics); /* NULL is fine */

/* Why the last line that was tried is not in every file; "": it is. Valid until the next line. */
const char *aq_metrics_trouble(const aq_metrics *metrics);

/* A full disk loses the line, not the run. Progress is told once a second; of an old run not every
 * line is kept in files, see line_pace.h. An evaluation that is not kept is for the history alone.
 */
int aq_metrics_progress(aq_metrics *metrics, const aq_metrics_sample *sample) AQ_MUST_USE;
int aq_metrics_evaluation(aq_metrics *metrics, double wall_s, uint64_t env_steps,
                          const aq_evaluation_result *result, bool is_kept) AQ_MUST_USE;
int aq_metrics_gap(aq_metrics *metrics, double wall_s, uint64_t env_steps,
                   const aq_version_gap *gap) AQ_MUST_USE;
/* A setting was changed in the running system; the values are as the configuration has them. It is
 * not mirrored: it has no numbers. */
int aq_metrics_setting(aq_metrics *metrics, double wall_s, uint64_t env_steps,
                       uint64_t learner_steps, const char *key, const char *before,
                       const char *after) AQ_MUST_USE;
int aq_metrics_end(aq_metrics *metrics, const aq_metrics_outcome *outcome) AQ_MUST_USE;

#endif
