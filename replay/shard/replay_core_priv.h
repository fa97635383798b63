/*
 * The core's state, for the files that it is made of.
 */
#ifndef AQ_REPLAY_SHARD_REPLAY_CORE_PRIV_H
#define AQ_REPLAY_SHARD_REPLAY_CORE_PRIV_H

#include "replay/shard/replay_core.h"
#include "replay/shard/replay_credit.h"
#include "replay/shard/replay_journal.h"
#include "replay/shard/replay_roster.h"
#include "replay/shard/replay_snapshot.h"

/* Who waits, and since when. The log makes actors wait when nothing can be written. */
typedef struct aq_core_wait {
    enum aq_replay_wait side;
    size_t table;
    bool by_log;
    int64_t since_ns;
} aq_core_wait;

struct aq_replay_core {
    aq_run_settings settings;
    aq_layout layout;
    aq_shard_run run; /* its settings point at the copy above */
    aq_message_store *messages;
    aq_replay_tables tables;
    aq_replay_roster *roster;
    aq_replay_credit credit;
    aq_replay_journal journal;
    aq_replay_saver saver;
    aq_shard_accounting accounting;
    aq_core_wait wait;
    aq_replay_restored restored;
    aq_saved_table saved[AQ_TABLES_MAX]; /* while restoring: what the snapshot says of each */
    uint64_t restored_segment;
    int64_t restored_ns;   /* a clock that ticks with what is restored, for who was heard last */
    int64_t head_ns;       /* of it, the latest head */
    uint64_t inserted;     /* fresh transitions, in all lives */
    uint64_t stored_steps; /* fresh transitions and ... */
    uint64_t stored_bytes; /* ... bytes of the messages of this life, for a mean */
    uint64_t sampled, taken, duplicates, gaps, rejected, uncalled, missing;
    aq_error demotion;
    int64_t share_next_ns;
    bool changed;         /* since the last sharing */
    uint32_t version_min; /* of what was asked for last; 0: anything */
    char waiting[AQ_ERROR_TEXT_MAX + 64];
};

/* Stores the message, of which there is one more reference, under its number, and takes it into the
 * tables; room in both was reserved. Returns its count of fresh transitions. */
uint64_t aq_replay_core_keep(aq_replay_core *core, int64_t now_ns, aq_arrival *arrival,
                             uint64_t number, uint64_t segment, bool mapped);

/* Finds or makes the record of a sender, which takes `acknowledged` messages for stored: they are.
 * AQ_E_FULL in words when there is no room for one more. */
int aq_replay_core_meet(aq_replay_core *core, int64_t now_ns, uint64_t actor, uint64_t incarnation,
                        uint64_t acknowledged, aq_replay_actor **ret_actor,
                        aq_error *error) AQ_MUST_USE;

/* Notes who waits, once a tick, and counts the time. */
void aq_replay_core_watch(aq_replay_core *core, int64_t now_ns);

/* Bytes of a message per fresh transition, as they came so far. */
uint64_t aq_replay_core_step_bytes(const aq_replay_core *core);

#endif
