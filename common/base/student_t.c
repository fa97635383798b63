/*
 * Student's t: see student_t.h.
 *
 * With x = n / (n + t^2), the chance of a value beyond |t| on either side is the incomplete beta
 * function I_x(n / 2, 1 / 2). Its continued fraction is worked from the front (Lentz), on the side
 * of the argument where it converges in a few steps; the quantile is found by halving, as the
 * function rises throughout.
 */
#include "common/base/student_t.h"

#include <math.h>

#include "common/base/assert.h"

enum { FRACTION_STEPS_MAX = 500, HALVINGS = 200 };

#define FRACTION_PRECISION 1e-15
#define TINY               1e-300 /* in the place of a zero that would be divided by */

static double not_zero(double value)
{
    return fabs(value) < TINY ? TINY : value;
}

/* One step of the fraction with this numerator. */
static double lentz(double numerator, double *c, double *d)
{
    *d = 1 / not_zero(1 + numerator * *d);
    *c = not_zero(1 + numerator / *c);
    return *c * *d;
}

static double beta_fraction(double x, double a, double b)
{
    double c = 1;
    double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
    double value = d;
    for (int m = 1; m <= FRACTION_STEPS_MAX; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        value *= lentz(even, &c, &d);
        const double factor = lentz(odd, &c, &d);
        value *= factor;
        if (fabs(factor - 1) < FRACTION_PRECISION) {
            break;
        }
    }
    return value;
}

/* I_x(a, b), given x and 1 - x, each as exact as it can be. */
static double incomplete_beta(double x, double rest, double a, double b)
{
    if (x <= 0) {
        return 0;
    }
    if (rest <= 0) {
        return 1;
    }
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                     : 1 - front * beta_fraction(rest, b, a) / b;
}

double aq_student_t_below(double t, double degrees)
{
    AQ_ASSERT(degrees >= 1);
    const double sum = degrees + t * t;
    const double beyond =
        isinf(sum) ? 0 : 0.5 * incomplete_beta(degrees / sum, t * t / sum, 0.5 * degrees, 0.5);
    return t < 0 ? beyond : 1 - beyond;
}

double aq_student_t_quantile(double probability, double degrees)
{
    AQ_ASSERT(probability > 0);
    AQ_ASSERT(probability < 1);
    double low = -1, high = 1;
    while (aq_student_t_below(low, degrees) > probability) {
        low *= 2;
    }
    while (aq_student_t_below(high, degrees) < probability) {
        high *= 2;
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) {
            break; /* neighbours: no number is between them */
        }
        if (aq_student_t_below(middle, degrees) < probability) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

aq_mean_ci aq_mean_ci_of(const double *values, size_t count)
{
    aq_mean_ci of = {.mean = NAN, .std = NAN, .ci95 = NAN};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i])) {
            of.count++;
            sum += values[i];
        }
    }
    if (of.count == 0) {
        return of;
    }
    of.mean = sum / (double)of.count;
    for (size_t i = 0; i < count && of.count > 1; i++) {
        if (isfinite(values[i])) {
            squares += (values[i] - of.mean) * (values[i] - of.mean);
        }
    }
    if (of.count > 1) {
        const double degrees = (double)(of.count - 1);
        of.std = sqrt(squares / degrees);
        of.ci95 = aq_student_t_quantile(0.975, degrees) * of.std / sqrt((double)of.count);
    }
    return of;
}
