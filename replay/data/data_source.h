/*
 * Data source: the steps of a store's folder, message after message, each once, to whoever wants
 * them. The folder is locked meanwhile, so one that a shard uses is refused; nothing is changed.
 */
#ifndef AQ_REPLAY_DATA_DATA_SOURCE_H
#define AQ_REPLAY_DATA_DATA_SOURCE_H

#include "common/base/lease.h"
#include "common/data_set/data_set_header.h"
#include "replay/data/data_progress.h"
#include "replay/disk/segment_folder.h"

/* All but `block` may be NULL. A failure ends the reading with its code and words. */
typedef struct aq_data_sink {
    void *user;
    int (*block)(void *user, const aq_data_set_block *block, aq_error *error);
    int (*message)(void *user, uint64_t actor, uint64_t incarnation, uint64_t seq, aq_error *error);
    int (*mark)(void *user, uint64_t actor, uint64_t incarnation, uint64_t acknowledged,
                aq_error *error);
    void (*damage)(void *user, const char *what);
    aq_data_progress progress;
} aq_data_sink;

/* The chunks of one EXPERIENCE frame, after its message. AQ_E_CORRUPT and the like for a frame of
 * no use; failures of the sink. */
int aq_data_source_frame(aq_lease *frame, uint64_t run_id, const aq_layout *layout,
                         const aq_data_sink *sink, aq_error *error) AQ_MUST_USE;

/* `folder` was opened to read, `info` says what its steps are of. */
int aq_data_source_read(const aq_segment_folder *folder, const aq_data_set_info *info,
                        const aq_data_sink *sink, aq_error *error) AQ_MUST_USE;

#endif
