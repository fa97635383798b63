/*
 * Random numbers: xoshiro256++ over a state that splitmix64 fills.
 *
 * Sources: D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators" (2021);
 * D. Lemire, "Fast random integer generation in an interval" (2019); G. Marsaglia and T. A. Bray,
 * "A convenient method for generating normal variables" (1964).
 */
#include "common/base/rng.h"

#include <math.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/base/assert.h"

__extension__ typedef unsigned __int128 wide_uint;

static uint64_t rotate_left(uint64_t word, int bits)
{
    return (word << bits) | (word >> (64 - bits));
}

static uint64_t splitmix64(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word = *state;
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

void aq_rng_init(aq_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t state = seed;

    /* Scrambled once between the two, so that (seed, stream) and (stream, seed) differ and small
     * numbers in either give states that share nothing. */
    state = splitmix64(&state) ^ stream;
    state = splitmix64(&state);
    for (int i = 0; i < 4; i++) {
        /* Four outputs of a bijection on a counter differ, so the state is never all zero, from
         * which xoshiro could not leave. */
        rng->s[i] = splitmix64(&state);
    }
}

uint64_t aq_rng_next(aq_rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t aq_rng_below(aq_rng *rng, uint64_t bound)
{
    AQ_ASSERT(bound > 0);
    /* The high word of next * bound is the draw; a draw whose low word lies under
     * 2^64 mod bound belongs to the part that does not divide evenly and is thrown again. */
    wide_uint product = (wide_uint)aq_rng_next(rng) * bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = (UINT64_C(0) - bound) % bound;

        while ((uint64_t)product < threshold) {
            product = (wide_uint)aq_rng_next(rng) * bound;
        }
    }
    return (uint64_t)(product >> 64);
}

void aq_rng_shuffle(aq_rng *rng, uint32_t *numbers, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t j = (uint32_t)aq_rng_below(rng, i);
        const uint32_t kept = numbers[i - 1];
        numbers[i - 1] = numbers[j];
        numbers[j] = kept;
    }
}

double aq_rng_uniform(aq_rng *rng)
{
    return (double)(aq_rng_next(rng) >> 11) * 0x1p-53;
}

double aq_rng_range(aq_rng *rng, double low, double high)
{
    AQ_ASSERT(low <= high);
    AQ_ASSERT(isfinite(high - low));
    double value = low + (high - low) * aq_rng_uniform(rng);
    return value < high ? value : nextafter(high, low); /* the sum may round up to `high` */
}

double aq_rng_normal(aq_rng *rng)
{
    double x, y, square;

    do { /* a point in the unit disk without its centre: 1.27 tries on average */
        x = 2.0 * aq_rng_uniform(rng) - 1.0;
        y = 2.0 * aq_rng_uniform(rng) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    return x * sqrt(-2.0 * log(square) / square);
}

uint64_t aq_rng_system_seed(void)
{
    uint64_t seed = 0;
    int rc = getentropy(&seed, sizeof(seed));

    AQ_ASSERT(rc == 0);
    return seed;
}
