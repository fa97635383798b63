/*
 * Segment mapping: a file's bytes in memory, to read, as a lease; the file itself may have been
 * deleted meanwhile. And leases of its parts, which keep all of it mapped.
 *
 * As leases: any thread.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_MAPPING_H
#define AQ_REPLAY_DISK_SEGMENT_MAPPING_H

#include <stddef.h>

#include "common/base/error.h"
#include "common/base/lease.h"

/* The first `size` (> 0) bytes of a file. It may be shorter, if nobody looks past its end before it
 * has grown. AQ_E_UNSUPPORTED where the file system maps nothing, AQ_E_NOMEM, AQ_E_IO; errno says
 * more. */
int aq_segment_mapping_open(const char *path, size_t size, aq_lease **ret_mapping) AQ_MUST_USE;

/* A part of it, which holds a reference to the whole. AQ_E_NOMEM. */
int aq_segment_mapping_lease(aq_lease *whole, size_t offset, size_t size,
                             aq_lease **ret_part) AQ_MUST_USE;

#endif
