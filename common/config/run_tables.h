/*
 * Run tables: the tables of replay that a run's settings describe, and how far both sides of one
 * must be allowed to run ahead.
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_CONFIG_RUN_TABLES_H
#define AQ_COMMON_CONFIG_RUN_TABLES_H

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/config/table_spec.h"

/* Sizes are of all shards together. */
typedef struct aq_run_tables {
    aq_table_spec specs[AQ_TABLES_MAX]; /* the main one first */
    uint32_t count;
    uint32_t learner; /* the one that learner.table names */
} aq_run_tables;

/* Those that replay.* and learner.n_step describe. AQ_E_INVALID, in words. */
int aq_run_tables_make(const aq_run_config *config, aq_run_tables *ret_tables,
                       aq_error *error) AQ_MUST_USE;

/* What an actor that sends gradients keeps its steps in until one is made of them. The same. */
int aq_run_tables_of_actor(const aq_run_config *config, aq_table_spec *ret_spec,
                           aq_error *error) AQ_MUST_USE;

/* What a table's limiter has to allow for. */
typedef struct aq_run_slack {
    double lanes;         /* environments of all actors */
    double held_back;     /* steps of chunks that they have not filled */
    double request_rows;  /* of one request of the learner */
    double request_steps; /* inserted steps that those stand for; 0 without samples_per_insert */
    double tolerance;     /* the least with which not everybody can wait for everybody */
} aq_run_slack;
aq_run_slack aq_run_slack_of(const aq_run_config *config, const aq_table_spec *spec);

#endif
