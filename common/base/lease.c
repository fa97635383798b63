/*
 * Counting who reads a lease, and the one kind of lease that needs nothing but the heap.
 */
#include "common/base/lease.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

void aq_lease_init(aq_lease *lease, const uint8_t *bytes, size_t size,
                   void (*free)(aq_lease *lease))
{
    AQ_ASSERT(free != NULL);
    lease->bytes = bytes;
    lease->size = size;
    lease->free = free;
    aq_references_init(&lease->references);
}

/* The bytes begin on the next cache line. */
typedef struct heap_lease {
    aq_lease lease;
    _Alignas(AQ_ALIGNMENT_BYTES) uint8_t bytes[];
} heap_lease;

static void free_heap_lease(aq_lease *lease)
{
    aq_free(lease);
}

int aq_lease_create(size_t size, uint8_t **ret_bytes, aq_lease **ret_lease)
{
    size_t bytes;
    if (__builtin_add_overflow(sizeof(heap_lease), size, &bytes)) {
        return AQ_E_NOMEM;
    }
    heap_lease *lease = aq_alloc_unset(1, bytes);
    if (lease == NULL) {
        return AQ_E_NOMEM;
    }
    aq_lease_init(&lease->lease, lease->bytes, size, free_heap_lease);
    *ret_bytes = lease->bytes;
    *ret_lease = &lease->lease;
    return 0;
}

int aq_lease_copy(const uint8_t *bytes, size_t size, aq_lease **ret_lease)
{
    uint8_t *copy;
    int rc = aq_lease_create(size, &copy, ret_lease);
    if (rc == 0 && size > 0) {
        memcpy(copy, bytes, size);
    }
    return rc;
}

aq_lease *aq_lease_ref(aq_lease *lease)
{
    aq_references_add(&lease->references);
    return lease;
}

void aq_lease_unref(aq_lease *lease)
{
    if (lease != NULL && aq_references_drop(&lease->references)) {
        lease->free(lease);
    }
}
