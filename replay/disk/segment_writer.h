/*
 * Segment writer: the thread that puts records into segment files. One write takes what waits, up
 * to a few megabytes; what was written is told by the progress, and by `wake`.
 *
 * A failure of the disk stops it until a new attempt, a moment later, goes well; nothing that waits
 * is lost by it. When a sync fails, nobody can say which of the bytes before are on the disk: where
 * each acknowledgement is synced, they are cut off and written again; where they were already told
 * to be durable, they stay, the next segment is asked for, and the failure is counted.
 *
 * One caller's thread, besides its own.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_WRITER_H
#define AQ_REPLAY_DISK_SEGMENT_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "replay/disk/replay_log.h"
#include "replay/disk/segment_disk.h"
#include "replay/disk/segment_folder.h"
#include "replay/disk/segment_map.h"

typedef struct aq_segment_writer aq_segment_writer;

typedef struct aq_segment_writer_config {
    const aq_segment_folder *folder; /* outlives the writer, as does the map */
    aq_segment_map *map;
    const aq_segment_disk *disk;
    uint64_t last_number; /* of the records that there are */
    uint64_t headed;      /* the newest segment there is whose head is good; 0: none */
    uint64_t backlog_bytes;
    uint32_t fsync_ms;
    bool compressed;
    void (*wake)(void *user);
    void *user;
} aq_segment_writer_config;

int aq_segment_writer_create(const aq_segment_writer_config *config, aq_segment_writer **ret_writer,
                             aq_error *error) AQ_MUST_USE;

/* Writes what waits, and syncs. `error` (NULL is fine) tells what the disk refuses even now. */
void aq_segment_writer_destroy(aq_segment_writer *writer, aq_error *error);

/* The segment is in the map. AQ_E_FULL, AQ_E_NOMEM. */
int aq_segment_writer_begin(aq_segment_writer *writer, uint64_t segment, uint64_t next_number,
                            const aq_log_head *head) AQ_MUST_USE;

/* The record's place is reserved in the map. AQ_E_FULL. */
int aq_segment_writer_append(aq_segment_writer *writer, uint64_t segment, uint64_t number,
                             aq_lease *frame) AQ_MUST_USE;

/* Takes a reference. To be written when record `last_number` is durable, and the one before is
 * written; one that waits for that is given up. AQ_E_TOO_BIG. */
int aq_segment_writer_snapshot(aq_segment_writer *writer, aq_lease *bytes,
                               uint64_t last_number) AQ_MUST_USE;

/* A segment was dropped in the map. */
void aq_segment_writer_drop(aq_segment_writer *writer);

/* Whether a sync failed since the segment that was last begun. */
bool aq_segment_writer_wants_segment(const aq_segment_writer *writer);

void aq_segment_writer_progress(aq_segment_writer *writer, aq_log_progress *ret_progress);

#endif
