/*
 * Replay core: one shard without sockets and without a clock. Messages and a time go in, answers
 * come out; the daemon and the simulated cluster of the tests drive the same code.
 *
 * A message is judged (seq_tracker.h), handed to the log (replay_journal.h), stored once
 * (message_store.h) and taken into every table (replay_tables.h). It is acknowledged when the log
 * says that it is durable; without a log, at once: then an acknowledgement means "stored in this
 * process", and what a crash of the shard costs is said in docs/replay.md.
 *
 * Every call but the restoring ones takes a time that does not depend on how much is stored; what
 * takes longer (a snapshot, moving messages out of memory) is done in portions by
 * aq_replay_core_upkeep.
 *
 * One owner, no locking. Times are of one monotonic clock and never go back.
 */
#ifndef AQ_REPLAY_SHARD_REPLAY_CORE_H
#define AQ_REPLAY_SHARD_REPLAY_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_settings.h"
#include "common/experience/arrival.h"
#include "common/experience/batch.h"
#include "replay/disk/replay_log.h"
#include "replay/shard/replay_roster.h"
#include "replay/shard/seq_tracker.h"
#include "replay/table/message_store.h"
#include "replay/table/replay_accounting.h"
#include "replay/table/replay_tables.h"

typedef struct aq_replay_core aq_replay_core;

typedef struct aq_replay_counters {
    uint64_t inserted;     /* fresh transitions taken in, in all lives of the store */
    uint64_t sampled;      /* items given out, by all tables, since this start */
    uint64_t stored;       /* transitions that the main table holds */
    uint64_t bytes;        /* of the messages held, in memory or mapped */
    uint64_t messages;     /* stored since this start; the others were dropped */
    double bytes_per_step; /* of those messages; 0: there were none */
    uint64_t duplicates, gaps, rejected;
    uint64_t uncalled; /* messages of actors that had not called yet; they come again */
    uint64_t outdated; /* transitions that were too old to be learned from, and dropped */
    uint64_t missing;  /* messages that senders know to be acknowledged, and that are not here */
} aq_replay_counters;

/* What a shard is of. */
typedef struct aq_shard_run {
    const aq_run_settings *settings; /* copied */
    uint64_t run_id;
    uint64_t store;       /* names what the shard holds, over all its lives; not 0 */
    uint64_t incarnation; /* names this start of the shard */
    uint64_t seed;        /* of the draws */
    bool is_new;          /* the store begins with it: nothing of the store can be gone */
} aq_shard_run;

/* AQ_E_INVALID in words for settings under which actors and learner could wait for each other
 * (replay_limiter.h). */
int aq_replay_core_create(const aq_shard_run *run, int64_t now_ns, aq_replay_core **ret_core,
                          aq_error *error) AQ_MUST_USE;
void aq_replay_core_destroy(aq_replay_core *core); /* NULL is fine; closes the log */

/* Destroys it, too; fills `error` (NULL is fine) with what its log could not write any more. */
void aq_replay_core_close(aq_replay_core *core, aq_error *error);

const aq_run_settings *aq_replay_core_settings(const aq_replay_core *core);
const aq_layout *aq_replay_core_layout(const aq_replay_core *core);
uint64_t aq_replay_core_run_id(const aq_replay_core *core);
uint64_t aq_replay_core_incarnation(const aq_replay_core *core);
uint64_t aq_replay_core_store(const aq_replay_core *core);

/* ---- an earlier life ----------------------------------------------------------------------- */

/* What a log's recovery finds (aq_replay_log_recovery), in its order, before anything else is asked
 * of the core: a head (of segment 0: of none), a record (the reference to `arrival` is moved) and,
 * last, the snapshot. A record that was taken already is passed over; one whose turn it isn't is
 * taken, as those before it were damaged or dropped. AQ_E_NOMEM; AQ_E_FULL for more senders than
 * can be tracked; AQ_E_CORRUPT for numbers that cannot be, and for a snapshot that cannot be read:
 * what was read of it before the fault is right, and stays. */
int aq_replay_core_restore_head(aq_replay_core *core, uint64_t segment,
                                const aq_log_head *head) AQ_MUST_USE;
int aq_replay_core_restore_record(aq_replay_core *core, int64_t now_ns, uint64_t segment,
                                  uint64_t number, bool mapped, aq_arrival *arrival) AQ_MUST_USE;
int aq_replay_core_restore_snapshot(aq_replay_core *core, const uint8_t *bytes, size_t size,
                                    aq_error *error) AQ_MUST_USE;
void aq_replay_core_damaged(aq_replay_core *core); /* something could not be read */

/* What came back. */
typedef struct aq_replay_restored {
    uint64_t transitions; /* fresh ones in the records, also those that left at once */
    uint64_t damaged;
    uint64_t segments;
    char changed[512]; /* settings that are others than when it was saved, in words; "" */
} aq_replay_restored;

/* Ends the restoring: limiters begin where they were, or, where settings have changed or nothing is
 * known, inside their bands. From here on messages go to `log` (NULL: there is none), which is
 * taken over on success, `last_number` being its newest record and `backlog_bytes` what it lets
 * wait. AQ_E_NOMEM. */
int aq_replay_core_attach(aq_replay_core *core, int64_t now_ns, aq_replay_log *log,
                          uint64_t last_number, uint64_t backlog_bytes) AQ_MUST_USE;

const aq_replay_restored *aq_replay_core_restored(const aq_replay_core *core);

/* For a store in memory that begins anew under other settings of the same run: the senders' marks
 * and what is counted in all lives go on, so that nothing is counted twice. The steps do not. */
int aq_replay_core_inherit(aq_replay_core *core, const aq_replay_core *former) AQ_MUST_USE;

/* ---- experience ---------------------------------------------------------------------------- */

/* Takes one message, whose reference is moved, also on failure. AQ_E_FULL when there are more
 * actors than can be tracked, AQ_E_INVALID for numbers that cannot be, AQ_E_NOMEM; `error` says so.
 * A message that failed is counted as rejected and is still the next of its actor. So is one that
 * is AQ_REPLAY_DEFERRED, without being a failure of anybody. */
int aq_replay_core_insert(aq_replay_core *core, int64_t now_ns, aq_arrival *arrival,
                          enum aq_replay_verdict *ret_verdict, aq_error *error) AQ_MUST_USE;

/* A message that never got that far (corrupt, foreign, another schema). */
void aq_replay_core_reject(aq_replay_core *core);

/* A message of an actor that has not called yet, as after each start of a shard. */
void aq_replay_core_pass_over(aq_replay_core *core);

/* ---- upkeep -------------------------------------------------------------------------------- */

/* Acknowledges what is durable, drops what is needed no more, keeps to the memory budget and saves
 * the snapshot when it is due, a portion of each. To be called every few milliseconds. */
void aq_replay_core_upkeep(aq_replay_core *core, int64_t now_ns);

/* A snapshot is due now. AQ_E_UNSUPPORTED without a log. It is written when the `snapshots` of
 * aq_replay_core_log_progress reach *ret_snapshots. */
int aq_replay_core_snapshot_now(aq_replay_core *core, uint64_t *ret_snapshots) AQ_MUST_USE;

/* Before an orderly end: hands a snapshot of now to the log, all at once. No log: nothing. */
void aq_replay_core_save(aq_replay_core *core);

/* NULL without a log. As of the last upkeep. */
const aq_log_progress *aq_replay_core_log_progress(const aq_replay_core *core);

/* "" or what goes wrong with the log. Unless it is stuck, records are written all the same: it is a
 * snapshot, or a segment that is to be deleted. */
const char *aq_replay_core_log_trouble(const aq_replay_core *core);

/* Why messages cannot be moved out of memory although the budget says so; 0: they can. */
const aq_error *aq_replay_core_demotion(const aq_replay_core *core);

/* ---- flow ---------------------------------------------------------------------------------- */

/* What a Credit call says of its actor. */
typedef struct aq_credit_call {
    uint64_t actor, incarnation;
    uint64_t known_acknowledged, known_granted;
    uint64_t acknowledged_steps; /* in the messages up to known_acknowledged; of known_granted */
    uint64_t store;              /* that is meant; 0: whoever is there */
} aq_credit_call;

/* Where one incarnation of an actor stands. `granted` only grows: it is how many fresh transitions
 * that incarnation may send in all. */
typedef struct aq_credit {
    uint64_t acknowledged, granted, expected, gaps;
    uint32_t version_min; /* no step of an older policy is wanted */
} aq_credit;

/* Whether a message or a call that names this store is meant for this shard. */
bool aq_replay_core_is_meant(const aq_replay_core *core, uint64_t store);

/* A call that is meant for this shard came: shows that its actor lives, and restores what another
 * incarnation of the shard has told it. AQ_E_FULL, AQ_E_INVALID, in words. */
int aq_replay_core_called(aq_replay_core *core, int64_t now_ns, const aq_credit_call *call,
                          aq_error *error) AQ_MUST_USE;

/* True when a call of this incarnation came since the shard's start. */
bool aq_replay_core_is_announced(const aq_replay_core *core, uint64_t actor, uint64_t incarnation);

/* Shares what may come among the actors that live. To be called every few milliseconds; returns at
 * once when nothing happened since the last time. */
void aq_replay_core_share(aq_replay_core *core, int64_t now_ns);

/* Whether the call, held since it came, is worth an answer now; `now_or_never` makes it so. When it
 * is, the answer is in *ret_credit and noted as given. */
bool aq_replay_core_answer(aq_replay_core *core, int64_t now_ns, const aq_credit_call *call,
                           bool now_or_never, aq_credit *ret_credit);

/* The actors that were heard from, for people. Valid until something changes the core. */
size_t aq_replay_core_actors(const aq_replay_core *core);
const aq_replay_actor *aq_replay_core_actor(const aq_replay_core *core, size_t index);

/* The oldest message held whose number is greater, or NULL; the next ones are its `newer`. */
const aq_stored_message *aq_replay_core_message_after(const aq_replay_core *core, uint64_t number);

/* ---- sampling ------------------------------------------------------------------------------ */

/* The table's position by its name, "" for the main one; -1 when there is none of that name. */
int aq_replay_core_find_table(aq_replay_core *core, const char *name) AQ_MUST_USE;

/* Requests of table `index` wait for `steps` in all, the oldest of them for steps of version_min or
 * later: see aq_replay_shelf_ask. */
void aq_replay_core_ask(aq_replay_core *core, size_t index, uint64_t steps, uint32_t version_min);

/* Whether a table is paced. */
bool aq_replay_core_is_paced(const aq_replay_core *core);

/* How many items of table `index` a request draws that wants `steps`, or at most `rows_max`. */
uint32_t aq_replay_core_rows(const aq_replay_core *core, size_t index, uint32_t steps,
                             uint32_t rows_max);

/* Draws `rows` items of table `index`, 1 to the settings' sample_rows, into a batch with room for
 * them. AQ_E_AGAIN while the limiter forbids it or there is too little to draw. */
int aq_replay_core_sample(aq_replay_core *core, int64_t now_ns, size_t index, uint32_t rows,
                          float discount, aq_batch *batch) AQ_MUST_USE;

/* New priorities of table `index`, finite and >= 0; returns how many items were still there. */
uint32_t aq_replay_core_prioritize(aq_replay_core *core, size_t index, const uint64_t *items,
                                   const float *priorities, uint32_t count);

/* ---- statistics ---------------------------------------------------------------------------- */

aq_replay_counters aq_replay_core_counters(const aq_replay_core *core);
const aq_replay_tables *aq_replay_core_tables(const aq_replay_core *core);
const aq_shard_accounting *aq_replay_core_accounting(const aq_replay_core *core);
aq_message_store_counts aq_replay_core_stored(const aq_replay_core *core);

/* "" or who waits for whom: "learner waits: 412 of 1000 steps". Valid until the next call. */
const char *aq_replay_core_waiting(aq_replay_core *core);

/* Since when that has been so. */
int64_t aq_replay_core_waiting_since(const aq_replay_core *core);

#endif
