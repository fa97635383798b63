/*
 * Segment writer, inside: what its thread (segment_writer_thread.c) and its caller
 * (segment_writer.c) share. The mutex is held to move entries and numbers, never during a call to
 * the disk.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_WRITER_PRIV_H
#define AQ_REPLAY_DISK_SEGMENT_WRITER_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/lease.h"
#include "replay/disk/segment_queue.h"
#include "replay/disk/segment_scribe.h"
#include "replay/disk/segment_snapshot.h"
#include "replay/disk/segment_writer.h"

/* What was the last to fail, of records. */
enum aq_writer_failure { AQ_WRITER_NOTHING, AQ_WRITER_RECORDS, AQ_WRITER_SYNC };

/* What may fail besides. */
enum aq_writer_aside { AQ_WRITER_DELETING, AQ_WRITER_SNAPSHOT, AQ_WRITER_ASIDES };

typedef struct aq_writer_snapshot {
    aq_lease *bytes; /* NULL: none */
    uint64_t after;  /* is durable: then it may be written */
    uint64_t handed; /* its number, among those that were handed over */
} aq_writer_snapshot;

struct aq_segment_writer {
    aq_segment_writer_config config;
    pthread_t thread;
    _Atomic bool wants_segment;

    /* Shared, under the mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t work;
    aq_segment_queue queue;
    bool stop;
    bool drop; /* something was dropped since the thread has looked */
    uint64_t handed_snapshots;
    aq_writer_snapshot snapshots[2]; /* the one that is written next, and the newest behind it */
    aq_log_progress progress;
    aq_error asides[AQ_WRITER_ASIDES]; /* failures that stop no record; code 0: none */

    /* The thread's own. */
    aq_segment_scribe scribe;
    aq_segment_snapshot snapshot_file;
    enum aq_writer_failure failure;
    int64_t retry_ns; /* what failed; 0: at once */
    int64_t aside_retry_ns[AQ_WRITER_ASIDES];
    int64_t sync_ns; /* when a sync is due; 0: nothing is to be synced */
};

/* The thread: until `stop`, then a last attempt at what waits. `user` is the writer. */
void *aq_segment_writer_run(void *user);

#endif
