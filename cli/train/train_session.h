/*
 * Train session: one run on this host, from starting its daemons to the last of them gone.
 */
#ifndef AQ_CLI_TRAIN_TRAIN_SESSION_H
#define AQ_CLI_TRAIN_TRAIN_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/run/run_trouble.h"
#include "common/base/error.h"
#include "common/config/run_config.h"
#include "proto/operations.pb-c.h"

typedef struct aq_train_options {
    char run_dir[PATH_MAX];
    bool resume;
    bool quiet;              /* no progress */
    char data_set[PATH_MAX]; /* not "": no actors, the shard has its steps from here */
    bool no_evaluator;
    uint64_t learners;  /* ranks that train together; 0: one */
    const char *http;   /* where the learner serves its dashboard; NULL: ACTORQ_HTTP, or nowhere */
    uint64_t run_id;    /* of a new run; 0: any */
    int64_t started_ns; /* when the process started */
} aq_train_options;

/* How it ended. */
typedef struct aq_train_result {
    Actorq__V1__StatusReply *status; /* the last answer, owned; NULL when there was none */
    double wall_s;                   /* until the end of the run was known */
    uint64_t learners;
    unsigned restarts;
    bool interrupted;             /* a signal ended it */
    bool was_asked;               /* a signal came, then or while it ended by itself */
    char trouble[AQ_TROUBLE_MAX]; /* that it was in when it ended, or "" */
} aq_train_result;

/* Runs it. On failure the daemons are gone too, and `error` says why: AQ_E_PEER in the words of a
 * daemon that refused its first start. Of *ret_result `was_asked` alone holds then. */
int aq_train_session_run(const aq_run_config *config, const aq_train_options *options,
                         aq_train_result *ret_result, aq_error *error) AQ_MUST_USE;
void aq_train_result_fini(aq_train_result *result);

#endif
