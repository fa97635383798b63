/*
 * Spread: a histogram of powers of two, and it as a line. One thread.
 */
#ifndef AQ_CLI_WATCH_SPREAD_H
#define AQ_CLI_WATCH_SPREAD_H

#include <stddef.h>
#include <stdint.h>

enum { AQ_SPREAD_BUCKETS = 40 };

/* Counts of [0, 1), [1, 2), [2, 4), [4, 8), ...; the last one has no end. */
typedef struct aq_spread {
    uint64_t counts[AQ_SPREAD_BUCKETS];
    uint64_t total;
} aq_spread;

/* What is beyond the last bucket counts in it. */
aq_spread aq_spread_of(const uint64_t *counts, size_t count);

/* The least power of two under which this share (0 to 1) of the values lies. 0 of no values;
 * UINT64_MAX for what may be in the bucket that has no end. */
uint64_t aq_spread_under(const aq_spread *spread, double share);

/* One character a bucket, from 0 to the last one that holds something: the more, the darker.
 * Returns `out`, of at least AQ_SPREAD_BUCKETS + 1 bytes. */
const char *aq_spread_bars(const aq_spread *spread, char *out);

#endif
