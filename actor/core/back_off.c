/*
 * Doubling pauses with jitter.
 */
#include "actor/core/back_off.h"

#include "common/base/clock.h"

int64_t aq_back_off_ns(aq_rng *jitter, uint32_t min_ms, uint32_t max_ms, uint32_t failures)
{
    uint64_t ms = failures < 32 ? (uint64_t)min_ms << failures : max_ms;
    ms = ms < max_ms ? ms : max_ms;
    return (int64_t)(ms / 2 + aq_rng_below(jitter, ms / 2 + 1)) * AQ_NS_PER_MS;
}
