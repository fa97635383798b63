/*
 * Packer: makes experience messages of chunks, as an actor does: numbered for each sender, and no
 * larger than a shard takes them.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_DATA_DATA_PACKER_H
#define AQ_REPLAY_DATA_DATA_PACKER_H

#include "common/base/lease.h"
#include "common/experience/chunk.h"

typedef struct aq_data_packer aq_data_packer;

typedef struct aq_data_message {
    uint64_t actor, incarnation, seq;
    uint64_t transitions;       /* fresh ones in it ... */
    uint64_t transitions_total; /* ... and in all of this sender so far */
    aq_lease *frame;
} aq_data_message;

/* Takes a reference to the frame if it keeps it. */
typedef int (*aq_data_packer_fn)(void *user, const aq_data_message *message, aq_error *error);

typedef struct aq_data_packer_config {
    aq_layout layout;
    uint64_t run_id;
    uint64_t store; /* that the messages are for; 0: any */
    uint64_t message_bytes;
    aq_data_packer_fn send;
    void *user;
} aq_data_packer_config;

int aq_data_packer_create(const aq_data_packer_config *config,
                          aq_data_packer **ret_packer) AQ_MUST_USE;
void aq_data_packer_destroy(aq_data_packer *packer); /* NULL is fine */

/* The reference is moved, also on failure. AQ_E_TOO_BIG for a chunk that is larger than a message
 * may be; failures of `send`. */
int aq_data_packer_chunk(aq_data_packer *packer, uint64_t actor, uint64_t incarnation,
                         aq_chunk *chunk, aq_error *error) AQ_MUST_USE;

/* Sends what waits. */
int aq_data_packer_flush(aq_data_packer *packer, aq_error *error) AQ_MUST_USE;

#endif
