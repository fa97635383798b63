/*
 * Exchanges of atomic pointers. An engine's bytes are written before the exchange that shows it
 * (release) and read after the one that takes it (acquire).
 */
#include "actor/core/policy_slot.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "common/base/assert.h"

static aq_engine *take_from(aq_engine *_Atomic *place)
{
    /* The stepper asks before every step; only a hit is worth a write to a shared line. */
    if (atomic_load_explicit(place, memory_order_relaxed) == NULL) {
        return NULL;
    }
    return atomic_exchange_explicit(place, NULL, memory_order_acquire);
}

aq_engine *aq_policy_slot_collect(aq_policy_slot *slot)
{
    aq_engine *engine = NULL;
    for (int i = 0; engine == NULL && i < AQ_POLICY_SLOT_RETIRED; i++) {
        engine = take_from(&slot->retired[i]);
    }
    return engine;
}

aq_engine *aq_policy_slot_put(aq_policy_slot *slot, aq_engine *engine)
{
    AQ_ASSERT(engine != NULL);
    return atomic_exchange_explicit(&slot->fresh, engine, memory_order_acq_rel);
}

aq_engine *aq_policy_slot_take(aq_policy_slot *slot)
{
    return take_from(&slot->fresh);
}

void aq_policy_slot_retire(aq_policy_slot *slot, aq_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    bool placed = false;
    for (int i = 0; !placed && i < AQ_POLICY_SLOT_RETIRED; i++) {
        aq_engine *empty = NULL;
        placed = atomic_compare_exchange_strong_explicit(
            &slot->retired[i], &empty, engine, memory_order_release, memory_order_relaxed);
    }
    AQ_ASSERT(placed);
}
