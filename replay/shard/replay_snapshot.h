/*
 * Snapshot: what a shard's log cannot tell: priorities, times sampled, and where the limiters are.
 * Saved every so often while the shard works, in portions; what it says of a chunk is as of the
 * moment at which its portion was saved.
 *
 *   "AQSN" | version u32 | count u32 | reserved u32
 *   for each table: name[32] | limiter: inserted u64, sampled u64 | counts: 3 u64
 *                   | settings: 12 f64 | size u64 | bytes of aq_replay_table_save
 *
 * Little-endian. A table that the settings know no more is passed over, one that the snapshot
 * doesn't know begins empty.
 *
 * One owner, no locking; the log's thread writes what was saved.
 */
#ifndef AQ_REPLAY_SHARD_REPLAY_SNAPSHOT_H
#define AQ_REPLAY_SHARD_REPLAY_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "replay/disk/replay_log.h"
#include "replay/table/replay_tables.h"

enum { AQ_SAVED_SETTINGS = 12 };

/* ---- saving -------------------------------------------------------------------------------- */

typedef struct aq_replay_saver {
    int64_t interval_ns;
    int64_t due_ns;
    bool saving; /* `out` is being filled */
    aq_buffer out;
    size_t table;      /* whose turn it is */
    uint64_t position; /* in it */
    size_t size_at;    /* where in `out` its size goes */
    uint64_t taken;    /* snapshots, handed to the log */
    aq_error failure;  /* of the last one that was begun; code 0: none */
} aq_replay_saver;

void aq_replay_saver_init(aq_replay_saver *saver, int64_t now_ns, int64_t interval_ns);
void aq_replay_saver_fini(aq_replay_saver *saver);

/* The next portion, if one is due. A snapshot that cannot be made, as there is no memory for it, is
 * a `failure`, and is tried again after the interval. */
void aq_replay_saver_step(aq_replay_saver *saver, int64_t now_ns, const aq_replay_tables *tables,
                          aq_replay_log *log);

/* A new one begins with the next step, unless one is under way: then after that. Returns which it
 * will be: it is with the log when `taken` reaches that number. */
uint64_t aq_replay_saver_ask(aq_replay_saver *saver);

/* One of now, at once: with the log when this returns, unless it is a `failure`. */
void aq_replay_saver_flush(aq_replay_saver *saver, const aq_replay_tables *tables,
                           aq_replay_log *log);

/* ---- reading back -------------------------------------------------------------------------- */

/* What a snapshot says of one table, besides what the table itself reads. */
typedef struct aq_saved_table {
    bool known;
    uint64_t inserted, sampled;                 /* of the limiter */
    uint64_t items_sampled, prioritized, stale; /* of the shelf */
    double settings[AQ_SAVED_SETTINGS];
} aq_saved_table;

/* Reads a snapshot into the tables, which hold their chunks already; saved[i] is what it says of
 * table i. AQ_E_CORRUPT, AQ_E_VERSION, in words: tables that came before the fault keep what was
 * read of them, which is right as far as it goes. */
int aq_replay_snapshot_read(const uint8_t *bytes, size_t size, aq_replay_tables *tables,
                            aq_saved_table *saved, aq_error *error) AQ_MUST_USE;

/* Appends to text[size] which settings of the table are others now: "main.tolerance 10 -> 20". */
void aq_saved_table_tell_changes(const aq_saved_table *saved, const aq_table_spec *spec, char *text,
                                 size_t size);

#endif
