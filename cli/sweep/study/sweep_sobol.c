/*
 * Sobol's sequence: see sweep_sobol.h.
 */
#include "cli/sweep/study/sweep_sobol.h"

#include "cli/sweep/study/sweep_space.h"
#include "common/base/assert.h"
#include "common/base/rng.h"

enum { DIGITS = 32, DEGREE_MAX = 7 };

/* Of dimensions 2 and on: the polynomial's degree, its inner coefficients as bits, and the first
 * direction numbers. The first dimension needs none. */
static const struct {
    uint32_t degree, inner, first[DEGREE_MAX];
} polynomials[AQ_SWEEP_DIMS_MAX - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

/* v[i] = m[i] 2^(32 - i), and from the degree s on
 * v[i] = v[i - s] >> s  ^  v[i - s]  ^  sum over k < s of a[k] v[i - k] */
static void directions_of(size_t dimension, uint32_t out[DIGITS])
{
    if (dimension == 0) {
        for (uint32_t i = 0; i < DIGITS; i++) {
            out[i] = UINT32_C(1) << (DIGITS - 1 - i);
        }
        return;
    }
    const uint32_t degree = polynomials[dimension - 1].degree;
    for (uint32_t i = 0; i < DIGITS; i++) {
        if (i < degree) {
            out[i] = polynomials[dimension - 1].first[i] << (DIGITS - 1 - i);
            continue;
        }
        out[i] = out[i - degree] >> degree ^ out[i - degree];
        for (uint32_t k = 1; k < degree; k++) {
            if (polynomials[dimension - 1].inner >> (degree - 1 - k) & 1) {
                out[i] ^= out[i - k];
            }
        }
    }
}

void aq_sweep_sobol(uint64_t seed, uint32_t index, size_t count, double *out)
{
    aq_rng shift;
    uint32_t directions[DIGITS];
    AQ_ASSERT(count <= AQ_SWEEP_DIMS_MAX);
    aq_rng_init(&shift, seed, 0);
    for (size_t dimension = 0; dimension < count; dimension++) {
        uint32_t digits = (uint32_t)aq_rng_next(&shift);
        const uint32_t gray = index ^ index >> 1;
        directions_of(dimension, directions);
        for (uint32_t i = 0; i < DIGITS; i++) {
            digits ^= (gray >> i & 1) != 0 ? directions[i] : 0;
        }
        out[dimension] = digits / 4294967296.0;
    }
}
