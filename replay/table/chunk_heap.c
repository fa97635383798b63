/*
 * A binary heap whose entries know their chunk, and a ring in which each chunk knows its entry.
 */
#include "replay/table/chunk_heap.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "replay/table/item_column.h"

enum { WINDOW_MIN = 64 };

void aq_chunk_heap_init(aq_chunk_heap *heap)
{
    memset(heap, 0, sizeof(*heap));
}

void aq_chunk_heap_fini(aq_chunk_heap *heap)
{
    aq_free(heap->entries);
    aq_free(heap->places);
    memset(heap, 0, sizeof(*heap));
}

static uint32_t *place_of(const aq_chunk_heap *heap, uint32_t ordinal)
{
    return &heap->places[ordinal & (heap->window - 1)];
}

int aq_chunk_heap_reserve(aq_chunk_heap *heap, uint64_t count)
{
    if (count <= heap->window) {
        return 0;
    }
    uint64_t window = aq_item_window(count, WINDOW_MIN);
    aq_chunk_heap_entry *entries = aq_alloc(window, sizeof(*entries));
    uint32_t *places = aq_alloc(window, sizeof(*places));
    if (entries == NULL || places == NULL) {
        aq_free(entries);
        aq_free(places);
        return AQ_E_NOMEM;
    }
    if (heap->count > 0) {
        memcpy(entries, heap->entries, heap->count * sizeof(*entries));
    }
    aq_free(heap->entries);
    aq_free(heap->places);
    heap->entries = entries;
    heap->places = places;
    heap->window = window;
    for (uint64_t i = 0; i < heap->count; i++) {
        *place_of(heap, entries[i].ordinal) = (uint32_t)i;
    }
    return 0;
}

static bool is_lower(aq_chunk_heap_entry a, aq_chunk_heap_entry b)
{
    return a.key < b.key || (a.key == b.key && (int32_t)(a.ordinal - b.ordinal) < 0);
}

static void put(aq_chunk_heap *heap, uint64_t at, aq_chunk_heap_entry entry)
{
    heap->entries[at] = entry;
    *place_of(heap, entry.ordinal) = (uint32_t)at;
}

/* Puts `entry` where it belongs, coming from the place `at`, which is free. */
static void settle(aq_chunk_heap *heap, uint64_t at, aq_chunk_heap_entry entry)
{
    while (at > 0 && is_lower(entry, heap->entries[(at - 1) / 2])) {
        put(heap, at, heap->entries[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        uint64_t child = 2 * at + 1;
        if (child >= heap->count) {
            break;
        }
        if (child + 1 < heap->count && is_lower(heap->entries[child + 1], heap->entries[child])) {
            child++;
        }
        if (!is_lower(heap->entries[child], entry)) {
            break;
        }
        put(heap, at, heap->entries[child]);
        at = child;
    }
    put(heap, at, entry);
}

void aq_chunk_heap_insert(aq_chunk_heap *heap, uint32_t ordinal, float key)
{
    AQ_ASSERT(heap->count < heap->window);
    heap->count++;
    settle(heap, heap->count - 1, (aq_chunk_heap_entry){key, ordinal});
}

static uint64_t find(const aq_chunk_heap *heap, uint32_t ordinal)
{
    uint64_t at = *place_of(heap, ordinal);
    AQ_ASSERT(at < heap->count);
    AQ_ASSERT(heap->entries[at].ordinal == ordinal);
    return at;
}

void aq_chunk_heap_remove(aq_chunk_heap *heap, uint32_t ordinal)
{
    uint64_t at = find(heap, ordinal);
    heap->count--;
    if (at < heap->count) {
        settle(heap, at, heap->entries[heap->count]);
    }
}

void aq_chunk_heap_change(aq_chunk_heap *heap, uint32_t ordinal, float key)
{
    settle(heap, find(heap, ordinal), (aq_chunk_heap_entry){key, ordinal});
}

uint32_t aq_chunk_heap_lowest(const aq_chunk_heap *heap)
{
    AQ_ASSERT(heap->count > 0);
    return heap->entries[0].ordinal;
}

size_t aq_chunk_heap_bytes(const aq_chunk_heap *heap)
{
    return (size_t)heap->window * (sizeof(*heap->entries) + sizeof(*heap->places));
}
