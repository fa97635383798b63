/*
 * Replay table: the items of one table of a shard (table_spec.h) and the draws from them.
 *
 * Items are numbered 0, 1, 2, ... in the order in which they came; a number is never used twice.
 * Chunks leave whole. How items are chosen is the selector's business (replay_selector.h), what a
 * row of a batch looks like the gather's (replay_gather.h); how many may be drawn or come is the
 * rate limiter's (replay_limiter.h), which stands beside the table, not in it.
 *
 * One owner, no locking. After its growth has ended it allocates nothing.
 */
#ifndef AQ_REPLAY_TABLE_REPLAY_TABLE_H
#define AQ_REPLAY_TABLE_REPLAY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/config/table_spec.h"
#include "common/experience/batch.h"
#include "replay/table/message_store.h"
#include "replay/table/replay_gather.h"

typedef struct aq_replay_table aq_replay_table;

typedef struct aq_replay_holdings {
    uint64_t chunks;
    uint64_t transitions;   /* fresh ones, those of chunks between that were not taken included */
    uint64_t bytes;         /* of the chunks' columns and of the table itself */
    uint64_t items;         /* that can be drawn */
    uint64_t next_item;     /* the number that the next one gets */
    double mass;            /* sum over them of priority^exponent; their count if not prioritized */
    uint64_t times_sampled; /* draws of the items that have left, so that with ... */
    uint64_t items_left;    /* ... so many of them, a mean can be told */
    uint64_t outdated;      /* transitions that aq_replay_table_expect has dropped */
} aq_replay_holdings;

/* `store` outlives the table. `seed` feeds the draws. AQ_E_NOMEM. */
int aq_replay_table_create(const aq_table_spec *spec, const aq_layout *layout,
                           aq_message_store *store, uint64_t seed,
                           aq_replay_table **ret_table) AQ_MUST_USE;
void aq_replay_table_destroy(aq_replay_table *table); /* NULL is fine; lets go of all chunks */

/* What samples have of rewards; as they are, before this is called. */
void aq_replay_table_shape_rewards(aq_replay_table *table, aq_reward_shape shape);

const aq_table_spec *aq_replay_table_spec(const aq_replay_table *table);

/* Makes sure that the inserts of all its chunks, which come next, find room. AQ_E_NOMEM, or
 * AQ_E_FULL where a queue holds more than four times its capacity: nothing changed. */
int aq_replay_table_reserve(aq_replay_table *table, const aq_arrival *arrival) AQ_MUST_USE;

/* Takes chunk `index` of a stored message, for which room was reserved, with the greatest priority
 * that was ever given (1 at first). Then chunks leave, by the remover, until the others fit the
 * capacities (the new one stays in any case); a queue lets none go that was not drawn. A chunk that
 * holds no item of this table (sequences) is not taken; its steps count, and leave with the next.
 *
 * However great its priority, a chunk leaves when so many items have come after it that four times
 * the capacity would not hold them: what is looked up by number stays in proportion to what is
 * held, and nothing stays for ever because nobody draws it any more. */
void aq_replay_table_insert(aq_replay_table *table, aq_stored_message *message, uint32_t index);

/* Draws `rows` items into a batch with room for them, of this table's rows (aq_batch_create): all
 * its columns but `priority`. `weight` is the probability that one draw of this table takes the
 * row's item; where nothing is left to chance (fifo, lifo, queue), one by the number of items, so
 * that none counts more than another. AQ_E_AGAIN when there are not that many to draw (fifo, lifo,
 * queue, times_sampled_max) or none at all. `discount` is per step.
 *
 * Draws of a uniform or prioritized table are independent of each other: an item may come twice. A
 * fifo or lifo table gives its oldest or newest items, each once, and the same ones next time,
 * until times_sampled_max or the remover takes them away. */
int aq_replay_table_sample(aq_replay_table *table, uint32_t rows, float discount,
                           aq_batch *batch) AQ_MUST_USE;

/* How many of so many rows could be drawn now; less than all: AQ_E_AGAIN. */
uint64_t aq_replay_table_draws(const aq_replay_table *table, uint32_t rows);

/* New priorities (before the exponent), finite and >= 0. Numbers of items that have left, or never
 * were, are passed over; *ret_applied counts the others. Of a number that comes twice, the last one
 * counts. No use where nothing is chosen or removed by priority.
 *
 * priority^exponent is held between 1e-20 and 1e20: an item of priority 0 is as good as never drawn
 * while there are others, and still drawn when there are none. */
void aq_replay_table_prioritize(aq_replay_table *table, const uint64_t *items,
                                const float *priorities, uint32_t count, uint32_t *ret_applied);

/* While the chunks of an earlier life come in, `true`: which of them had been drawn out, or removed
 * for their priority, is only known from the saved state that comes last, and until then nothing
 * leaves that it might speak for. `false` when that is done: then what is too much leaves, and
 * draws of the items that have left are counted from there on. */
void aq_replay_table_restoring(aq_replay_table *table, bool restoring);

/* Lets the chunks of one message go, whatever the remover says; under the fifo remover, those that
 * are older than it as well. */
void aq_replay_table_forget(aq_replay_table *table, const aq_stored_message *message);

/* From now on a chunk is of use if no step that is new in it is of a policy older than this: others
 * leave, and don't come in. Of a queue. */
void aq_replay_table_expect(aq_replay_table *table, uint32_t version_min);

/* The oldest items of a queue that make `wanted` steps, or all there are; `steps` is `wanted`, or
 * less where there are not enough. Takes longer with more chunks. */
typedef struct aq_queue_view {
    uint64_t rows, steps;
} aq_queue_view;

aq_queue_view aq_replay_table_look(const aq_replay_table *table, uint64_t wanted);

aq_replay_holdings aq_replay_table_holdings(const aq_replay_table *table);

/* What a restart cannot tell from the records: priorities and times sampled, by (message number,
 * chunk). In portions, so that nobody waits for a large table: *position is 0 at the beginning and
 * UINT64_MAX at the end, and each call appends what there is to say of at most `chunks_max` chunks
 * to `out`. Chunks may come and leave in between. AQ_E_NOMEM, AQ_E_TOO_BIG: *position is as it was.
 *
 * All portions together are to be read back once the same chunks, or some of them and newer ones,
 * are in the table: what they say of others is passed over. Chunks that are in the table, but were
 * not when it was saved, leave, where draws or priorities take chunks away and the settings are the
 * same: else a queue would give twice what it gave. AQ_E_CORRUPT, in words: nothing has changed. */
int aq_replay_table_save(const aq_replay_table *table, uint64_t *position, uint32_t chunks_max,
                         aq_buffer *out) AQ_MUST_USE;
int aq_replay_table_load(aq_replay_table *table, const uint8_t *bytes, size_t size,
                         aq_error *error) AQ_MUST_USE;

#endif
