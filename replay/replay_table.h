/*
 * Replay table: the chunks that a shard holds, oldest first, and the numbers of their items.
 *
 * Items are numbered 0, 1, 2, ... in the order in which they came. Chunks leave in that order too,
 * so the live items are always one range of numbers, and an item costs no memory: a ring holds each
 * chunk with the number of its first item, and a binary search finds the chunk of any number.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_REPLAY_TABLE_H
#define AQ_REPLAY_REPLAY_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/rl/chunk.h"

typedef struct aq_replay_table aq_replay_table;

typedef struct aq_replay_holdings {
    uint64_t chunks;
    uint64_t transitions; /* each counted once, repeated rows not */
    uint64_t bytes;       /* of the chunks and the ring */
    uint64_t first_item;  /* the oldest live item; items first_item .. end_item - 1 are live */
    uint64_t end_item;
} aq_replay_holdings;

/* `capacity` >= 1: fresh transitions held at most (the newest chunk stays in any case). */
int aq_replay_table_create(const aq_chunk_layout *layout, uint64_t capacity,
                           aq_replay_table **ret_table) AQ_MUST_USE;
void aq_replay_table_destroy(aq_replay_table *table); /* NULL is fine */

/* Makes sure that the next `count` inserts find room in the ring. AQ_E_NOMEM: nothing changed. */
int aq_replay_table_reserve(aq_replay_table *table, size_t count) AQ_MUST_USE;

/* Takes over the caller's reference to a validated chunk, for which room was reserved. Then the
 * oldest chunks leave until the others fit the capacity. */
void aq_replay_table_insert(aq_replay_table *table, aq_chunk *chunk);

/* The chunk of a live item and the row at which the item starts. The chunk is the table's, valid
 * until the next insert. */
const aq_chunk *aq_replay_table_find(const aq_replay_table *table, uint64_t item,
                                     uint32_t *ret_row);

aq_replay_holdings aq_replay_table_holdings(const aq_replay_table *table);

#endif
