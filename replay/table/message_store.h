/*
 * Message store: the messages that the tables of a shard hold chunks of, once each, however many
 * tables hold them. It counts what they take, moves old ones out of memory into the mapped log when
 * they take more than a budget, and knows when a segment of the log is needed no more.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_TABLE_MESSAGE_STORE_H
#define AQ_REPLAY_TABLE_MESSAGE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/arrival.h"
#include "replay/disk/replay_log.h"

typedef struct aq_message_store aq_message_store;

typedef struct aq_stored_message {
    aq_arrival *arrival;
    uint64_t number;  /* of its record, over all lives of the store */
    uint64_t segment; /* 0: it is in no log */
    uint32_t holds;   /* one for each of its chunks in each table */
    bool mapped;      /* its bytes are in the log's file */
    struct aq_stored_message *older, *newer;
} aq_stored_message;

typedef struct aq_message_store_counts {
    uint64_t messages;
    uint64_t resident_bytes; /* in memory */
    uint64_t mapped_bytes;   /* in files */
} aq_message_store_counts;

/* `memory_bytes`: 0 for no budget. */
int aq_message_store_create(uint64_t memory_bytes, aq_message_store **ret_store) AQ_MUST_USE;

/* No table may hold anything any more. NULL is fine. */
void aq_message_store_destroy(aq_message_store *store);

/* Room for one message more, and for the segment that it may open. AQ_E_NOMEM; AQ_E_FULL for more
 * segments than a log has. */
int aq_message_store_reserve(aq_message_store *store) AQ_MUST_USE;

/* Takes over the reference to `arrival`, for which room was reserved; `mapped`: its frame lies in
 * the log's file already. Numbers only grow. The message leaves with its last hold; until the first
 * one, it stays. */
aq_stored_message *aq_message_store_add(aq_message_store *store, aq_arrival *arrival,
                                        uint64_t number, uint64_t segment, bool mapped);

void aq_message_store_hold(aq_stored_message *message);
void aq_message_store_release(aq_message_store *store, aq_stored_message *message);

/* Moves the oldest messages with numbers up to `durable` out of memory while more than the budget
 * is in it, at most `count_max` of them in one call. AQ_E_IO, AQ_E_NOMEM: the log is not asked
 * again in this call, and with that message first in the next. Any other failure is that message's
 * own: it stays, the others are moved, and the first is what is told. Nothing to do without a
 * budget. */
int aq_message_store_demote(aq_message_store *store, aq_replay_log *log, uint64_t durable,
                            uint32_t count_max, aq_error *error) AQ_MUST_USE;

/* There is this segment, also when no message in it should ever be held. Numbers only grow; room
 * for a new one was reserved. aq_message_store_add says it as well. */
void aq_message_store_open_segment(aq_message_store *store, uint64_t segment);

/* The next segment before `current` of which nothing is held; each is told once. */
bool aq_message_store_dead_segment(aq_message_store *store, uint64_t current,
                                   uint64_t *ret_segment);

/* The oldest message with a greater number than `number`, or NULL: the next ones are its `newer`.
 * To go on where the last call ended costs next to nothing. */
const aq_stored_message *aq_message_store_after(aq_message_store *store, uint64_t number);

/* The oldest message still held, or NULL. */
const aq_stored_message *aq_message_store_oldest(const aq_message_store *store);

aq_message_store_counts aq_message_store_counts_of(const aq_message_store *store);

#endif
