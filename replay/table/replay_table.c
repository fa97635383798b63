/*
 * The table joins its parts: the ring of chunks, the selector, the remover's heap, and a column of
 * values for each item where something has to be known of each.
 */
#include "replay/table/replay_table.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "replay/table/chunk_items.h"
#include "replay/table/replay_gather.h"
#include "replay/table/replay_table_parts.h"

/* Room for numbers is kept in proportion to the capacity. */
enum { WINDOW_CAPACITIES = 4 };

/* Masses beyond these would drown all others in a sum of floats, or be lost in it. */
static const float MASS_MIN = 1e-20f;
static const float MASS_MAX = 1e20f;

static uint32_t draws_max_of(const aq_table_spec *spec)
{
    return spec->selector == AQ_SELECTOR_QUEUE ? 1 : spec->times_sampled_max;
}

static uint64_t window_of(const aq_table_spec *spec, const aq_layout *layout)
{
    uint64_t most = AQ_CHUNK_RING_WINDOW_MAX / 2;
    uint64_t capacity = spec->capacity < most ? spec->capacity : most;
    uint64_t window = WINDOW_CAPACITIES * (capacity + layout->length_max);
    return window < most ? window : most;
}

int aq_replay_table_create(const aq_table_spec *spec, const aq_layout *layout,
                           aq_message_store *store, uint64_t seed, aq_replay_table **ret_table)
{
    AQ_ASSERT(aq_table_spec_span(spec) <= layout->n_step);
    aq_replay_table *table = aq_alloc(1, sizeof(*table));
    if (table == NULL) {
        return AQ_E_NOMEM;
    }
    table->spec = *spec;
    table->layout = *layout;
    table->store = store;
    table->window_max = window_of(spec, layout);
    table->draws_max = draws_max_of(spec);
    table->removes_lowest = spec->remover == AQ_REMOVER_LOWEST_PRIORITY;
    table->greatest = 1.0f;
    table->shape.scale = 1.0f;
    aq_item_column_init(&table->priorities, sizeof(float));
    aq_item_column_init(&table->times_drawn, sizeof(uint32_t));
    aq_chunk_heap_init(&table->heap);
    int rc = aq_chunk_ring_init(&table->ring);
    if (rc == 0) {
        rc = aq_replay_selector_create(spec, seed, &table->selector);
    }
    if (rc != 0) {
        aq_replay_table_destroy(table);
        return rc;
    }
    *ret_table = table;
    return 0;
}

void aq_replay_table_destroy(aq_replay_table *table)
{
    if (table == NULL) {
        return;
    }
    for (uint64_t ordinal = table->ring.head; ordinal < table->ring.end; ordinal++) {
        aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, ordinal);
        if (slot->view != NULL) {
            aq_message_store_release(table->store, slot->message);
        }
    }
    aq_replay_selector_destroy(table->selector);
    aq_chunk_heap_fini(&table->heap);
    aq_item_column_fini(&table->times_drawn);
    aq_item_column_fini(&table->priorities);
    aq_chunk_ring_fini(&table->ring);
    aq_free(table);
}

const aq_table_spec *aq_replay_table_spec(const aq_replay_table *table)
{
    return &table->spec;
}

float aq_replay_table_mass(const aq_replay_table *table, float priority)
{
    if (table->spec.selector != AQ_SELECTOR_PRIORITIZED) {
        return 1.0f;
    }
    float mass = powf(priority, (float)table->spec.priority_exponent);
    return mass < MASS_MIN ? MASS_MIN : mass > MASS_MAX ? MASS_MAX : mass;
}

/* ---- chunks come and go -------------------------------------------------------------------- */

void aq_replay_table_drop(aq_replay_table *table, uint64_t ordinal)
{
    aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, ordinal);
    uint32_t items = aq_chunk_ring_items(&table->ring, ordinal);
    table->selector->class->remove(table->selector, slot->first_item, items);
    if (table->removes_lowest) {
        aq_chunk_heap_remove(&table->heap, (uint32_t)ordinal);
    }
    if (table->draws_max > 0) {
        for (uint32_t i = 0; i < items; i++) {
            table->draws_left -=
                table->draws_max - *aq_item_column_u32(&table->times_drawn, slot->first_item + i);
        }
    }
    table->chunks--;
    table->transitions -= slot->steps;
    table->chunk_bytes -= aq_layout_bytes(&table->layout, slot->view->length);
    table->items -= slot->items_left;
    table->gone_draws += slot->draws;
    table->gone_items += items;
    slot->view = NULL;
    aq_message_store_release(table->store, slot->message);
    slot->message = NULL;
}

static void drop_oldest(aq_replay_table *table)
{
    aq_replay_table_drop(table, table->ring.head);
    aq_chunk_ring_trim(&table->ring);
}

static bool is_over_capacity(const aq_replay_table *table)
{
    return table->transitions > table->spec.capacity ||
           (table->spec.capacity_bytes > 0 && table->chunk_bytes > table->spec.capacity_bytes);
}

/* The newest chunk is not in the heap yet. */
static void make_room(aq_replay_table *table)
{
    bool waits_for_state = table->restoring && (table->removes_lowest || table->draws_max > 0);
    if (table->spec.selector == AQ_SELECTOR_QUEUE || waits_for_state) {
        return;
    }
    while (table->chunks > 1 && is_over_capacity(table)) {
        if (table->removes_lowest) {
            uint32_t lowest = aq_chunk_heap_lowest(&table->heap);
            aq_replay_table_drop(table, table->ring.head +
                                            (uint32_t)(lowest - (uint32_t)table->ring.head));
            aq_chunk_ring_trim(&table->ring);
        } else {
            drop_oldest(table);
        }
    }
}

/* The oldest chunks of a queue are those that were drawn out, as long as their state is unknown. */
static bool may_drop_oldest(const aq_replay_table *table)
{
    return table->spec.selector != AQ_SELECTOR_QUEUE || table->restoring;
}

int aq_replay_table_reserve(aq_replay_table *table, const aq_arrival *arrival)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < arrival->chunk_count; i++) {
        items += aq_chunk_items_count(&table->spec, &table->layout, &arrival->chunks[i]);
    }
    uint64_t first = aq_chunk_ring_first_item(&table->ring);
    uint64_t known = aq_chunk_ring_end_item(&table->ring);
    if (items > AQ_CHUNK_RING_WINDOW_MAX / 2) {
        return AQ_E_NOMEM;
    }
    if (!may_drop_oldest(table) && known - first + items > table->window_max) {
        return AQ_E_FULL;
    }
    int rc = aq_chunk_ring_reserve(&table->ring, arrival->chunk_count, items);
    if (rc == 0 && table->draws_max > 0) {
        rc = aq_item_column_reserve(&table->times_drawn, first, known, known + items);
    }
    if (rc == 0 && table->removes_lowest) {
        rc = aq_item_column_reserve(&table->priorities, first, known, known + items);
    }
    if (rc == 0 && table->removes_lowest) {
        rc = aq_chunk_heap_reserve(&table->heap,
                                   table->ring.end - table->ring.head + arrival->chunk_count);
    }
    if (rc == 0) {
        rc = table->selector->class->reserve(table->selector, first, known + items);
    }
    return rc;
}

static void begin_items(aq_replay_table *table, uint64_t first, uint32_t items)
{
    for (uint32_t i = 0; table->removes_lowest && i < items; i++) {
        *aq_item_column_f32(&table->priorities, first + i) = table->greatest;
    }
    for (uint32_t i = 0; table->draws_max > 0 && i < items; i++) {
        *aq_item_column_u32(&table->times_drawn, first + i) = 0;
    }
    table->draws_left += (uint64_t)items * table->draws_max;
    table->selector->class->insert(table->selector, first, items,
                                   aq_replay_table_mass(table, table->greatest));
}

/* A capacity is how far back a table reaches, so steps that no chunk is held for count, too. They
 * leave with the next one that is, of whatever episode: chunks leave about as they came, and only
 * sums are compared. */
void aq_replay_table_insert(aq_replay_table *table, aq_stored_message *message, uint32_t index)
{
    AQ_ASSERT(index < message->arrival->chunk_count);
    const aq_chunk_view *view = &message->arrival->chunks[index];
    const uint32_t fresh = aq_chunk_view_fresh(view);
    uint32_t items = aq_chunk_items_count(&table->spec, &table->layout, view);
    if (items == 0) {
        table->passed += fresh;
        table->transitions += fresh;
        return;
    }
    if (aq_replay_table_is_outdated(table, view)) {
        table->outdated += fresh;
        return;
    }
    aq_message_store_hold(message);
    uint64_t ordinal = aq_chunk_ring_append(&table->ring, message, view, items);
    aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, ordinal);
    slot->steps = table->passed + fresh;
    table->passed = 0;
    begin_items(table, slot->first_item, items);
    table->chunks++;
    table->transitions += fresh;
    table->chunk_bytes += aq_layout_bytes(&table->layout, view->length);
    table->items += items;
    make_room(table);
    if (table->removes_lowest) {
        aq_chunk_heap_insert(&table->heap, (uint32_t)ordinal, table->greatest);
    }
    table->newest = (aq_chunk_key){message->number, index};
    while (table->chunks > 1 && may_drop_oldest(table) &&
           aq_chunk_ring_end_item(&table->ring) - aq_chunk_ring_first_item(&table->ring) >
               table->window_max) {
        drop_oldest(table);
    }
}

void aq_replay_table_restoring(aq_replay_table *table, bool restoring)
{
    table->restoring = restoring;
    make_room(table);
    if (!restoring) { /* what has left so far did so in an earlier life, nobody knows how drawn */
        table->gone_draws = 0;
        table->gone_items = 0;
    }
}

void aq_replay_table_forget(aq_replay_table *table, const aq_stored_message *message)
{
    aq_chunk_ring *ring = &table->ring;
    const uint64_t number = message->number; /* this may take its last hold */
    for (uint64_t ordinal = ring->head; ordinal < ring->end; ordinal++) {
        const aq_chunk_slot *slot = aq_chunk_ring_slot(ring, ordinal);
        if (slot->view == NULL) {
            continue;
        }
        if (slot->message->number > number) {
            break;
        }
        if (slot->message->number == number || !table->removes_lowest) {
            aq_replay_table_drop(table, ordinal);
        }
    }
    aq_chunk_ring_trim(ring);
}

/* ---- draws --------------------------------------------------------------------------------- */

uint64_t aq_replay_table_draws(const aq_replay_table *table, uint32_t rows)
{
    if (table->draws_max > 0 && table->draws_left < rows) {
        return table->draws_left;
    }
    if (table->selector->class->draws_each_once) {
        return table->items;
    }
    return table->items > 0 ? rows : 0;
}

/* Items that were drawn as often as they may be can't be drawn again; their chunk stays until the
 * batch has been gathered. */
static void count_draws(aq_replay_table *table, const uint64_t *items, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t *drawn = aq_item_column_u32(&table->times_drawn, items[row]);
        AQ_ASSERT(*drawn < table->draws_max);
        table->draws_left--;
        if (++*drawn == table->draws_max) {
            uint64_t ordinal = aq_chunk_ring_find(&table->ring, items[row]);
            aq_chunk_ring_slot(&table->ring, ordinal)->items_left--;
            table->items--;
            table->selector->class->remove(table->selector, items[row], 1);
        }
    }
}

static void drop_drawn(aq_replay_table *table, const uint64_t *items, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t ordinal = aq_chunk_ring_find(&table->ring, items[row]);
        const aq_chunk_slot *slot = aq_chunk_ring_slot(&table->ring, ordinal);
        if (slot->view != NULL && slot->items_left == 0) {
            aq_replay_table_drop(table, ordinal);
        }
    }
    aq_chunk_ring_trim(&table->ring);
}

void aq_replay_table_shape_rewards(aq_replay_table *table, aq_reward_shape shape)
{
    table->shape = shape;
}

int aq_replay_table_sample(aq_replay_table *table, uint32_t rows, float discount, aq_batch *batch)
{
    AQ_ASSERT(rows >= 1);
    AQ_ASSERT(rows <= batch->rows_max);
    AQ_ASSERT(batch->layout_hash == table->layout.hash);
    if (aq_replay_table_draws(table, rows) < rows) {
        return AQ_E_AGAIN;
    }
    const aq_replay_selector_class *class = table->selector->class;
    /* One by one where a draw may make the next one of the same item impossible. */
    uint32_t together = table->draws_max > 0 && !class->draws_each_once ? 1 : rows;
    for (uint32_t row = 0; row < rows; row += together) {
        class->draw(table->selector, together, batch->item + row, batch->weight + row);
        if (table->draws_max > 0) {
            count_draws(table, batch->item + row, together);
        }
    }
    batch->rows = rows;
    aq_replay_gather(&table->spec, &table->ring, discount, table->shape, batch);
    if (table->draws_max > 0) {
        drop_drawn(table, batch->item, rows);
    }
    return 0;
}
