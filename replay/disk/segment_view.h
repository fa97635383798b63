/*
 * Segment view: a segment's file opened to be read, known to be a segment of this store.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_VIEW_H
#define AQ_REPLAY_DISK_SEGMENT_VIEW_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/lease.h"
#include "replay/disk/segment_folder.h"

enum aq_segment_state {
    AQ_SEGMENT_GOOD,
    AQ_SEGMENT_BAD_HEADER, /* the header of the file is damaged; there may be records */
    AQ_SEGMENT_EMPTY       /* nothing of it was ever whole */
};

typedef struct aq_segment_view {
    uint64_t segment;
    enum aq_segment_state state;
    const uint8_t *bytes;
    size_t size;
    int read_errno;    /* why the file can't be read beyond `size`; 0: there is no more */
    aq_lease *mapping; /* of the bytes; NULL when there are none */
    char path[PATH_MAX];
} aq_segment_view;

/* AQ_E_FOREIGN, AQ_E_VERSION, AQ_E_IO, AQ_E_NOMEM, in words. */
int aq_segment_view_open(const aq_segment_folder *folder, uint64_t segment,
                         aq_segment_view *ret_view, aq_error *error) AQ_MUST_USE;
void aq_segment_view_close(aq_segment_view *view);

#endif
