/*
 * Replay log: where messages go before they are acknowledged. An interface, so that the core runs
 * over segment files in the daemon (segment_log.h), over a simulated disk in the tests, and over
 * nothing (NULL) where the steps are held in memory only.
 *
 * A record is one EXPERIENCE frame, byte by byte as it came, under a number: 1, 2, 3, ... over all
 * lives of the store. Records become durable in that order. They lie in segments, also numbered
 * upwards, which are dropped whole.
 *
 * The caller has one thread; an implementation may have its own, and answers by `poll`.
 */
#ifndef AQ_REPLAY_DISK_REPLAY_LOG_H
#define AQ_REPLAY_DISK_REPLAY_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/lease.h"

typedef struct aq_replay_log aq_replay_log;

/* How far every sender is. Written at the head of each segment, so that the newest segment alone
 * tells it, however many of the older ones have been dropped. */
typedef struct aq_log_mark {
    uint64_t actor, incarnation;
    uint64_t acknowledged; /* every message up to this one is in the records before */
    uint64_t transitions;  /* fresh ones, in all */
} aq_log_mark;

typedef struct aq_log_head {
    uint64_t inserted; /* fresh transitions in all records before this segment */
    uint64_t mark_count;
    const aq_log_mark *marks;
} aq_log_head;

typedef struct aq_log_progress {
    uint64_t durable;       /* every record up to this number would survive kill -9 */
    uint64_t segment;       /* that is being written */
    uint64_t backlog_bytes; /* handed over and not durable yet */
    bool stuck;             /* nothing can be written now; `reason` says why; it is tried again */
    char reason[AQ_ERROR_TEXT_MAX]; /* also of a failure that stops no record: a snapshot's */
    uint64_t sync_failures; /* since the start; what was durable before may end with the machine */
    uint64_t disk_bytes;    /* of all segments */
    uint64_t kept_bytes;    /* of those that were not dropped: the others wait to be deleted */
    uint64_t snapshots;     /* of those handed over since the start: this one is written */
} aq_log_progress;

typedef struct aq_replay_log_class {
    /* Hands record `number` over (a reference to `frame` is taken): the one after the last.
     * *ret_segment is the segment that it will lie in. AQ_E_FULL while too much waits to be
     * written, AQ_E_NOMEM: nothing has changed. */
    int (*append)(aq_replay_log *log, uint64_t number, aq_lease *frame, uint64_t *ret_segment);

    /* Whether the next record will open a new segment: `begin` must be called first. */
    bool (*wants_head)(const aq_replay_log *log);
    /* Opens the next segment with this head, which is copied; *ret_segment is its number. */
    int (*begin)(aq_replay_log *log, const aq_log_head *head, uint64_t *ret_segment);

    void (*poll)(aq_replay_log *log, aq_log_progress *ret_progress);

    /* Nothing in this segment is needed any more. Not the one that is being written. */
    void (*drop)(aq_replay_log *log, uint64_t segment);

    /* Replaces the snapshot by these bytes (a reference is taken), when the records so far are
     * durable, and after one that is still to be written; of those that wait for that, the newest
     * one is left. AQ_E_TOO_BIG. */
    int (*snapshot)(aq_replay_log *log, aq_lease *bytes);

    /* A durable record's frame in the mapped file, to take the place of the one in memory.
     * AQ_E_UNSUPPORTED where records are compressed or cannot be mapped; AQ_E_IO, AQ_E_NOMEM. */
    int (*map)(aq_replay_log *log, uint64_t number, uint64_t segment, aq_lease **ret_frame);

    /* Writes what waits, syncs, gives everything back. `error` (NULL is fine) is filled where the
     * disk refused some of it: records or a snapshot that were never told to be durable, or the
     * sync of what was. */
    void (*close)(aq_replay_log *log, aq_error *error);
} aq_replay_log_class;

/* It begins with its class; what follows is the implementation's own. */
struct aq_replay_log {
    const aq_replay_log_class *class;
};

/* What an earlier life of the store left, in the order of the file: heads and records as they come,
 * then, last, the snapshot (size 0: there is none). A callback's failure ends the recovery with its
 * code and words; NULL: nobody asks. */
typedef struct aq_replay_log_recovery {
    void *user;
    int (*head)(void *user, uint64_t segment, const aq_log_head *head, aq_error *error);
    /* Takes a reference to `frame` if it keeps it; `mapped`: its bytes are the file's, and take no
     * memory. A frame that can't be used is skipped by returning AQ_E_CORRUPT with words: it is
     * reported, and the rest is kept. */
    int (*record)(void *user, uint64_t segment, uint64_t number, aq_lease *frame, bool mapped,
                  aq_error *error);
    int (*snapshot)(void *user, const void *bytes, size_t size, aq_error *error);
    /* Something was left out: a torn tail, a record that is damaged. For a log line that names file
     * and offset. */
    void (*damage)(void *user, const char *what);
} aq_replay_log_recovery;

#endif
