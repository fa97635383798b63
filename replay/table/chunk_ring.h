/*
 * Chunk ring: the chunks of a table in the order in which they came, and which of them has the item
 * of a given number.
 *
 * Items are numbered on and on; a chunk has a contiguous range of numbers. So that an item costs
 * next to no memory and a search no more than two or three cache lines, there is one ring position
 * for each 16 numbers, that of the chunk which has the first of them; from there, a few steps lead
 * to the right one. A chunk that left before older ones keeps its place, empty, until they have
 * left too.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_TABLE_CHUNK_RING_H
#define AQ_REPLAY_TABLE_CHUNK_RING_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/chunk_view.h"
#include "replay/table/item_column.h"
#include "replay/table/message_store.h"

enum { AQ_CHUNK_RING_BLOCK_ITEMS = 16 };

/* Numbers of items and of chunks that a ring spans at most. */
#define AQ_CHUNK_RING_WINDOW_MAX ((UINT64_C(1) << 31) - 1)

typedef struct aq_chunk_slot {
    uint64_t first_item;
    const aq_chunk_view *view; /* NULL: it has left */
    aq_stored_message *message;
    uint64_t steps;      /* that it counts for, which the table sets */
    uint32_t items_left; /* that can still be drawn */
    uint32_t draws;      /* of all its items */
} aq_chunk_slot;

typedef struct aq_chunk_ring {
    aq_item_column slots;  /* an aq_chunk_slot for each chunk, by its ordinal */
    uint64_t head;         /* ordinal of the oldest chunk */
    uint64_t end;          /* one after the newest; its slot tells where the numbers end */
    aq_item_column blocks; /* the low half of an ordinal, uint32_t, for each block of numbers */
} aq_chunk_ring;

/* AQ_E_NOMEM. */
int aq_chunk_ring_init(aq_chunk_ring *ring) AQ_MUST_USE;
void aq_chunk_ring_fini(aq_chunk_ring *ring); /* zeroed is fine */

/* Makes room for so many more. AQ_E_NOMEM: nothing changed. The sums stay within
 * AQ_CHUNK_RING_WINDOW_MAX. */
int aq_chunk_ring_reserve(aq_chunk_ring *ring, uint64_t chunks, uint64_t items) AQ_MUST_USE;

/* A new chunk at the end, of 1 or more items, for which there is room. Returns its ordinal. */
uint64_t aq_chunk_ring_append(aq_chunk_ring *ring, aq_stored_message *message,
                              const aq_chunk_view *view, uint32_t items);

/* Gives up the places of the oldest chunks that have left. */
void aq_chunk_ring_trim(aq_chunk_ring *ring);

size_t aq_chunk_ring_bytes(const aq_chunk_ring *ring);

static inline aq_chunk_slot *aq_chunk_ring_slot(const aq_chunk_ring *ring, uint64_t ordinal)
{
    return (aq_chunk_slot *)ring->slots.values + (ordinal & (ring->slots.window - 1));
}

/* Numbers of the oldest item that has a place, and one after the newest. */
static inline uint64_t aq_chunk_ring_first_item(const aq_chunk_ring *ring)
{
    return aq_chunk_ring_slot(ring, ring->head)->first_item;
}

static inline uint64_t aq_chunk_ring_end_item(const aq_chunk_ring *ring)
{
    return aq_chunk_ring_slot(ring, ring->end)->first_item;
}

/* Items of a chunk that has a place, drawn or not. */
static inline uint32_t aq_chunk_ring_items(const aq_chunk_ring *ring, uint64_t ordinal)
{
    return (uint32_t)(aq_chunk_ring_slot(ring, ordinal + 1)->first_item -
                      aq_chunk_ring_slot(ring, ordinal)->first_item);
}

/* In two parts, for who looks up many: the chunk that has the first number of the item's block, and
 * from there the item's own. */
static inline uint64_t aq_chunk_ring_guess(const aq_chunk_ring *ring, uint64_t item)
{
    uint32_t low = *aq_item_column_u32(&ring->blocks, item / AQ_CHUNK_RING_BLOCK_ITEMS);
    /* That chunk may have left. */
    int32_t ahead = (int32_t)(low - (uint32_t)ring->head);
    return ring->head + (uint64_t)(ahead > 0 ? ahead : 0);
}

static inline uint64_t aq_chunk_ring_find_from(const aq_chunk_ring *ring, uint64_t ordinal,
                                               uint64_t item)
{
    /* Mostly this chunk or the next one: the first step is taken without a branch to guess. */
    ordinal += aq_chunk_ring_slot(ring, ordinal + 1)->first_item <= item;
    while (aq_chunk_ring_slot(ring, ordinal + 1)->first_item <= item) {
        ordinal++;
    }
    return ordinal;
}

/* The ordinal of the chunk that has the item: a number from first_item to end_item - 1. */
static inline uint64_t aq_chunk_ring_find(const aq_chunk_ring *ring, uint64_t item)
{
    return aq_chunk_ring_find_from(ring, aq_chunk_ring_guess(ring, item), item);
}

#endif
