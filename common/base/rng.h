/*
 * Random numbers: xoshiro256++ (Blackman and Vigna, 2019), seeded through splitmix64.
 *
 * The state is plain data, so it can be stored in a checkpoint. Every stream is derived from the
 * run's one seed and a name of its own (aq_rng_init's `stream`), so that streams don't overlap. The
 * names of processes that may start anew are of each start. Nothing in the project uses rand() or a
 * clock as a seed silently.
 */
#ifndef AQ_COMMON_BASE_RNG_H
#define AQ_COMMON_BASE_RNG_H

#include <stdint.h>

typedef struct aq_rng {
    uint64_t s[4];
} aq_rng;

void aq_rng_init(aq_rng *rng, uint64_t seed, uint64_t stream);
uint64_t aq_rng_next(aq_rng *rng);

/* Uniform in [0, bound) without modulo bias; bound > 0. */
uint64_t aq_rng_below(aq_rng *rng, uint64_t bound);

/* Uniform in [0, 1), 53 bits. */
double aq_rng_uniform(aq_rng *rng);

/* Uniform in [low, high), or `low` where the two are equal. */
double aq_rng_range(aq_rng *rng, double low, double high);

/* Standard normal (polar method; no cached second value, so the state stays the four words). */
double aq_rng_normal(aq_rng *rng);

/* Puts `count` numbers into an order of which each is as likely (Fisher and Yates). */
void aq_rng_shuffle(aq_rng *rng, uint32_t *numbers, uint32_t count);

/* A seed from the operating system, for runs that were given none; always printed by the caller. */
uint64_t aq_rng_system_seed(void);

#endif
