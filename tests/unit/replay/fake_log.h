/*
 * A log that keeps everything in memory and is durable when it is told: what the core's tests use
 * in place of a disk. It outlives the core's close, so that a "crash" is: forget what was not
 * durable, and restore another core from the rest.
 */
#ifndef AQ_TESTS_UNIT_REPLAY_FAKE_LOG_H
#define AQ_TESTS_UNIT_REPLAY_FAKE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/disk/replay_log.h"
#include "replay/shard/replay_recovery.h"

enum { FAKE_RECORDS_MAX = 4096, FAKE_SEGMENTS_MAX = 256 };

typedef struct fake_segment {
    uint64_t inserted, mark_count;
    aq_log_mark *marks;
    bool dropped;
} fake_segment;

typedef struct fake_log {
    aq_replay_log log;                   /* first */
    aq_lease *records[FAKE_RECORDS_MAX]; /* at its number - 1 */
    uint64_t segments_of[FAKE_RECORDS_MAX];
    uint64_t count, durable;
    fake_segment segments[FAKE_SEGMENTS_MAX]; /* at its number - 1 */
    uint64_t segment;
    uint64_t records_per_segment; /* a new segment after so many */
    uint64_t in_segment;
    bool begun;       /* a segment of this life */
    uint64_t full_at; /* records not durable that it lets wait */
    bool stuck;
    uint64_t disk_bytes, kept_bytes;
    aq_lease *snapshot;
    uint64_t snapshots;
    int snapshot_rc; /* what it says to one */
    bool maps;       /* what is recovered lies in files */
    uint64_t mapped; /* records given out by map */
    int closed;
} fake_log;

void fake_log_init(fake_log *fake);
void fake_log_fini(fake_log *fake);

/* What is not durable is gone; the next core's life begins a new segment. */
void fake_log_crash(fake_log *fake);

/* Hands everything that is left to the calls, in the order of the files. */
void fake_log_recover(const fake_log *fake, const aq_replay_log_recovery *calls);

uint64_t fake_log_live_segments(const fake_log *fake);

#endif
