/*
 * A ring of (chunk, number of its first item). It grows by doubling up to one entry for each
 * transition of the capacity, which is as many as there can be: every chunk brings a fresh one.
 */
#include "replay/replay_table.h"

#include "common/base/assert.h"
#include "common/base/memory.h"

enum { RING_SIZE_MIN = 64 };

typedef struct ring_entry {
    uint64_t first_item;
    aq_chunk *chunk;
} ring_entry;

struct aq_replay_table {
    aq_chunk_layout layout;
    uint64_t capacity;
    ring_entry *ring;
    size_t ring_size; /* a power of two */
    size_t head;      /* of the oldest */
    size_t count;
    uint64_t transitions;
    uint64_t chunk_bytes;
    uint64_t end_item;
};

static ring_entry *entry_at(const aq_replay_table *table, size_t index)
{
    return &table->ring[(table->head + index) & (table->ring_size - 1)];
}

int aq_replay_table_create(const aq_chunk_layout *layout, uint64_t capacity,
                           aq_replay_table **ret_table)
{
    AQ_ASSERT(capacity >= 1);
    aq_replay_table *table = aq_alloc(1, sizeof(*table));
    if (table == NULL) {
        return AQ_E_NOMEM;
    }
    table->layout = *layout;
    table->capacity = capacity;
    table->ring_size = RING_SIZE_MIN;
    table->ring = aq_alloc(table->ring_size, sizeof(*table->ring));
    if (table->ring == NULL) {
        aq_free(table);
        return AQ_E_NOMEM;
    }
    *ret_table = table;
    return 0;
}

void aq_replay_table_destroy(aq_replay_table *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i < table->count; i++) {
        aq_chunk_unref(entry_at(table, i)->chunk);
    }
    aq_free(table->ring);
    aq_free(table);
}

int aq_replay_table_reserve(aq_replay_table *table, size_t count)
{
    /* More chunks than transitions are never held, but for the newest. */
    uint64_t needed = (uint64_t)table->count + count;
    if (needed > table->capacity + 1) {
        needed = table->capacity + 1;
    }
    size_t size = table->ring_size;
    while (size < needed) {
        if (size > SIZE_MAX / 2) {
            return AQ_E_NOMEM;
        }
        size *= 2;
    }
    if (size == table->ring_size) {
        return 0;
    }
    ring_entry *ring = aq_alloc(size, sizeof(*ring));
    if (ring == NULL) {
        return AQ_E_NOMEM;
    }
    for (size_t i = 0; i < table->count; i++) {
        ring[i] = *entry_at(table, i);
    }
    aq_free(table->ring);
    table->ring = ring;
    table->ring_size = size;
    table->head = 0;
    return 0;
}

static void drop_oldest(aq_replay_table *table)
{
    aq_chunk *chunk = entry_at(table, 0)->chunk;
    table->head = (table->head + 1) & (table->ring_size - 1);
    table->count--;
    table->transitions -= aq_chunk_fresh(chunk);
    table->chunk_bytes -= chunk->bytes;
    aq_chunk_unref(chunk);
}

void aq_replay_table_insert(aq_replay_table *table, aq_chunk *chunk)
{
    uint32_t fresh = aq_chunk_fresh(chunk);
    uint32_t items = aq_chunk_items(chunk, &table->layout);
    AQ_ASSERT(fresh >= 1);
    AQ_ASSERT(items >= 1);
    AQ_ASSERT(table->count < table->ring_size);
    *entry_at(table, table->count) = (ring_entry){table->end_item, chunk};
    table->count++;
    table->transitions += fresh;
    table->chunk_bytes += chunk->bytes;
    table->end_item += items;
    while (table->transitions > table->capacity && table->count > 1) {
        drop_oldest(table);
    }
}

const aq_chunk *aq_replay_table_find(const aq_replay_table *table, uint64_t item, uint32_t *ret_row)
{
    AQ_ASSERT(table->count > 0);
    AQ_ASSERT(item >= entry_at(table, 0)->first_item);
    AQ_ASSERT(item < table->end_item);
    /* The last entry whose first item is not above `item`: it is in [low, low + left). */
    size_t low = 0;
    for (size_t left = table->count; left > 1;) {
        size_t half = left / 2;
        if (entry_at(table, low + half)->first_item <= item) {
            low += half;
        }
        left -= half;
    }
    const ring_entry *entry = entry_at(table, low);
    *ret_row = (uint32_t)(item - entry->first_item);
    return entry->chunk;
}

aq_replay_holdings aq_replay_table_holdings(const aq_replay_table *table)
{
    return (aq_replay_holdings){
        .chunks = table->count,
        .transitions = table->transitions,
        .bytes = table->chunk_bytes + table->ring_size * sizeof(*table->ring),
        .first_item = table->count > 0 ? entry_at(table, 0)->first_item : table->end_item,
        .end_item = table->end_item,
    };
}
