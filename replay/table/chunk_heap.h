/*
 * Chunk heap: the chunk of the lowest key first, and of equal ones the oldest. Chunks are known by
 * the low halves of their ordinals in the chunk ring.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_TABLE_CHUNK_HEAP_H
#define AQ_REPLAY_TABLE_CHUNK_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct aq_chunk_heap_entry {
    float key;
    uint32_t ordinal;
} aq_chunk_heap_entry;

typedef struct aq_chunk_heap {
    aq_chunk_heap_entry *entries;
    uint32_t *places; /* of each ordinal in `entries`, by its low bits */
    uint64_t count;
    uint64_t window; /* room in both; a power of two, or 0 */
} aq_chunk_heap;

void aq_chunk_heap_init(aq_chunk_heap *heap);
void aq_chunk_heap_fini(aq_chunk_heap *heap); /* zeroed is fine */

/* Makes room for a range of `count` ordinals, with all that are in it among them. AQ_E_NOMEM:
 * nothing changed. */
int aq_chunk_heap_reserve(aq_chunk_heap *heap, uint64_t count) AQ_MUST_USE;

void aq_chunk_heap_insert(aq_chunk_heap *heap, uint32_t ordinal, float key);
void aq_chunk_heap_remove(aq_chunk_heap *heap, uint32_t ordinal); /* one that is in it */
void aq_chunk_heap_change(aq_chunk_heap *heap, uint32_t ordinal, float key);

uint32_t aq_chunk_heap_lowest(const aq_chunk_heap *heap); /* of one that is not empty */

size_t aq_chunk_heap_bytes(const aq_chunk_heap *heap);

#endif
