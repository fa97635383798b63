/*
 * Metrics digest: what matters of a run's metrics.jsonl, which may be long: its last line, its last
 * line of progress, and what the best version reached. The file may be written to meanwhile, and a
 * crash may have left half a line.
 */
#ifndef AQ_CLI_RUN_METRICS_DIGEST_H
#define AQ_CLI_RUN_METRICS_DIGEST_H

#include <jansson.h>
#include <stdint.h>

#include "cli/text/figure_text.h"
#include "common/base/error.h"

typedef struct aq_metrics_digest {
    uint64_t lines;
    json_t *last;     /* the last whole line; NULL: none */
    json_t *progress; /* the last one that says how far the run is; NULL: none */
    json_t *best;     /* version, by the learner's last word on it; NULL: none */
    json_t *end;      /* how the run ended; NULL: it did not, or it was resumed since */
} aq_metrics_digest;

/* Of `best`. */
aq_best_figure aq_metrics_digest_best(const aq_metrics_digest *digest);

/* What aq_file_read says, AQ_E_NOMEM. */
int aq_metrics_digest_read(const char *folder, aq_metrics_digest *ret_digest,
                           aq_error *error) AQ_MUST_USE;
void aq_metrics_digest_fini(aq_metrics_digest *digest); /* a zeroed one is fine */

#endif
