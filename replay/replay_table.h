/*
 * Replay table: the items of one table of a shard (common/rl/table_spec.h) and the draws from them.
 *
 * Items are numbered 0, 1, 2, ... in the order in which they came; a number is never used twice.
 * Chunks leave whole. How items are chosen is the selector's business (replay_selector.h), what a
 * row of a batch looks like the gather's (replay_gather.h); how many may be drawn or come is the
 * rate limiter's (replay_limiter.h), which stands beside the table, not in it.
 *
 * One owner, no locking. After its growth has ended it allocates nothing.
 */
#ifndef AQ_REPLAY_REPLAY_TABLE_H
#define AQ_REPLAY_REPLAY_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/rl/batch.h"
#include "common/rl/table_spec.h"
#include "replay/message_store.h"

typedef struct aq_replay_table aq_replay_table;

typedef struct aq_replay_holdings {
    uint64_t chunks;
    uint64_t transitions; /* fresh ones */
    uint64_t bytes;       /* of the chunks' columns and of the table itself */
    uint64_t items;       /* that can be drawn */
    uint64_t next_item;   /* the number that the next one gets */
    double mass;          /* sum over them of priority^exponent; their count if not prioritized */
    uint64_t times_sampled; /* draws of the items that have left, so that with ... */
    uint64_t items_left;    /* ... so many of them, a mean can be told */
} aq_replay_holdings;

/* `store` outlives the table. `seed` feeds the draws. AQ_E_NOMEM. */
int aq_replay_table_create(const aq_table_spec *spec, const aq_chunk_layout *layout,
                           aq_message_store *store, uint64_t seed,
                           aq_replay_table **ret_table) AQ_MUST_USE;
void aq_replay_table_destroy(aq_replay_table *table); /* NULL is fine; lets go of all chunks */

const aq_table_spec *aq_replay_table_spec(const aq_replay_table *table);

/* Makes sure that the next `chunks` inserts find room. AQ_E_NOMEM: nothing changed. */
int aq_replay_table_reserve(aq_replay_table *table, size_t chunks) AQ_MUST_USE;

/* Takes chunk `index` of a stored message, for which room was reserved, with the greatest priority
 * that was ever given (1 at first). Then chunks leave, by the remover, until the others fit the
 * capacities; a queue lets none go that was not drawn. A chunk that holds no item of this table
 * (sequences) is not taken. */
void aq_replay_table_insert(aq_replay_table *table, aq_stored_message *message, uint32_t index);

/* Draws `rows` items into a batch with room for them: all its columns but `priority`; `weight` is
 * the probability with which each row was drawn, of this table. AQ_E_AGAIN when there are not that
 * many to draw (fifo, lifo, queue) or none at all. `discount` is per step. */
int aq_replay_table_sample(aq_replay_table *table, uint32_t rows, float discount,
                           aq_batch *batch) AQ_MUST_USE;

/* New priorities (before the exponent), finite and >= 0. Numbers of items that have left are passed
 * over; *ret_applied counts the others. No use where nothing is chosen or removed by priority. */
void aq_replay_table_prioritize(aq_replay_table *table, const uint64_t *items,
                                const float *priorities, uint32_t count, uint32_t *ret_applied);

/* Lets the chunks of one message go, whatever the remover says. */
void aq_replay_table_forget(aq_replay_table *table, const aq_stored_message *message);

aq_replay_holdings aq_replay_table_holdings(const aq_replay_table *table);

/* What a restart cannot tell from the records: priorities and times sampled, by (message number,
 * chunk). In portions, so that nobody waits for a large table: *position is 0 at the beginning and
 * UINT64_MAX at the end, and each call appends what there is to say of at most `chunks_max` chunks
 * to `out`. Chunks may come and leave in between. AQ_E_NOMEM, AQ_E_TOO_BIG: *position is as it was.
 *
 * All portions together are to be read back once the same chunks, or some of them and newer ones,
 * are in the table: what they say of others is passed over. AQ_E_CORRUPT, in words: nothing has
 * changed. */
int aq_replay_table_save(const aq_replay_table *table, uint64_t *position, uint32_t chunks_max,
                         aq_buffer *out) AQ_MUST_USE;
int aq_replay_table_load(aq_replay_table *table, const uint8_t *bytes, size_t size,
                         aq_error *error) AQ_MUST_USE;

#endif
