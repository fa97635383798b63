/*
 * Lease: bytes that several parts of a program read and nobody writes, wherever their memory comes
 * from: the heap, a message of the network library, a mapped file. The last one who lets go gives
 * the memory back to where it came from.
 *
 * Embed it as the first member of what knows the memory; `free` gets it back.
 *
 * Any thread that holds a reference may take and drop others.
 */
#ifndef AQ_COMMON_BASE_LEASE_H
#define AQ_COMMON_BASE_LEASE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/references.h"

typedef struct aq_lease aq_lease;

struct aq_lease {
    const uint8_t *bytes;
    size_t size;
    void (*free)(aq_lease *lease);
    aq_references references;
};

/* One reference, the caller's. */
void aq_lease_init(aq_lease *lease, const uint8_t *bytes, size_t size,
                   void (*free)(aq_lease *lease));

/* A lease of a heap block of `size` bytes, which the caller fills through `ret_bytes` before it
 * shows the lease to anybody. AQ_E_NOMEM. */
int aq_lease_create(size_t size, uint8_t **ret_bytes, aq_lease **ret_lease) AQ_MUST_USE;

/* The same, filled with a copy of these. */
int aq_lease_copy(const uint8_t *bytes, size_t size, aq_lease **ret_lease) AQ_MUST_USE;

aq_lease *aq_lease_ref(aq_lease *lease); /* returns `lease` */
void aq_lease_unref(aq_lease *lease);    /* NULL is fine */

#endif
