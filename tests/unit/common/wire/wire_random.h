/*
 * Random numbers and bytes, for the files that make random objects of them.
 */
#ifndef AQ_TESTS_UNIT_COMMON_WIRE_WIRE_RANDOM_H
#define AQ_TESTS_UNIT_COMMON_WIRE_WIRE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/rng.h"

/* Both ends included. */
static inline uint32_t between(aq_rng *rng, uint32_t low, uint32_t high)
{
    return low + (uint32_t)aq_rng_below(rng, (uint64_t)high - low + 1);
}

static inline bool coin(aq_rng *rng)
{
    return aq_rng_below(rng, 2) == 1;
}

/* Of any size, zero and subnormal included; always finite. */
static inline float any_float(aq_rng *rng)
{
    switch (aq_rng_below(rng, 8)) {
    case 0:
        return 0.0f;
    case 1:
        return 1e-40f;
    case 2:
        return coin(rng) ? 3e38f : -3e38f;
    default:
        return (float)aq_rng_normal(rng);
    }
}

static inline void any_bytes(aq_rng *rng, void *bytes, size_t size)
{
    uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++) {
        at[i] = (uint8_t)aq_rng_next(rng);
    }
}

static inline void any_floats(aq_rng *rng, void *floats, size_t count)
{
    float *at = floats;
    for (size_t i = 0; i < count; i++) {
        at[i] = any_float(rng);
    }
}

#endif
