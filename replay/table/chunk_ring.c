/*
 * Both rings grow by doubling. The slot after the newest chunk is always there, as its first number
 * is where the newest chunk's numbers end: no search needs to know which chunk is the last.
 */
#include "replay/table/chunk_ring.h"

#include "common/base/assert.h"

int aq_chunk_ring_init(aq_chunk_ring *ring)
{
    *ring = (aq_chunk_ring){.head = 0};
    aq_item_column_init(&ring->slots, sizeof(aq_chunk_slot));
    aq_item_column_init(&ring->blocks, sizeof(uint32_t));
    int rc = aq_item_column_reserve(&ring->slots, 0, 0, 1);
    rc = rc != 0 ? rc : aq_item_column_reserve(&ring->blocks, 0, 0, 1);
    if (rc != 0) {
        aq_chunk_ring_fini(ring);
    }
    return rc;
}

void aq_chunk_ring_fini(aq_chunk_ring *ring)
{
    aq_item_column_fini(&ring->slots);
    aq_item_column_fini(&ring->blocks);
    *ring = (aq_chunk_ring){.head = 0};
}

/* Blocks whose first number is below this one. */
static uint64_t blocks_up_to(uint64_t item)
{
    return (item + AQ_CHUNK_RING_BLOCK_ITEMS - 1) / AQ_CHUNK_RING_BLOCK_ITEMS;
}

/* Notes the chunk in every block whose first number it has. */
static void index_chunk(aq_chunk_ring *ring, uint64_t ordinal)
{
    const uint64_t end = blocks_up_to(aq_chunk_ring_slot(ring, ordinal + 1)->first_item);
    uint64_t block = blocks_up_to(aq_chunk_ring_slot(ring, ordinal)->first_item);
    for (; block < end; block++) {
        *aq_item_column_u32(&ring->blocks, block) = (uint32_t)ordinal;
    }
}

int aq_chunk_ring_reserve(aq_chunk_ring *ring, uint64_t chunks, uint64_t items)
{
    const uint64_t first = aq_chunk_ring_first_item(ring), known = aq_chunk_ring_end_item(ring);
    const uint64_t slots_end = ring->end + 1;
    AQ_ASSERT(slots_end - ring->head + chunks <= AQ_CHUNK_RING_WINDOW_MAX);
    AQ_ASSERT(known - first + items <= AQ_CHUNK_RING_WINDOW_MAX);
    int rc = aq_item_column_reserve(&ring->slots, ring->head, slots_end, slots_end + chunks);
    return rc != 0 ? rc
                   : aq_item_column_reserve(&ring->blocks, first / AQ_CHUNK_RING_BLOCK_ITEMS,
                                            blocks_up_to(known), blocks_up_to(known + items) + 1);
}

uint64_t aq_chunk_ring_append(aq_chunk_ring *ring, aq_stored_message *message,
                              const aq_chunk_view *view, uint32_t items)
{
    AQ_ASSERT(items >= 1);
    AQ_ASSERT(ring->end - ring->head + 2 <= ring->slots.window);
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
    return aq_item_column_bytes(&ring->slots) + aq_item_column_bytes(&ring->blocks);
}
