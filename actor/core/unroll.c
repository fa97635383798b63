/*
 * Unroll: see unroll.h.
 */
#include "actor/core/unroll.h"

#include "common/base/assert.h"

void aq_unroll_init(aq_unroll *unroll, const aq_gradient_maker *maker, uint64_t steps)
{
    AQ_ASSERT(steps > 0);
    *unroll = (aq_unroll){.maker = *maker, .steps = steps};
}

void aq_unroll_fini(aq_unroll *unroll)
{
    if (aq_unroll_is_used(unroll)) {
        unroll->maker.close(&unroll->maker);
    }
    *unroll = (aq_unroll){.steps = 0};
}

void aq_unroll_adopt(aq_unroll *unroll, const aq_snapshot *version)
{
    AQ_ASSERT(version == NULL || unroll->gathered == 0);
    unroll->has_version = version != NULL && unroll->maker.adopt(&unroll->maker, version) == 0;
}

bool aq_unroll_gather(aq_unroll *unroll, uint32_t lanes)
{
    if (!aq_unroll_is_used(unroll)) {
        return false;
    }
    unroll->gathered += lanes;
    return unroll->gathered >= unroll->steps;
}

void aq_unroll_take(aq_unroll *unroll, aq_chunk *chunk)
{
    int rc = unroll->maker.take(&unroll->maker, chunk);
    (void)rc;
}

aq_chunk *aq_unroll_make(aq_unroll *unroll)
{
    aq_chunk *row;
    unroll->gathered = 0;
    if (unroll->maker.make(&unroll->maker, &row) != 0) {
        return NULL;
    }
    unroll->made++;
    return row;
}
