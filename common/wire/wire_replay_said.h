/*
 * What replay shards said of themselves: a copy of a ReplayStats that owns what it points at, and
 * the sum of several. Texts, tables and histograms are cut at the bounds below: they are a peer's.
 */
#ifndef AQ_COMMON_WIRE_WIRE_REPLAY_SAID_H
#define AQ_COMMON_WIRE_WIRE_REPLAY_SAID_H

#include "common/config/table_spec.h"
#include "proto/membership.pb-c.h"

enum { AQ_SAID_TEXT_MAX = 160, AQ_SAID_BINS_MAX = 32 };

/* Points into itself: copy it with aq_replay_said_copy. */
typedef struct aq_replay_said {
    Actorq__V1__ReplayStats stats;
    Actorq__V1__TableStats tables[AQ_TABLES_MAX];
    Actorq__V1__TableStats *table_pointers[AQ_TABLES_MAX];
    char names[AQ_TABLES_MAX][AQ_TABLE_NAME_MAX];
    uint64_t staleness[AQ_SAID_BINS_MAX];
    uint64_t age_ms[AQ_SAID_BINS_MAX];
    char waiting[AQ_SAID_TEXT_MAX];
    char stuck[AQ_SAID_TEXT_MAX];
} aq_replay_said;

void aq_replay_said_copy(aq_replay_said *said, const Actorq__V1__ReplayStats *stats);

/* A sum of nothing. */
void aq_replay_said_clear(aq_replay_said *said);

/* Adds one shard's. Counts, rates, bytes and times are summed, tables by their names;
 * bytes_per_step is the mean over the steps held, a table's times_sampled over the items sampled.
 * `waiting` and waiting_s are those of the shard that waits longest, `stuck` that of the first that
 * is. `store` has no sum and stays 0. Numbers that are not finite add nothing. */
void aq_replay_said_add(aq_replay_said *sum, const Actorq__V1__ReplayStats *stats);

#endif
