/*
 * Journal: a shard's hand on its log (replay_log.h). It numbers the records, opens segments with
 * everybody's marks, remembers which record is whose until it is durable, and then lets the
 * acknowledgements go.
 *
 * Without a log it is empty: what is taken is acknowledged at once.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_SHARD_REPLAY_JOURNAL_H
#define AQ_REPLAY_SHARD_REPLAY_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/arrival.h"
#include "replay/disk/replay_log.h"
#include "replay/shard/replay_roster.h"
#include "replay/table/item_column.h"

/* Records that may wait for the disk; beyond, messages are deferred. */
#define AQ_JOURNAL_PENDING_MAX (UINT64_C(1) << 20)

typedef struct aq_pending_record {
    uint64_t actor, incarnation, seq;
} aq_pending_record;

typedef struct aq_replay_journal {
    aq_replay_log *log; /* NULL: none */
    uint64_t next_number;
    uint64_t backlog_bytes_max;
    aq_log_progress progress; /* as of the last poll */
    uint64_t handed_bytes;    /* to the log since the last poll */
    /* Of the records acknowledged_number + 1 .. next_number - 1 an aq_pending_record each. */
    aq_item_column pending;
    uint64_t acknowledged_number;
    aq_log_mark *marks; /* room for those of a whole roster */
} aq_replay_journal;

/* Empty. Closing it closes the log, which may fill `error`. */
void aq_replay_journal_init(aq_replay_journal *journal);
void aq_replay_journal_close(aq_replay_journal *journal, aq_error *error);

/* From here on there is a log, whose newest record is `last_number`; taken over on success.
 * AQ_E_NOMEM. */
int aq_replay_journal_attach(aq_replay_journal *journal, aq_replay_log *log, uint64_t last_number,
                             uint64_t backlog_bytes_max) AQ_MUST_USE;

/* How far every sender of the roster is; `marks` has room for all. */
aq_log_head aq_replay_journal_head(const aq_replay_roster *roster, uint64_t inserted,
                                   aq_log_mark *marks);

/* Opens the next segment if the log wants one, with a head made of the roster and of `inserted`;
 * *ret_segment is its number, or 0. AQ_E_FULL while the log takes nothing, AQ_E_NOMEM. */
int aq_replay_journal_begin(aq_replay_journal *journal, const aq_replay_roster *roster,
                            uint64_t inserted, uint64_t *ret_segment) AQ_MUST_USE;

/* Hands the message's frame to the log, of which there is one and which wants no new segment now.
 * AQ_E_FULL while the log takes nothing, AQ_E_NOMEM: nothing has changed. */
int aq_replay_journal_append(aq_replay_journal *journal, const aq_arrival *arrival,
                             uint64_t *ret_number, uint64_t *ret_segment) AQ_MUST_USE;

/* Asks the log, of which there is one, for news and acknowledges what is durable now: true when
 * something is. */
bool aq_replay_journal_poll(aq_replay_journal *journal, aq_replay_roster *roster);

/* Bytes that may be handed over before the log takes no more; 0 while it is stuck. */
uint64_t aq_replay_journal_room(const aq_replay_journal *journal);

#endif
