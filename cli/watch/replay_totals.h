/*
 * Replay totals: what the shards of a run say of themselves, added up, and histograms as a line
 * each. For the status of one shard and of a whole run. One thread.
 */
#ifndef AQ_CLI_WATCH_REPLAY_TOTALS_H
#define AQ_CLI_WATCH_REPLAY_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/membership.pb-c.h"

enum { AQ_SPREAD_BUCKETS = 40 };

/* Counts of [0, 1), [1, 2), [2, 4), [4, 8), ...; the last one has no end. */
typedef struct aq_spread {
    uint64_t counts[AQ_SPREAD_BUCKETS];
    uint64_t total;
} aq_spread;

typedef struct aq_replay_totals {
    size_t shards; /* that have said something */
    uint64_t inserted, sampled, stored, bytes, duplicates, gaps, rejected, restored, damaged;
    uint64_t durable_messages, backlog_bytes, disk_bytes, mapped_bytes, snapshots, sync_failures;
    double insert_per_s, sample_per_s;
    double inserting_s, sampling_s, actors_waited_s, learner_waited_s, running_s;
    aq_spread staleness; /* versions */
    aq_spread age_ms;
} aq_replay_totals;

/* `spread` and `totals` begin as zeros. */
void aq_spread_add(aq_spread *spread, const uint64_t *counts, size_t count);
void aq_replay_totals_add(aq_replay_totals *totals, const Actorq__V1__ReplayStats *stats);

/* The least power of two under which this share (0 to 1) of the values lies. 0 of no values;
 * UINT64_MAX for what may be in the bucket that has no end. */
uint64_t aq_spread_under(const aq_spread *spread, double share);

/* One character a bucket, from 0 to the last one that holds something: the more, the darker.
 * Returns `out`, of at least AQ_SPREAD_BUCKETS + 1 bytes. */
const char *aq_spread_bars(const aq_spread *spread, char *out);

#endif
