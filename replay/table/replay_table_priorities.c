/*
 * What a table knows of its items: their priorities, and what it holds in all.
 */
#include "replay/table/replay_table.h"

#include <math.h>

#include "common/base/assert.h"
#include "replay/table/replay_table_parts.h"

enum { BLOCK_ITEMS = 64 };

/* The chunk of an item that can still be drawn: its ordinal in *ret_ordinal. */
static bool has(const aq_replay_table *table, uint64_t item, uint64_t *ret_ordinal)
{
    const aq_chunk_ring *ring = &table->ring;
    if (item < aq_chunk_ring_first_item(ring) || item >= aq_chunk_ring_end_item(ring)) {
        return false;
    }
    uint64_t ordinal = aq_chunk_ring_find(ring, item);
    if (aq_chunk_ring_slot(ring, ordinal)->view == NULL) {
        return false;
    }
    *ret_ordinal = ordinal;
    return table->draws_max == 0 ||
           *aq_item_column_u32(&table->times_drawn, item) < table->draws_max;
}

/* Makes the heap right again after priorities of a chunk's items have changed. */
static void reorder(aq_replay_table *table, uint64_t ordinal)
{
    uint64_t first = aq_chunk_ring_slot(&table->ring, ordinal)->first_item;
    uint32_t items = aq_chunk_ring_items(&table->ring, ordinal);
    double sum = 0.0;
    for (uint32_t i = 0; i < items; i++) {
        sum += (double)*aq_item_column_f32(&table->priorities, first + i);
    }
    aq_chunk_heap_change(&table->heap, (uint32_t)ordinal, (float)(sum / items));
}

/* At most BLOCK_ITEMS of them. */
static uint32_t prioritize_block(aq_replay_table *table, const uint64_t *items,
                                 const float *priorities, uint32_t count)
{
    uint64_t found[BLOCK_ITEMS];
    float masses[BLOCK_ITEMS];
    uint32_t applied = 0;
    for (uint32_t i = 0; i < count; i++) {
        AQ_ASSERT(priorities[i] >= 0.0f);
        AQ_ASSERT(isfinite(priorities[i]));
        uint64_t ordinal;
        if (!has(table, items[i], &ordinal)) {
            continue;
        }
        if (priorities[i] > table->greatest) {
            table->greatest = priorities[i];
        }
        if (table->removes_lowest) {
            *aq_item_column_f32(&table->priorities, items[i]) = priorities[i];
            reorder(table, ordinal);
        }
        found[applied] = items[i];
        masses[applied++] = aq_replay_table_mass(table, priorities[i]);
    }
    if (table->spec.selector == AQ_SELECTOR_PRIORITIZED) {
        table->selector->class->weigh(table->selector, found, masses, applied);
    }
    return applied;
}

void aq_replay_table_prioritize(aq_replay_table *table, const uint64_t *items,
                                const float *priorities, uint32_t count, uint32_t *ret_applied)
{
    uint32_t applied = 0;
    for (uint32_t start = 0; start < count; start += BLOCK_ITEMS) {
        uint32_t left = count - start;
        applied += prioritize_block(table, items + start, priorities + start,
                                    left < BLOCK_ITEMS ? left : BLOCK_ITEMS);
    }
    *ret_applied = applied;
}

aq_replay_holdings aq_replay_table_holdings(const aq_replay_table *table)
{
    size_t bytes = sizeof(*table) + aq_chunk_ring_bytes(&table->ring) +
                   aq_chunk_heap_bytes(&table->heap) + aq_item_column_bytes(&table->priorities) +
                   aq_item_column_bytes(&table->times_drawn) +
                   table->selector->class->bytes(table->selector);
    return (aq_replay_holdings){
        .chunks = table->chunks,
        .transitions = table->transitions,
        .bytes = table->chunk_bytes + bytes,
        .items = table->items,
        .next_item = aq_chunk_ring_end_item(&table->ring),
        .mass = table->spec.selector == AQ_SELECTOR_PRIORITIZED
                    ? table->selector->class->total(table->selector)
                    : (double)table->items,
        .times_sampled = table->gone_draws,
        .items_left = table->gone_items,
        .outdated = table->outdated,
    };
}
