/*
 * Memory: one door for every allocation, so that a test can fail the n-th of them and so that
 * every block is aligned for vector loads.
 *
 * Any thread. Blocks are zeroed: uninitialised policy bytes must never reach a wire or a file.
 */
#ifndef AQ_COMMON_BASE_MEMORY_H
#define AQ_COMMON_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define AQ_ALIGNMENT_BYTES 64 /* a cache line, and the widest vector register */

/* The least multiple of `unit` from `value` on. */
static inline size_t aq_round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* count * size zeroed bytes aligned to AQ_ALIGNMENT_BYTES, at least one; NULL when there are none
 * or the product overflows. Release with aq_free. */
void *aq_alloc(size_t count, size_t size) __attribute__((malloc, warn_unused_result));

/* The same without the zeros, for large blocks in hot paths that the caller writes to the last byte
 * before anything reads them. From 2 MiB on they are aligned for large pages, and ask for them. */
void *aq_alloc_unset(size_t count, size_t size) __attribute__((malloc, warn_unused_result));

/* aq_alloc in such pages: for large blocks that are walked over again and again. */
void *aq_alloc_large(size_t count, size_t size) __attribute__((malloc, warn_unused_result));

/* NULL is fine. */
void aq_free(void *block);

/* A copy of the text; NULL when out of memory. Release with aq_free. */
char *aq_text_copy(const char *text) __attribute__((warn_unused_result));

/* For a program that holds much, in blocks that threads of other libraries get and that are given
 * back in the order in which they came: one heap for all threads, so that what one gave back serves
 * the others, and no block by itself from the system, where each page of it would be made anew.
 * Before any thread is started; without effect where the C library has no such settings. */
void aq_memory_use_one_heap(void);

/* For a program that takes and gives back so many bytes over and over, which the kernel would clear
 * each time: so much stays with the process. Without effect where the C library has no such
 * settings. */
void aq_memory_keep(size_t bytes);

/* Gives free pages between blocks in use back to the system: blocks of changing sizes leave holes,
 * and what lies in them counts as this process's. Takes a millisecond or so for 100 MiB. */
void aq_memory_trim(void);

/* Tests only: the n-th allocation from now fails (1 = the next one), and with `forever` all after
 * it; 0 turns it off. Process-wide. */
void aq_memory_fail_at(uint64_t nth, int forever);

/* Tests only: allocations, and bytes, asked for since the start of the process. */
uint64_t aq_memory_allocation_count(void);
uint64_t aq_memory_allocated_bytes(void);

#endif
