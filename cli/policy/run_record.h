/*
 * Run record: what a run folder tells about its run, read without believing that all of it is
 * whole. What is missing or damaged is listed, and the rest is still there.
 */
#ifndef AQ_CLI_POLICY_RUN_RECORD_H
#define AQ_CLI_POLICY_RUN_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/run/checkpoint_folder.h"
#include "cli/run/metrics_digest.h"
#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/policy/snapshot.h"

enum { AQ_RUN_PROBLEMS_MAX = 32, AQ_RUN_WORD_BYTES = 128 };

typedef struct aq_run_record {
    /* run.json */
    char run_id[AQ_RUN_WORD_BYTES];
    char task[AQ_RUN_WORD_BYTES];
    char made[AQ_RUN_WORD_BYTES];
    char software[AQ_RUN_WORD_BYTES];
    uint64_t seed;

    bool has_config;
    aq_run_config config;

    aq_metrics_digest metrics;
    bool is_live; /* a learner holds the folder */

    /* From aq_run_record_read_policies on. */
    bool has_checkpoint;
    aq_checkpoint_found newest;
    aq_snapshot *policy;  /* policy.aq; NULL: none yet, or a problem */
    bool has_policy_fp32; /* policy.fp32.aq is there */

    size_t problem_count;
    char problems[AQ_RUN_PROBLEMS_MAX][AQ_ERROR_TEXT_MAX];
} aq_run_record;

/* AQ_E_NOT_FOUND for a folder without a run.json, AQ_E_CORRUPT for one that is none;
 * AQ_E_TOO_BIG for a path that is too long, AQ_E_NOMEM. */
int aq_run_record_read(const char *path, aq_run_record **ret_record, aq_error *error) AQ_MUST_USE;

/* What is large, of the same folder, for who shows all of a run: once, before it is freed. */
void aq_run_record_read_policies(const char *path, aq_run_record *record);
void aq_run_record_free(aq_run_record *record); /* NULL is fine */

/* "running"; how the run ended, as "solved"; or "interrupted". Lent by the record. */
const char *aq_run_record_state(const aq_run_record *record);

#endif
