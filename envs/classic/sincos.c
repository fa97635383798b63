/*
 * With n the integer nearest to x / (pi/2), the remainder r = x - n pi/2 lies within +-pi/4, where
 * both functions are short polynomials, and the last two bits of n say which of them, with which
 * sign, is the sine.
 *
 *   pi/2 is taken in three parts. The first two have 33 bits, so that n times either is exact for
 *   n < 2^20; the remainder is kept as a sum high + low, so that a number close to a multiple of
 *   pi/2, where almost all of it cancels, has full precision still.
 *
 *   sin(r) = r - r^3/3! + r^5/5! - ... + r^17/17!         left out: less than 2^-63
 *   cos(r) = 1 - r^2/2! + r^4/4! - ... + r^16/16!         left out: less than 2^-58
 *
 * and `low` enters with the first derivative. The coefficients are Taylor's: on so short an
 * interval the best polynomial would save one term each.
 */
#include "envs/classic/sincos.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define HALF_PI_1   0x1.921fb544p+0
#define HALF_PI_2   0x1.0b4611a6p-34
#define HALF_PI_3   0x1.3198a2e037073p-69

/* Added to a number below 2^51 it leaves the nearest integer in the last bits; and, subtracted
 * again, that integer. */
#define ROUNDER 0x1.8p52

#define ANGLE_MAX 0x1p19

static inline double sine_polynomial(double square)
{
    double sum = 1.0 / 355687428096000.0;
    sum = sum * square - 1.0 / 1307674368000.0;
    sum = sum * square + 1.0 / 6227020800.0;
    sum = sum * square - 1.0 / 39916800.0;
    sum = sum * square + 1.0 / 362880.0;
    sum = sum * square - 1.0 / 5040.0;
    sum = sum * square + 1.0 / 120.0;
    return sum * square - 1.0 / 6.0;
}

static inline double cosine_polynomial(double square)
{
    double sum = 1.0 / 20922789888000.0;
    sum = sum * square - 1.0 / 87178291200.0;
    sum = sum * square + 1.0 / 479001600.0;
    sum = sum * square - 1.0 / 3628800.0;
    sum = sum * square + 1.0 / 40320.0;
    sum = sum * square - 1.0 / 720.0;
    return sum * square + 1.0 / 24.0;
}

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline double of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* For |x| <= ANGLE_MAX; any other gives numbers that nobody may use. */
static inline void turn(double x, double *ret_sine, double *ret_cosine)
{
    const double rounded = x * TWO_OVER_PI + ROUNDER;
    const uint64_t quarter = bits_of(rounded);
    const double n = rounded - ROUNDER;

    const double rest = x - n * HALF_PI_1;
    const double second = n * HALF_PI_2;
    const double coarse = rest - second;
    const double third = n * HALF_PI_3 - ((rest - coarse) - second);
    const double high = coarse - third;
    const double low = (coarse - high) - third;

    const double square = high * high;
    const double half = 0.5 * square;
    const double one_less = 1.0 - half;
    const double sine = high + (high * square * sine_polynomial(square) + low * one_less);
    const double cosine = one_less + (((1.0 - one_less) - half) +
                                      (square * square * cosine_polynomial(square) - high * low));

    /* Odd quarters swap the two; the sine is negative in quarters 2 and 3, the cosine in 1, 2. */
    const uint64_t swap = UINT64_C(0) - (quarter & 1);
    const uint64_t s = bits_of(sine), c = bits_of(cosine);
    *ret_sine = of_bits(((s & ~swap) | (c & swap)) ^ (quarter & 2) << 62);
    *ret_cosine = of_bits(((c & ~swap) | (s & swap)) ^ ((quarter + 1) & 2) << 62);
}

static inline bool is_in_range(double x)
{
    return fabs(x) <= ANGLE_MAX; /* false for NaN */
}

void aq_sincos(double angle, double *ret_sine, double *ret_cosine)
{
    if (is_in_range(angle)) {
        turn(angle, ret_sine, ret_cosine);
    } else {
        *ret_sine = sin(angle);
        *ret_cosine = cos(angle);
    }
}

void aq_sincos_rows(const double *restrict angles, size_t count, double *restrict ret_sines,
                    double *restrict ret_cosines)
{
    for (size_t i = 0; i < count; i++) {
        turn(angles[i], &ret_sines[i], &ret_cosines[i]);
    }
    for (size_t i = 0; i < count; i++) { /* apart, since a branch above would end the vectors */
        if (!is_in_range(angles[i])) {
            ret_sines[i] = sin(angles[i]);
            ret_cosines[i] = cos(angles[i]);
        }
    }
}
