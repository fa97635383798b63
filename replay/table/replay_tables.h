/*
 * Tables: all tables of a shard, each with its rate limiter. The same messages go into all of them;
 * what may come is what the strictest of them allows.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_TABLE_REPLAY_TABLES_H
#define AQ_REPLAY_TABLE_REPLAY_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/config/run_settings.h"
#include "replay/table/replay_accounting.h"
#include "replay/table/replay_limiter.h"
#include "replay/table/replay_table.h"

typedef struct aq_replay_shelf {
    aq_replay_table *table;
    aq_replay_limiter limiter;
    aq_item_clock clock;
    uint64_t sampled;     /* items given, in all lives of the store */
    uint64_t prioritized; /* priorities applied; `stale`: of items that had left */
    uint64_t stale;
    bool is_paced;  /* what may come is what is asked for: see aq_replay_shelf_ask */
    uint64_t asked; /* steps, by requests that wait */
    bool refused;   /* a request had to wait, since the last tick */
    bool awaited;   /* one had to a moment ago, and is there again soon */
    int64_t awaited_until_ns;
} aq_replay_shelf;

typedef struct aq_replay_tables {
    aq_replay_shelf shelves[AQ_TABLES_MAX];
    size_t count;
    uint32_t rows_max; /* that one request draws */
    char waiting[256];
} aq_replay_tables;

/* What the settings describe. AQ_E_INVALID in words for limits under which actors and learner could
 * wait for each other, AQ_E_NOMEM. On failure `fini` gives back what there is. */
int aq_replay_tables_init(aq_replay_tables *tables, const aq_run_settings *settings,
                          const aq_layout *layout, aq_message_store *store, uint64_t seed,
                          aq_error *error) AQ_MUST_USE;
void aq_replay_tables_fini(aq_replay_tables *tables); /* zeroes are fine */

/* By name; "" is the main one. NULL when there is none of that name. */
aq_replay_shelf *aq_replay_tables_find(aq_replay_tables *tables, const char *name);

/* Room for all chunks of a message in each. AQ_E_NOMEM; AQ_E_FULL while a queue takes nothing. */
int aq_replay_tables_reserve(aq_replay_tables *tables, const aq_arrival *arrival) AQ_MUST_USE;

/* As aq_replay_table_restoring, for all. What came until `false` has no age: nobody knows it. */
void aq_replay_tables_restoring(aq_replay_tables *tables, bool restoring);

/* Takes all chunks of a stored message, whose fresh transitions are `fresh`, into all tables. */
void aq_replay_tables_insert(aq_replay_tables *tables, int64_t now_ns, aq_stored_message *message,
                             uint64_t fresh);

/* Draws `rows` items of one table, as aq_replay_table_sample says; AQ_E_AGAIN also while its
 * limiter forbids it. */
int aq_replay_shelf_sample(aq_replay_shelf *shelf, uint32_t rows, float discount,
                           aq_batch *batch) AQ_MUST_USE;

/* Requests for `steps` in all wait, and the oldest of them is for steps of version_min or later. Of
 * a paced table so many steps may come, less those that are there; without requests none, and what
 * is here is as good as before. */
void aq_replay_shelf_ask(aq_replay_shelf *shelf, uint64_t steps, uint32_t version_min);

/* How many items a request draws that wants `steps`: so many as make them, at most `rows_max`. */
uint32_t aq_replay_shelf_rows(const aq_replay_shelf *shelf, uint32_t steps, uint32_t rows_max);

/* Ends the restoring of a table: its limiter goes on from the counts of earlier lives
 * (aq_replay_limiter_restore). Where less than the minimum size is left, nobody samples before it
 * is there again. */
void aq_replay_shelf_restore(aq_replay_shelf *shelf, uint64_t inserted, uint64_t sampled,
                             bool known);

/* The rows that its limiter counts, and those for steps that a restart wrote off, as the lead was
 * beyond the band or files were gone: what to save. */
uint64_t aq_replay_shelf_owed(const aq_replay_shelf *shelf);

/* What may come; replay_credit.h shares it. */
typedef struct aq_credit_supply {
    uint64_t headroom;  /* fresh transitions that may still be inserted; 0: nothing is granted */
    uint64_t width;     /* that may always be inserted when a request has to wait; at least 1 */
    bool learner_waits; /* a request has to wait although `headroom` is at least `width` */
    bool is_paced;      /* `headroom` is what requests that wait are missing */
} aq_credit_supply;

/* As far as the tables go; a log may have less room. */
aq_credit_supply aq_replay_tables_supply(const aq_replay_tables *tables);

/* Who waits for whom, and why. `text` is valid until the next call. */
enum aq_replay_wait { AQ_REPLAY_WAIT_NOBODY, AQ_REPLAY_WAIT_LEARNER, AQ_REPLAY_WAIT_ACTORS };

/* The first table that makes somebody wait. Actors wait when they may insert less than
 * `least_steps`. */
enum aq_replay_wait aq_replay_tables_waiting(const aq_replay_tables *tables, uint64_t least_steps,
                                             size_t *ret_index);

/* The same in words, without the name of a table if it is the only one. */
const char *aq_replay_tables_words(aq_replay_tables *tables, enum aq_replay_wait wait,
                                   size_t index);

#endif
