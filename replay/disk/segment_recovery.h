/*
 * Segment recovery: what a store's folder holds, segment by segment in their order, to a callback.
 * What is damaged is left out and told, by file and offset; what cannot be ours ends it.
 *
 * Memory: a segment at a time is mapped; frames are leases of that mapping, or unpacked ones.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_RECOVERY_H
#define AQ_REPLAY_DISK_SEGMENT_RECOVERY_H

#include <stdint.h>

#include "common/base/error.h"
#include "replay/disk/replay_log.h"
#include "replay/disk/segment_folder.h"
#include "replay/disk/segment_map.h"

typedef struct aq_segment_recovered {
    uint64_t last_number;  /* no greater one was given to any record */
    uint64_t last_segment; /* whose file there is, be it empty */
    uint64_t headed;       /* the newest segment whose head is good; 0: none */
    uint64_t unreadable;   /* a segment that the disk does not give to its end; 0: none */
    /* What is left to be mended once all of it was taken: a file without any record, to delete; or
     * a tail that nobody can read, to cut off. 0: nothing. */
    uint64_t torn_segment;
    uint64_t torn_at; /* 0: the whole file */
} aq_segment_recovered;

/* Reads only. The segments are then in `map`, those without anything marked as dropped. Failures as
 * of aq_segment_log_open, and those of callbacks. */
int aq_segment_recover(const aq_segment_folder *folder, aq_segment_map *map,
                       const aq_replay_log_recovery *to, aq_segment_recovered *ret_recovered,
                       aq_error *error) AQ_MUST_USE;

/* Cuts off and deletes what was found to be torn, and what crashes left of other files; syncs what
 * stays. */
int aq_segment_mend(const aq_segment_folder *folder, const aq_segment_recovered *recovered,
                    aq_error *error) AQ_MUST_USE;

#endif
