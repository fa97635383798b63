/*
 * One block for header and views, one reference for the frame under them.
 */
#include "common/experience/arrival.h"

#include "common/base/assert.h"
#include "common/base/memory.h"

static size_t own_bytes(uint32_t chunk_count)
{
    return sizeof(aq_arrival) + (size_t)chunk_count * sizeof(aq_chunk_view);
}

int aq_arrival_create(uint32_t chunk_count, aq_lease *frame, aq_arrival **ret_arrival)
{
    aq_arrival *arrival = aq_alloc(1, own_bytes(chunk_count));
    if (arrival == NULL) {
        return AQ_E_NOMEM;
    }
    aq_references_init(&arrival->references);
    arrival->chunk_count = chunk_count;
    arrival->frame = frame;
    *ret_arrival = arrival;
    return 0;
}

aq_arrival *aq_arrival_ref(aq_arrival *arrival)
{
    aq_references_add(&arrival->references);
    return arrival;
}

void aq_arrival_unref(aq_arrival *arrival)
{
    if (arrival != NULL && aq_references_drop(&arrival->references)) {
        aq_lease_unref(arrival->frame);
        aq_free(arrival);
    }
}

void aq_arrival_rehouse(aq_arrival *arrival, aq_lease *frame)
{
    aq_lease *former = arrival->frame;
    AQ_ASSERT(frame->size == former->size);
    for (uint32_t i = 0; i < arrival->chunk_count; i++) {
        const size_t at = (size_t)(arrival->chunks[i].base - former->bytes);
        AQ_ASSERT(at <= frame->size);
        arrival->chunks[i].base = frame->bytes + at;
    }
    arrival->frame = frame;
    aq_lease_unref(former);
}

size_t aq_arrival_bytes(const aq_arrival *arrival)
{
    return own_bytes(arrival->chunk_count) + sizeof(*arrival->frame) + arrival->frame->size;
}
