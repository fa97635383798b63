/*
 * A stream of random numbers in one line.
 */
#ifndef AQ_TESTS_SUPPORT_RNG_OF_H
#define AQ_TESTS_SUPPORT_RNG_OF_H

#include "common/base/rng.h"

static inline aq_rng rng_of(uint64_t seed, uint64_t stream)
{
    aq_rng rng;
    aq_rng_init(&rng, seed, stream);
    return rng;
}

#endif
