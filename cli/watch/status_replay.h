/*
 * Status replay: the part of a status page that is about stored experience, of one shard or of all
 * shards of a run.
 */
#ifndef AQ_CLI_WATCH_STATUS_REPLAY_H
#define AQ_CLI_WATCH_STATUS_REPLAY_H

#include <stdio.h>

#include "common/base/error.h"
#include "proto/operations.pb-c.h"

/* What one shard holds, does and waits for, its log, and its tables. AQ_E_NOMEM. */
int aq_status_replay_print_shard(FILE *out, const Actorq__V1__ReplayStats *stats) AQ_MUST_USE;

/* What several shards hold and did, added up: no waiting and no tables. */
void aq_status_replay_print_sum(FILE *out, const Actorq__V1__ReplayStats *stats);

/* How the learner gets on with replay, and what all shards that it has heard of hold and did. */
int aq_status_replay_print_run(FILE *out, const Actorq__V1__StatusReply *status) AQ_MUST_USE;

#endif
