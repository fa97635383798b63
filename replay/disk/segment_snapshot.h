/*
 * Segment snapshot: the one small file that is replaced as a whole. It is written beside the old
 * one, a slice at a time, so that records needn't wait for all of it, and then renamed.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_SNAPSHOT_H
#define AQ_REPLAY_DISK_SEGMENT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "replay/disk/segment_disk.h"
#include "replay/disk/segment_folder.h"

typedef struct aq_segment_snapshot {
    const aq_segment_disk *disk;
    const aq_segment_folder *folder;
    int fd; /* -1: none is being written */
    const uint8_t *bytes;
    size_t size, written;
} aq_segment_snapshot;

/* `folder` must outlive it. */
void aq_segment_snapshot_init(aq_segment_snapshot *snapshot, const aq_segment_disk *disk,
                              const aq_segment_folder *folder);

/* Begins, or begins again, with `bytes`, which stay the caller's and as they are until it ends.
 * `durable`: the number of the record that it is after. */
int aq_segment_snapshot_begin(aq_segment_snapshot *snapshot, const uint8_t *bytes, size_t size,
                              uint64_t durable, aq_error *error) AQ_MUST_USE;

/* Another slice; *ret_done once it has taken the old one's place. After a failure it is to be begun
 * again. */
int aq_segment_snapshot_go_on(aq_segment_snapshot *snapshot, bool *ret_done,
                              aq_error *error) AQ_MUST_USE;

/* Leaves off, if one is being written. */
void aq_segment_snapshot_abort(aq_segment_snapshot *snapshot);

/* The one in the folder, checked: *ret_bytes lie in *ret_file, which the caller finishes; it is
 * empty when there is none. *ret_durable is as it was begun with. AQ_E_CORRUPT, AQ_E_FOREIGN,
 * AQ_E_VERSION, AQ_E_IO, AQ_E_NOMEM, in words. */
int aq_segment_snapshot_read(const aq_segment_folder *folder, aq_buffer *ret_file,
                             const uint8_t **ret_bytes, size_t *ret_size, uint64_t *ret_durable,
                             aq_error *error) AQ_MUST_USE;

#endif
