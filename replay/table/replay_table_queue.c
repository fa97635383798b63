/*
 * What a queue is asked about, in the order in which its items are drawn: how many of them make so
 * many steps, and which are too old to be drawn at all. A queue that is asked holds few chunks.
 */
#include "replay/table/replay_table_parts.h"

/* Steps of a chunk's items from the `index`-th on. */
static uint64_t steps_from(const aq_replay_table *table, const aq_chunk_view *view, uint32_t index)
{
    const uint32_t fresh = aq_chunk_view_fresh(view);
    const uint32_t each = aq_table_spec_is_cut(&table->spec) ? table->spec.sequence_length : 1;
    const uint64_t before = (uint64_t)index * each;
    return before < fresh ? fresh - before : 0;
}

/* Of a queue the items that are left of a chunk are its last. */
static uint64_t steps_left(const aq_replay_table *table, uint64_t ordinal)
{
    const aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, ordinal);
    const uint32_t items = aq_chunk_ring_items(&table->ring, ordinal);
    return steps_from(table, slot->view, items - slot->items_left);
}

/* So many of the items that are left of a chunk as make `wanted` steps, or all. */
static uint32_t count_items(const aq_replay_table *table, uint64_t ordinal, uint64_t wanted)
{
    const aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, ordinal);
    const uint32_t items = aq_chunk_ring_items(&table->ring, ordinal);
    const uint64_t all = steps_left(table, ordinal);
    uint32_t taken = 1;
    while (taken < slot->items_left &&
           all - steps_from(table, slot->view, items - slot->items_left + taken) < wanted) {
        taken++;
    }
    return taken;
}

aq_queue_view aq_replay_table_look(const aq_replay_table *table, uint64_t wanted)
{
    aq_queue_view seen = {.rows = 0};
    for (uint64_t at = table->ring.head; at < table->ring.end && seen.steps < wanted; at++) {
        const aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, at);
        if (slot->view == NULL || slot->items_left == 0) {
            continue;
        }
        const uint64_t steps = steps_left(table, at);
        const uint64_t missing = wanted - seen.steps;
        seen.rows += steps <= missing ? slot->items_left : count_items(table, at, missing);
        seen.steps += steps < missing ? steps : missing;
    }
    return seen;
}

/* Versions only grow in an episode: the first new step is the oldest. */
bool aq_replay_table_is_outdated(const aq_replay_table *table, const aq_chunk_view *view)
{
    return aq_chunk_view_version(view, view->overlap) < table->version_min;
}

void aq_replay_table_expect(aq_replay_table *table, uint32_t version_min)
{
    if (table->version_min == version_min) {
        return;
    }
    table->version_min = version_min;
    for (uint64_t at = table->ring.head; at < table->ring.end; at++) {
        const aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, at);
        if (slot->view != NULL && aq_replay_table_is_outdated(table, slot->view)) {
            table->outdated += steps_left(table, at);
            aq_replay_table_drop(table, at);
        }
    }
    aq_chunk_ring_trim(&table->ring);
}
