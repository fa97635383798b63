/*
 * Segment mapping: a file's bytes in memory, to read, as long as anybody holds a reference; the
 * file itself may have been deleted meanwhile.
 *
 * Any thread that holds a reference may take and drop others.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_MAPPING_H
#define AQ_REPLAY_DISK_SEGMENT_MAPPING_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/lease.h"

typedef struct aq_segment_mapping aq_segment_mapping;

/* The first `size` (> 0) bytes of a file. It may be shorter, if nobody looks past its end before it
 * has grown. One reference, the caller's. AQ_E_UNSUPPORTED where the file system maps nothing,
 * AQ_E_NOMEM, AQ_E_IO; errno says more. */
int aq_segment_mapping_open(const char *path, size_t size,
                            aq_segment_mapping **ret_mapping) AQ_MUST_USE;
aq_segment_mapping *aq_segment_mapping_ref(aq_segment_mapping *mapping); /* returns `mapping` */
void aq_segment_mapping_unref(aq_segment_mapping *mapping);              /* NULL is fine */

const uint8_t *aq_segment_mapping_bytes(const aq_segment_mapping *mapping);
size_t aq_segment_mapping_size(const aq_segment_mapping *mapping);

/* A part of it, which holds a reference of its own. AQ_E_NOMEM. */
int aq_segment_mapping_lease(aq_segment_mapping *mapping, size_t offset, size_t size,
                             aq_lease **ret_lease) AQ_MUST_USE;

#endif
