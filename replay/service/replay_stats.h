/*
 * Statistics: all numbers of a shard put together as the message that heartbeats and Status carry.
 */
#ifndef AQ_REPLAY_SERVICE_REPLAY_STATS_H
#define AQ_REPLAY_SERVICE_REPLAY_STATS_H

#include "proto/membership.pb-c.h"
#include "replay/shard/replay_host.h"

/* The message and all that it points at but `waiting` and `stuck`, which point into the core. */
typedef struct aq_replay_stats {
    Actorq__V1__ReplayStats message;
    Actorq__V1__TableStats tables[AQ_TABLES_MAX];
    Actorq__V1__TableStats *table_pointers[AQ_TABLES_MAX];
    char names[AQ_TABLES_MAX][AQ_TABLE_NAME_MAX];
    uint64_t staleness[AQ_HISTOGRAM_BUCKETS];
    uint64_t age_ms[AQ_HISTOGRAM_BUCKETS];
} aq_replay_stats;

/* Zeroes without a run. */
void aq_replay_stats_fill(const aq_replay_host *host, aq_replay_stats *ret_stats);

#endif
