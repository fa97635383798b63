/*
 * The one door for allocations.
 *
 * posix_memalign rather than aligned_alloc: the size needs no rounding to the alignment, so a
 * sanitizer sees the first byte past a block and not only the first past its padding. Zeroing
 * touches every page, which is meant: a daemon's tables fault in at start, not in a hot path.
 */
#define _DEFAULT_SOURCE /* madvise */

#include "common/base/memory.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* The most that glibc takes for the former. */
enum { OWN_MAPPING_BYTES = 32 << 20, SPARE_BYTES = 16 << 20 };

static _Atomic uint64_t allocation_count, allocated_bytes;
static _Atomic uint64_t fail_at; /* in allocation_count's numbering; 0: never */
static atomic_bool fail_forever;

static bool must_fail(uint64_t nth)
{
    uint64_t at = atomic_load(&fail_at);

    if (at == 0) {
        return false;
    }
    return nth == at || (nth > at && atomic_load(&fail_forever));
}

static void *allocate(size_t count, size_t size, size_t alignment)
{
    void *block = NULL;

    if (must_fail(atomic_fetch_add(&allocation_count, 1) + 1)) {
        return NULL;
    }
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    size_t total = count * size;
    if (total == 0) {
        total = 1;
    }
    if (total > PTRDIFF_MAX || posix_memalign(&block, alignment, total) != 0) {
        return NULL;
    }
    atomic_fetch_add_explicit(&allocated_bytes, total, memory_order_relaxed);
    return block;
}

/* A page fault for every 4 KiB takes longer than writing them. */
void *aq_alloc_unset(size_t count, size_t size)
{
    if (size == 0 || count < HUGE_PAGE_BYTES / size) {
        return allocate(count, size, AQ_ALIGNMENT_BYTES);
    }
    void *block = allocate(count, size, HUGE_PAGE_BYTES);
#ifdef MADV_HUGEPAGE
    if (block != NULL) {
        (void)madvise(block, count * size, MADV_HUGEPAGE); /* a hint: as well without */
    }
#endif
    return block;
}

void *aq_alloc(size_t count, size_t size)
{
    void *block = allocate(count, size, AQ_ALIGNMENT_BYTES);

    if (block != NULL) {
        memset(block, 0, count * size == 0 ? 1 : count * size);
    }
    return block;
}

void *aq_alloc_large(size_t count, size_t size)
{
    void *block = aq_alloc_unset(count, size);

    if (block != NULL) {
        memset(block, 0, count * size == 0 ? 1 : count * size);
    }
    return block;
}

void aq_free(void *block)
{
    free(block);
}

void aq_memory_use_one_heap(void)
{
#if defined(__GLIBC__)
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_MMAP_THRESHOLD, OWN_MAPPING_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, SPARE_BYTES);
#endif
}

void aq_memory_keep(size_t bytes)
{
#if defined(__GLIBC__)
    if (bytes > SPARE_BYTES) {
        (void)mallopt(M_MMAP_MAX, 0);
        (void)mallopt(M_TRIM_THRESHOLD, bytes < INT_MAX ? (int)bytes : INT_MAX);
    }
#else
    (void)bytes;
#endif
}

void aq_memory_trim(void)
{
#if defined(__GLIBC__)
    (void)malloc_trim(0);
#endif
}

char *aq_text_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = aq_alloc(size, 1);

    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

void aq_memory_fail_at(uint64_t nth, int forever)
{
    /* Off first, so that another thread never sees the old place with the new `forever`. */
    atomic_store(&fail_at, 0);
    atomic_store(&fail_forever, forever != 0);
    if (nth != 0) {
        atomic_store(&fail_at, atomic_load(&allocation_count) + nth);
    }
}

uint64_t aq_memory_allocation_count(void)
{
    return atomic_load(&allocation_count);
}

uint64_t aq_memory_allocated_bytes(void)
{
    return atomic_load(&allocated_bytes);
}
