/*
 * Chance in tests: a generator in one expression, arrays of its numbers, and the seed that repeats
 * a failure.
 */
#ifndef AQ_TESTS_SUPPORT_CHANCE_H
#define AQ_TESTS_SUPPORT_CHANCE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/rng.h"

static inline aq_rng rng_of(uint64_t seed, uint64_t stream)
{
    aq_rng rng;
    aq_rng_init(&rng, seed, stream);
    return rng;
}

/* Normal values of this deviation; and uniform ones within bounds. */
static inline void fill_normal(float *out, size_t count, double deviation, aq_rng *rng)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)(deviation * aq_rng_normal(rng));
    }
}

static inline void fill_range(float *out, size_t count, double low, double high, aq_rng *rng)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)aq_rng_range(rng, low, high);
    }
}

/* A number from the environment, or this. */
uint64_t test_number(const char *variable, uint64_t otherwise);

/* Of `all` repetitions that differ by chance alone, as many as there is time for: all, or the part
 * that AQ_ROUNDS_DIVISOR of the environment leaves, and one at least. Sanitizers take a fifth: a
 * fault of memory shows in few, and the plain build goes through all. */
uint64_t test_rounds(uint64_t all);

/* AQ_SEED of the environment, or this, or a fixed one; printed. */
uint64_t test_seed_or(uint64_t otherwise);
uint64_t test_seed(void);

#endif
