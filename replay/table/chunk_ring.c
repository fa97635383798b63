/*
 * Both rings grow by doubling. The slot after the newest chunk is always there, as its first number
 * is where the newest chunk's numbers end: no search needs to know which chunk is the last.
 */
#include "replay/table/chunk_ring.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "replay/table/item_column.h"

enum { SLOTS_MIN = 64, BLOCKS_MIN = 64 };

int aq_chunk_ring_init(aq_chunk_ring *ring)
{
    *ring = (aq_chunk_ring){.slot_mask = SLOTS_MIN - 1, .block_mask = BLOCKS_MIN - 1};
    ring->slots = aq_alloc(SLOTS_MIN, sizeof(*ring->slots));
    ring->blocks = aq_alloc(BLOCKS_MIN, sizeof(*ring->blocks));
    if (ring->slots == NULL || ring->blocks == NULL) {
        aq_chunk_ring_fini(ring);
        return AQ_E_NOMEM;
    }
    return 0;
}

void aq_chunk_ring_fini(aq_chunk_ring *ring)
{
    aq_free(ring->slots);
    aq_free(ring->blocks);
    memset(ring, 0, sizeof(*ring));
}

static int grow_slots(aq_chunk_ring *ring, uint64_t needed)
{
    uint64_t size = aq_item_window(needed, ring->slot_mask + 1);
    if (size == ring->slot_mask + 1) {
        return 0;
    }
    aq_chunk_slot *slots = aq_alloc(size, sizeof(*slots));
    if (slots == NULL) {
        return AQ_E_NOMEM;
    }
    for (uint64_t ordinal = ring->head; ordinal <= ring->end; ordinal++) {
        slots[ordinal & (size - 1)] = *aq_chunk_ring_slot(ring, ordinal);
    }
    aq_free(ring->slots);
    ring->slots = slots;
    ring->slot_mask = size - 1;
    return 0;
}

/* Notes the chunk in every block whose first number it has. */
static void index_chunk(aq_chunk_ring *ring, uint64_t ordinal)
{
    uint64_t first = aq_chunk_ring_slot(ring, ordinal)->first_item;
    uint64_t end = aq_chunk_ring_slot(ring, ordinal + 1)->first_item;
    uint64_t block = (first + AQ_CHUNK_RING_BLOCK_ITEMS - 1) / AQ_CHUNK_RING_BLOCK_ITEMS;
    for (; block * AQ_CHUNK_RING_BLOCK_ITEMS < end; block++) {
        ring->blocks[block & ring->block_mask] = (uint32_t)ordinal;
    }
}

static int grow_blocks(aq_chunk_ring *ring, uint64_t needed)
{
    uint64_t size = aq_item_window(needed, ring->block_mask + 1);
    if (size == ring->block_mask + 1) {
        return 0;
    }
    uint32_t *blocks = aq_alloc(size, sizeof(*blocks));
    if (blocks == NULL) {
        return AQ_E_NOMEM;
    }
    aq_free(ring->blocks);
    ring->blocks = blocks;
    ring->block_mask = size - 1;
    /* The oldest chunk may begin in the middle of a block. */
    uint64_t block = aq_chunk_ring_first_item(ring) / AQ_CHUNK_RING_BLOCK_ITEMS;
    ring->blocks[block & ring->block_mask] = (uint32_t)ring->head;
    for (uint64_t ordinal = ring->head; ordinal < ring->end; ordinal++) {
        index_chunk(ring, ordinal);
    }
    return 0;
}

int aq_chunk_ring_reserve(aq_chunk_ring *ring, uint64_t chunks, uint64_t items)
{
    uint64_t slots = ring->end - ring->head + chunks + 1;
    uint64_t numbers = aq_chunk_ring_end_item(ring) - aq_chunk_ring_first_item(ring) + items;
    AQ_ASSERT(slots <= AQ_CHUNK_RING_WINDOW_MAX);
    AQ_ASSERT(numbers <= AQ_CHUNK_RING_WINDOW_MAX);
    int rc = grow_slots(ring, slots);
    if (rc == 0) {
        /* The first and the last block may each hold a single number. */
        rc = grow_blocks(ring, numbers / AQ_CHUNK_RING_BLOCK_ITEMS + 2);
    }
    return rc;
}

uint64_t aq_chunk_ring_append(aq_chunk_ring *ring, aq_stored_message *message,
                              const aq_chunk_view *view, uint32_t items)
{
    AQ_ASSERT(items >= 1);
    AQ_ASSERT(ring->end - ring->head + 2 <= ring->slot_mask + 1);
    uint64_t ordinal = ring->end++;
    aq_chunk_slot *slot = aq_chunk_ring_slot(ring, ordinal);
    slot->view = view;
    slot->message = message;
    slot->items_left = items;
    slot->draws = 0;
    *aq_chunk_ring_slot(ring, ordinal + 1) =
        (aq_chunk_slot){.first_item = slot->first_item + items};
    index_chunk(ring, ordinal);
    return ordinal;
}

void aq_chunk_ring_trim(aq_chunk_ring *ring)
{
    while (ring->head < ring->end && aq_chunk_ring_slot(ring, ring->head)->view == NULL) {
        ring->head++;
    }
}

size_t aq_chunk_ring_bytes(const aq_chunk_ring *ring)
{
    return (size_t)(ring->slot_mask + 1) * sizeof(*ring->slots) +
           (size_t)(ring->block_mask + 1) * sizeof(*ring->blocks);
}
