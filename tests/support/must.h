/*
 * For what is not tested but needed: a test's stage, a simulation, a fuzz target. A call that fails
 * here is our own fault, and ends the program.
 */
#ifndef AQ_TESTS_SUPPORT_MUST_H
#define AQ_TESTS_SUPPORT_MUST_H

#include "common/base/assert.h"
#include "common/base/growing.h"
#include "common/base/memory.h"

/* The call returns 0. */
#define must(call)                                                                                 \
    do {                                                                                           \
        const int rc_ = (call);                                                                    \
        AQ_ASSERT(rc_ == 0);                                                                       \
    } while (0)

/* Zeroed memory. */
static inline void *must_alloc(size_t count, size_t size)
{
    void *block = aq_alloc(count, size);
    AQ_ASSERT(block != NULL);
    return block;
}

/* Room for one item more at the address of a pointer to `count` of them; see aq_grow. */
static inline void must_grow(void *array, size_t *capacity, size_t count, size_t item_bytes)
{
    must(aq_grow(array, capacity, count, item_bytes, SIZE_MAX));
}

#endif
