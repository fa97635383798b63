/*
 * Chance in tests: a generator in one expression, and the seed that repeats a failure.
 */
#ifndef AQ_TESTS_SUPPORT_CHANCE_H
#define AQ_TESTS_SUPPORT_CHANCE_H

#include <stdint.h>

#include "common/base/rng.h"

static inline aq_rng rng_of(uint64_t seed, uint64_t stream)
{
    aq_rng rng;
    aq_rng_init(&rng, seed, stream);
    return rng;
}

/* A number from the environment, or this. */
uint64_t test_number(const char *variable, uint64_t otherwise);

/* AQ_SEED of the environment, or this, or a fixed one; printed. */
uint64_t test_seed_or(uint64_t otherwise);
uint64_t test_seed(void);

#endif
