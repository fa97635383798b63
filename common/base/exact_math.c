/*
 * Arguments are reduced to a short interval around zero, there the Taylor series is as exact as a
 * double, with its coefficients as fractions. The order of the operations is the contract.
 *
 * Exported policies carry these very functions (tools/exact_texts.py), so they are C99 that needs
 * no library but memcpy and sqrt, for which an export has one of its own.
 */
#include "common/base/exact_math.h"

#include <math.h>
#include <string.h>

/* ln 2 in two parts. The high one has 32 bits, so that its product with an exponent is exact. */
static const double ln2_high = 0x1.62e42fee00000p-1;

static const double ln2_low = 0x1.a39ef35793c76p-33;

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static double infinity(void)
{
    return from_bits(UINT64_C(0x7FF0000000000000));
}

/* 2^n, a normal number */
static double power_of_2(int n)
{
    return from_bits((uint64_t)(n + 1023) << 52);
}

/* x = n ln 2 + r, |r| <= ln 2 / 2, |x| < 800. Returns exp(r) - 1, and n. */
static double exp_parts(double x, int *ret_n)
{
    const double round = 0x1.8p52; /* adding it leaves an integer */
    const double n = (x * 0x1.71547652b82fep0 + round) - round;
    const double r = (x - n * ln2_high) - n * ln2_low;

    double tail = 1.0 / 87178291200;
    tail = tail * r + 1.0 / 6227020800;
    tail = tail * r + 1.0 / 479001600;
    tail = tail * r + 1.0 / 39916800;
    tail = tail * r + 1.0 / 3628800;
    tail = tail * r + 1.0 / 362880;
    tail = tail * r + 1.0 / 40320;
    tail = tail * r + 1.0 / 5040;
    tail = tail * r + 1.0 / 720;
    tail = tail * r + 1.0 / 120;
    tail = tail * r + 1.0 / 24;
    tail = tail * r + 1.0 / 6;
    tail = tail * r + 0.5;
    *ret_n = (int)n;
    return r + r * r * tail;
}

double aq_exact_exp(double x)
{
    if (x != x) {
        return x;
    }
    if (x > 710.0) {
        return infinity();
    }
    if (x < -746.0) {
        return 0.0;
    }
    int n;
    const double series = exp_parts(x, &n);
    const int half = n / 2; /* twice, as 2^n alone may be no number; rounded in the last step */
    return (1.0 + series) * power_of_2(half) * power_of_2(n - half);
}

/* x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); with s = f / (2 + f),
 * log(1 + f) = 2 artanh s = 2 s + s R = f - s (f - R), R = 2 (s^2 / 3 + s^4 / 5 + ...) */
double aq_exact_log(double x)
{
    if (x != x || x == infinity()) {
        return x;
    }
    if (x <= 0.0) {
        return x < 0.0 ? infinity() - infinity() : -infinity();
    }
    const double scale = x < 0x1p-1022 ? 0x1p54 : 1.0; /* a subnormal becomes normal */
    const uint64_t bits = bits_of(x * scale);
    int n = (int)(bits >> 52) - 1023 - (scale > 1.0 ? 54 : 0);
    double m = from_bits((bits & UINT64_C(0x000FFFFFFFFFFFFF)) | UINT64_C(0x3FF0000000000000));
    if (m >= 0x1.6a09e667f3bcdp0) {
        m = m * 0.5;
        n = n + 1;
    }
    const double f = m - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s;

    double tail = 2.0 / 23;
    tail = tail * z + 2.0 / 21;
    tail = tail * z + 2.0 / 19;
    tail = tail * z + 2.0 / 17;
    tail = tail * z + 2.0 / 15;
    tail = tail * z + 2.0 / 13;
    tail = tail * z + 2.0 / 11;
    tail = tail * z + 2.0 / 9;
    tail = tail * z + 2.0 / 7;
    tail = tail * z + 2.0 / 5;
    tail = tail * z + 2.0 / 3;
    return n * ln2_high + (f - (s * (f - z * tail) - n * ln2_low));
}

/* sign(x) t / (t + 2), t = exp(2 |x|) - 1 = 2^n (exp(r) - 1) + (2^n - 1) */
double aq_exact_tanh(double x)
{
    if (x != x) {
        return x;
    }
    const double magnitude = x < 0.0 ? -x : x;
    if (magnitude > 20.0) {
        return x < 0.0 ? -1.0 : 1.0;
    }
    int n;
    const double series = exp_parts(2.0 * magnitude, &n);
    const double power = power_of_2(n);
    const double t = power * series + (power - 1.0);
    const double result = t / (t + 2.0);
    return from_bits(bits_of(result) | (bits_of(x) & UINT64_C(0x8000000000000000)));
}

/* max(x, 0) + log(1 + e), e = exp(-|x|). What rounding takes from w = 1 + e is e - (w - 1), and
 * log(w + it) is log w + it / w. */
double aq_exact_softplus(double x)
{
    if (x != x) {
        return x;
    }
    const double e = aq_exact_exp(x < 0.0 ? x : -x);
    const double w = 1.0 + e;
    const double above = aq_exact_log(w) + (e - (w - 1.0)) / w;
    return (x < 0.0 ? 0.0 : x) + above;
}

double aq_exact_log_sum_exp(const float *values, uint32_t count)
{
    float greatest = values[0];
    double sum = 0.0;
    for (uint32_t i = 1; i < count; i++) {
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    for (uint32_t i = 0; i < count; i++) {
        const double below = (double)values[i] - (double)greatest;
        sum += below == 0.0 ? 1.0 : aq_exact_exp(below); /* for one of them at least */
    }
    return (double)greatest + aq_exact_log(sum);
}

/* |x| <= pi / 4 */
static double sin_near_0(double x)
{
    const double z = x * x;
    double tail = 1.0 / 355687428096000;
    tail = tail * z - 1.0 / 1307674368000;
    tail = tail * z + 1.0 / 6227020800;
    tail = tail * z - 1.0 / 39916800;
    tail = tail * z + 1.0 / 362880;
    tail = tail * z - 1.0 / 5040;
    tail = tail * z + 1.0 / 120;
    tail = tail * z - 1.0 / 6;
    return x + x * z * tail;
}

static double cos_near_0(double x)
{
    const double z = x * x;
    double tail = 1.0 / 20922789888000;
    tail = tail * z - 1.0 / 87178291200;
    tail = tail * z + 1.0 / 479001600;
    tail = tail * z - 1.0 / 3628800;
    tail = tail * z + 1.0 / 40320;
    tail = tail * z - 1.0 / 720;
    tail = tail * z + 1.0 / 24;
    tail = tail * z - 0.5;
    return 1.0 + z * tail;
}

/* cos(2 pi turn / 2^53): which quarter of the turn is nearest, and what is left of it, exactly. */
static double cos_of_turn(uint64_t turn)
{
    const uint64_t quarter = (turn + (UINT64_C(1) << 50)) >> 51;
    const double left = (double)((int64_t)turn - (int64_t)(quarter << 51));
    const double angle = left * (0x1.921fb54442d18p2 * 0x1p-53);
    switch (quarter % 4) {
    case 0:
        return cos_near_0(angle);
    case 1:
        return -sin_near_0(angle);
    case 2:
        return -cos_near_0(angle);
    default:
        return sin_near_0(angle);
    }
}

double aq_exact_normal(uint64_t bits_a, uint64_t bits_b)
{
    const double u = (double)((bits_a >> 11) + 1) * 0x1p-53;
    return sqrt(-2.0 * aq_exact_log(u)) * cos_of_turn(bits_b >> 11);
}
