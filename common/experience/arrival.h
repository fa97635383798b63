/*
 * Arrival: an experience message as it came, with a view of each of its chunks. The frame's bytes
 * stay where they are, as long as somebody needs one of the chunks; a replay shard stores arrivals,
 * and its log writes the very same bytes.
 *
 * One allocation: header and views. Reference-counted; the last reference also drops the lease.
 * Everything but `frame` (aq_arrival_rehouse) is immutable. Any thread that holds a reference.
 */
#ifndef AQ_COMMON_EXPERIENCE_ARRIVAL_H
#define AQ_COMMON_EXPERIENCE_ARRIVAL_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/lease.h"
#include "common/base/references.h"
#include "common/experience/chunk_view.h"

typedef struct aq_arrival {
    aq_references references;
    uint32_t chunk_count;
    uint64_t run_id;
    uint64_t actor;
    uint64_t incarnation;
    uint64_t seq;
    uint64_t acknowledged;
    uint64_t store;  /* that it is numbered for; 0: any */
    aq_lease *frame; /* the whole EXPERIENCE frame; the views point into it */
    aq_chunk_view chunks[];
} aq_arrival;

_Static_assert(offsetof(aq_arrival, chunks) % sizeof(aq_chunk_view) == 0,
               "each view is on a cache line of its own");

/* Room for `chunk_count` views, zeroed, with one reference; takes over the reference to `frame`
 * only on success. AQ_E_NOMEM. */
int aq_arrival_create(uint32_t chunk_count, aq_lease *frame, aq_arrival **ret_arrival) AQ_MUST_USE;
aq_arrival *aq_arrival_ref(aq_arrival *arrival); /* returns `arrival` */
void aq_arrival_unref(aq_arrival *arrival);      /* NULL is fine */

/* Points the views into another copy of the same bytes and swaps the leases: takes over `frame`,
 * drops the former one. For the one thread that reads the views, while no other does. */
void aq_arrival_rehouse(aq_arrival *arrival, aq_lease *frame);

/* Memory that it takes, the frame's included. */
size_t aq_arrival_bytes(const aq_arrival *arrival);

#endif
