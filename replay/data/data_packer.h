/*
 * Packer: makes experience messages of a data set, as an actor does: numbered for each sender, and
 * no larger than a shard takes them. No state; any thread.
 */
#ifndef AQ_REPLAY_DATA_DATA_PACKER_H
#define AQ_REPLAY_DATA_DATA_PACKER_H

#include "common/base/lease.h"
#include "common/data_set/data_set_reader.h"
#include "common/experience/chunk.h"
#include "replay/data/data_lanes.h"
#include "replay/data/data_progress.h"

/* What was sent of a sender: its last message, and fresh transitions in all. */
typedef struct aq_data_sender {
    uint64_t seq, transitions;
} aq_data_sender;

typedef struct aq_data_message {
    aq_data_lane *sender; /* not moved on yet */
    uint64_t seq;
    uint64_t transitions;       /* fresh ones in it ... */
    uint64_t transitions_total; /* ... and in all of this sender so far */
    aq_lease *frame;
} aq_data_message;

/* Takes a reference to the frame if it keeps it. */
typedef int (*aq_data_packer_fn)(void *user, const aq_data_message *message, aq_error *error);

/* The messages to make: of which run, for which store (0: any), of which chunks. */
typedef struct aq_data_packing {
    aq_layout layout;
    aq_data_lanes *senders; /* each remembers an aq_data_sender, or what begins with one */
    uint64_t run_id;
    uint64_t store;
    uint64_t salt; /* changes the incarnations of senders; 0: they stay */
    uint64_t message_bytes;
    uint64_t steps_max; /* fresh ones in a message of several chunks; 0: as many as fit */
    aq_data_packer_fn send;
    void *user;
} aq_data_packing;

/* All of a data set. AQ_E_TOO_BIG for a chunk that is larger than a message may be; what the reader
 * finds; failures of `send`. `*ret_left_out` transitions are no item's first (data_recut.h). */
int aq_data_pack(aq_data_set_reader *reader, const aq_data_packing *packing,
                 const aq_data_progress *progress, uint64_t *ret_left_out,
                 aq_error *error) AQ_MUST_USE;

#endif
