/*
 * What the files of the table share: replay_table.c (chunks and draws), replay_table_priorities.c,
 * replay_table_queue.c (what a queue is asked), replay_table_state.c (what is saved).
 */
#ifndef AQ_REPLAY_TABLE_REPLAY_TABLE_PARTS_H
#define AQ_REPLAY_TABLE_REPLAY_TABLE_PARTS_H

#include <stdbool.h>

#include "replay/table/chunk_heap.h"
#include "replay/table/chunk_ring.h"
#include "replay/table/item_column.h"
#include "replay/table/replay_selector.h"
#include "replay/table/replay_table.h"

/* Names a chunk over all lives of a store. */
typedef struct aq_chunk_key {
    uint64_t message; /* its number; from 1 on */
    uint32_t chunk;   /* of the message */
} aq_chunk_key;

struct aq_replay_table {
    aq_table_spec spec;
    aq_layout layout;
    aq_message_store *store;
    aq_chunk_ring ring;
    aq_replay_selector *selector;
    aq_reward_shape shape;
    uint64_t window_max; /* numbers from the oldest item to the newest */
    uint32_t draws_max;  /* of an item; 0: any number */
    bool removes_lowest;
    bool restoring;
    aq_chunk_key newest; /* that ever came */
    float greatest;      /* priority that was ever given */

    uint64_t chunks;
    uint64_t transitions;
    uint64_t passed; /* fresh ones of chunks that were not taken since the last that was */
    uint64_t chunk_bytes;
    uint64_t items;       /* that can be drawn */
    uint64_t draws_left;  /* of all of them, where draws_max counts */
    uint64_t gone_draws;  /* of the items that have left, ... */
    uint64_t gone_items;  /* ... so many */
    uint32_t version_min; /* see aq_replay_table_expect */
    uint64_t outdated;

    aq_chunk_heap heap;         /* by mean priority, where the lowest is removed */
    aq_item_column priorities;  /* float, there too */
    aq_item_column times_drawn; /* uint32_t, where draws_max counts */
};

/* What an item of this priority is worth to the selector. */
float aq_replay_table_mass(const aq_replay_table *table, float priority);

/* Whether it is too old to be drawn from. */
bool aq_replay_table_is_outdated(const aq_replay_table *table, const aq_chunk_view *view);

/* Lets a chunk go that is there; its place is to be trimmed afterwards. */
void aq_replay_table_drop(aq_replay_table *table, uint64_t ordinal);

#endif
