/*
 * Segment scribe: what the writer's thread does to the files, one step at a time and without a
 * thread: it opens segments, appends what waits, syncs, and deletes what was dropped. Each step
 * either is done or can be tried again; what was done in part has been undone.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_SCRIBE_H
#define AQ_REPLAY_DISK_SEGMENT_SCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "replay/disk/segment_batch.h"
#include "replay/disk/segment_disk.h"
#include "replay/disk/segment_file.h"
#include "replay/disk/segment_folder.h"
#include "replay/disk/segment_map.h"
#include "replay/disk/segment_queue.h"

typedef struct aq_segment_scribe {
    const aq_segment_folder *folder;
    aq_segment_map *map;
    const aq_segment_disk *disk;
    bool sync_each; /* before anything counts as done */
    aq_segment_batch *batch;
    aq_segment_file file;
    uint64_t segment; /* of `file` */
    uint64_t headed;  /* the newest segment whose head is safe; what is older may be deleted */
    uint64_t noted;   /* where in `file` the newest note of a drop ends */
    int folder_fd;
    bool folder_synced; /* the file's name is on the disk */
    uint64_t sync_failures;
} aq_segment_scribe;

/* `folder`, `map` and `disk` outlive it. `headed`: of what there is already; 0: none. */
int aq_segment_scribe_init(aq_segment_scribe *scribe, const aq_segment_folder *folder,
                           aq_segment_map *map, const aq_segment_disk *disk, bool sync_each,
                           bool compressed, uint64_t headed, aq_error *error) AQ_MUST_USE;
void aq_segment_scribe_fini(aq_segment_scribe *scribe); /* nothing is synced */

/* Opens the segment of a head. */
int aq_segment_scribe_start(aq_segment_scribe *scribe, const aq_segment_item *item,
                            aq_error *error) AQ_MUST_USE;

/* Writes some of the frames at the beginning of `items`; *ret_written, set on failure too, is how
 * many. Before them, which segments are dropped. */
int aq_segment_scribe_write(aq_segment_scribe *scribe, const aq_segment_item *items, size_t count,
                            size_t *ret_written, aq_error *error) AQ_MUST_USE;

/* Everything written so far. */
int aq_segment_scribe_sync(aq_segment_scribe *scribe, aq_error *error) AQ_MUST_USE;
bool aq_segment_scribe_is_synced(const aq_segment_scribe *scribe);

/* Deletes what was dropped and noted, once the notes are synced, up to the newest head that is
 * safe: senders' marks are there. */
int aq_segment_scribe_delete(aq_segment_scribe *scribe, bool *ret_any, aq_error *error) AQ_MUST_USE;

/* Frees the bytes of what was dropped and can't be noted now. */
int aq_segment_scribe_make_room(aq_segment_scribe *scribe, bool *ret_any,
                                aq_error *error) AQ_MUST_USE;

#endif
