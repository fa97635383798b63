/*
 * Segment log: the replay log (replay_log.h) on disk. A folder of segment files, written by a
 * thread of its own, so that nobody waits for the disk but acknowledgements.
 *
 *   FOLDER/lock                    held while a process uses the folder
 *   FOLDER/store.aqrs              what the folder is of: run, schema, identity, format version
 *   FOLDER/segment-00000000000001.aqrs ...   segments
 *   FOLDER/snapshot.aqrs           priorities and limiter state, replaced as a whole
 *   FOLDER/slot                    the store's slot in its run (slot_file.h)
 *
 * A segment begins with a head record; each record has a header with its kind, length, number and
 * crc (segment_format.h). A record counts once all of it is written: kill -9 in the middle of one
 * leaves a torn tail, which the next start finds by the crc and cuts off. A damaged record before
 * the tail is left out, named by file and offset, and what follows it is kept.
 *
 * "Durable" means handed to the kernel, which survives the end of this process in any way; against
 * the end of the machine, files are synced every fsync_ms (0: before each acknowledgement).
 *
 * A disk that is full stops the log, not the program: what waits is kept, bounded, and tried again
 * every second.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_LOG_H
#define AQ_REPLAY_DISK_SEGMENT_LOG_H

#include "replay/disk/replay_log.h"

typedef struct aq_segment_log_config {
    const char *folder; /* made if it isn't there */
    uint64_t run_id;
    uint64_t schema_hash;
    const char *task;      /* for words */
    const uint8_t *schema; /* packed (wire_run.h), for who reads the folder alone */
    size_t schema_bytes;
    uint64_t store;                     /* the name that the folder gets if it is new; not 0 */
    uint64_t segment_bytes;             /* a new segment after so many */
    uint64_t backlog_bytes;             /* that may wait to be written */
    uint32_t fsync_ms;                  /* 0: before each acknowledgement */
    const struct aq_segment_disk *disk; /* for tests (segment_disk.h); NULL: the system's */
    uint64_t segments_full;             /* for tests; 0: as many as a start can read */
    bool compressed;                    /* records by zstd, where that makes them smaller */
    /* Any thread: progress was made or trouble began; aq_replay_log_class.poll has news. */
    void (*wake)(void *user);
    void *user;
} aq_segment_log_config;

typedef struct aq_segment_log_found {
    uint64_t store;       /* names this store over all its lives */
    uint64_t last_number; /* records go on after it; 0: there was none */
} aq_segment_log_found;

/* Opens the folder, gives what it holds to `recovery`, starts the thread. Refused in words, with
 * nothing overwritten: a folder in use by another process (AQ_E_EXISTS), of another run or another
 * schema (AQ_E_SCHEMA), of a newer version (AQ_E_VERSION), with foreign files under our names
 * (AQ_E_FOREIGN), that cannot be read to its end, or not be written (AQ_E_IO). */
int aq_segment_log_open(const aq_segment_log_config *config, const aq_replay_log_recovery *recovery,
                        aq_segment_log_found *ret_found, aq_replay_log **ret_log,
                        aq_error *error) AQ_MUST_USE;

#endif
