/*
 * The count of who holds a block that several share; whoever made it is the first. Any thread.
 */
#ifndef AQ_COMMON_BASE_REFERENCES_H
#define AQ_COMMON_BASE_REFERENCES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/assert.h"

typedef _Atomic uint32_t aq_references;

static inline void aq_references_init(aq_references *references)
{
    atomic_init(references, 1);
}

/* By one of the holders, for another. */
static inline void aq_references_add(aq_references *references)
{
    uint32_t before = atomic_fetch_add_explicit(references, 1, memory_order_relaxed);
    AQ_ASSERT(before > 0);
    AQ_ASSERT(before < UINT32_MAX);
}

/* True when that was the last: the block is the caller's to free. Releases what this holder did,
 * and acquires what the others did before. */
static inline bool aq_references_drop(aq_references *references)
{
    uint32_t before = atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel);
    AQ_ASSERT(before > 0);
    return before == 1;
}

#endif
