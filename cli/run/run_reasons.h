/*
 * Run reasons: why a run did not learn, as its learner found out: from its last words in
 * metrics.jsonl, or from the last status that was seen. Any thread; no state.
 */
#ifndef AQ_CLI_RUN_RUN_REASONS_H
#define AQ_CLI_RUN_RUN_REASONS_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "proto/operations.pb-c.h"

enum { AQ_RUN_REASONS_MAX = 10 };

typedef struct aq_run_reason {
    char words[192];
    char setting[320]; /* to try */
} aq_run_reason;

typedef struct aq_run_reasons {
    aq_run_reason rows[AQ_RUN_REASONS_MAX];
    size_t count;
} aq_run_reasons;

void aq_run_reasons_of_status(const Actorq__V1__LearnerStatus *learner,
                              aq_run_reasons *ret_reasons);

/* Of the line of the run's end; one that says nothing of reasons has none. */
void aq_run_reasons_of_end(const json_t *end, aq_run_reasons *ret_reasons);

/* [{"words": …, "setting": …}, …]; a new reference, NULL without memory. */
json_t *aq_run_reasons_json(const aq_run_reasons *reasons);

/* Two lines each. */
void aq_run_reasons_print(FILE *out, const aq_run_reasons *reasons);

#endif
