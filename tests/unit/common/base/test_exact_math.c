/*
 * The exact functions against those of long double, which have at least eleven bits more. That they
 * give the same bits elsewhere is checked where there is an elsewhere (tests/kernels).
 */
#include "common/base/exact_math.h"
#include "common/base/rng.h"
#include "tests/support/test.h"

#define DRAWS 200000

/* Units in the last place of a double that `got` is off. */
static long double ulps_off(double got, long double exact)
{
    int exponent;
    (void)frexpl(exact, &exponent);
    const int last_place = exponent - 53 > -1074 ? exponent - 53 : -1074;
    return fabsl((long double)got - exact) / ldexpl(1.0L, last_place);
}

static long double softplusl(long double x)
{
    return (x < 0.0L ? 0.0L : x) + log1pl(expl(-fabsl(x)));
}

static double of_all_exponents(aq_rng *rng, double low, double high)
{
    return ldexp(1.0 + aq_rng_uniform(rng), (int)aq_rng_range(rng, low, high));
}

static double of_both_signs(aq_rng *rng, double low, double high)
{
    const double size = of_all_exponents(rng, low, high);
    return aq_rng_below(rng, 2) == 0 ? size : -size;
}

TEST(each_function_is_within_the_error_that_its_header_says)
{
    static const struct function_case {
        const char *name;
        double (*function)(double x);
        long double (*reference)(long double x);
        double (*draw)(aq_rng *rng, double low, double high);
        double low, high;
        long double ulps_max;
    } cases[] = {
        {"exp", aq_exact_exp, expl, aq_rng_range, -745.0, 709.7, 1.0L},
        {"exp of little", aq_exact_exp, expl, of_both_signs, -60.0, 3.0, 1.0L},
        {"log", aq_exact_log, logl, of_all_exponents, -1074.0, 1023.0, 1.0L},
        {"log around 1", aq_exact_log, logl, aq_rng_range, 0.5, 2.0, 1.0L},
        {"tanh", aq_exact_tanh, tanhl, aq_rng_range, -3.0, 3.0, 2.5L},
        {"tanh of little", aq_exact_tanh, tanhl, of_both_signs, -1000.0, 5.0, 2.5L},
        {"softplus", aq_exact_softplus, softplusl, aq_rng_range, -700.0, 700.0, 1.9L},
        {"softplus around 0", aq_exact_softplus, softplusl, of_both_signs, -60.0, 6.0, 1.9L},
    };
    aq_rng rng = rng_of(1, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct function_case *at = &cases[i];
        long double worst = 0.0L;
        for (size_t draw = 0; draw < DRAWS; draw++) {
            const double x = at->draw(&rng, at->low, at->high);
            const long double off = ulps_off(at->function(x), at->reference(x));
            worst = off > worst ? off : worst;
        }
        print_message("%s: %.2Lf units in the last place\n", at->name, worst);
        assert_true(worst <= at->ulps_max);
    }
}

TEST(special_values_are_those_of_the_c_library)
{
    static const struct special_case {
        double (*function)(double x), (*reference)(double x);
        double x;
    } cases[] = {
        {aq_exact_exp, exp, 0.0},        {aq_exact_exp, exp, INFINITY},
        {aq_exact_exp, exp, -INFINITY},  {aq_exact_exp, exp, 709.79},
        {aq_exact_exp, exp, 1e300},      {aq_exact_exp, exp, -746.5},
        {aq_exact_exp, exp, -745.0},     {aq_exact_log, log, 1.0},
        {aq_exact_log, log, 0.0},        {aq_exact_log, log, INFINITY},
        {aq_exact_log, log, 0x1p-1074},  {aq_exact_log, log, 0x1p1023},
        {aq_exact_tanh, tanh, 0.0},      {aq_exact_tanh, tanh, -0.0},
        {aq_exact_tanh, tanh, INFINITY}, {aq_exact_tanh, tanh, -INFINITY},
        {aq_exact_tanh, tanh, -21.0},    {aq_exact_tanh, tanh, 0x1p-1074},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const double got = cases[i].function(cases[i].x);
        const double expected = cases[i].reference(cases[i].x);
        assert_memory_equal(&got, &expected, sizeof(got));
    }
    assert_true(isnan(aq_exact_log(-1.0)) && isnan(aq_exact_log(-INFINITY)));
    assert_true(isnan(aq_exact_exp(NAN)) && isnan(aq_exact_log(NAN)));
    assert_true(isnan(aq_exact_tanh(NAN)) && isnan(aq_exact_softplus(NAN)));
    assert_true(aq_exact_softplus(INFINITY) == INFINITY && aq_exact_softplus(-INFINITY) == 0.0);
}

/* The quarter of the turn that is nearest is taken off as an integer, else the angles near the
 * cosine's zeros would be as inexact as pi. */
static long double normal_of(uint64_t a, uint64_t b)
{
    const long double u = ((long double)(a >> 11) + 1.0L) * 0x1p-53L;
    const uint64_t quarter = ((b >> 11) + (UINT64_C(1) << 50)) >> 51;
    const long double left = (long double)((int64_t)(b >> 11) - (int64_t)(quarter << 51));
    const long double angle = left * (6.283185307179586476925286766559L * 0x1p-53L);
    const long double radius = sqrtl(-2.0L * logl(u));
    const long double sign = quarter % 4 == 1 || quarter % 4 == 2 ? -1.0L : 1.0L;
    return sign * radius * (quarter % 2 == 0 ? cosl(angle) : sinl(angle));
}

TEST(normal_numbers_are_box_and_mullers)
{
    long double worst = 0.0L;
    aq_rng rng = rng_of(2, 0);
    for (size_t draw = 0; draw < DRAWS; draw++) {
        /* also angles near the axes, and radii near their ends */
        const uint64_t a = aq_rng_next(&rng) >> aq_rng_below(&rng, 53);
        const uint64_t b =
            (aq_rng_next(&rng) >> aq_rng_below(&rng, 50)) + (aq_rng_next(&rng) << 61);
        const uint64_t flipped = aq_rng_below(&rng, 2) == 0 ? a : ~a;
        const long double off = ulps_off(aq_exact_normal(flipped, b), normal_of(flipped, b));
        worst = off > worst ? off : worst;
    }
    print_message("normal: %.2Lf units in the last place\n", worst);
    assert_true(worst <= 3.2L);
}

TEST(normal_numbers_end_where_the_bits_do)
{
    assert_true(aq_exact_normal(UINT64_MAX, 0) == 0.0);
    assert_true(aq_exact_normal(0, 0) > 8.57 && aq_exact_normal(0, 0) < 8.6);
    assert_true(aq_exact_normal(0, UINT64_C(1) << 63) == -aq_exact_normal(0, 0));
    assert_true(aq_exact_normal(0, UINT64_C(1) << 62) == 0.0);
}

/* The bounds are about six standard errors of a fixed seed. */
TEST(normal_numbers_have_the_moments_of_one)
{
    double sums[4] = {0};
    aq_rng rng = rng_of(3, 0);
    for (size_t draw = 0; draw < DRAWS; draw++) {
        const uint64_t a = aq_rng_next(&rng);
        const double value = aq_exact_normal(a, aq_rng_next(&rng));
        double power = 1.0;
        for (size_t i = 0; i < 4; i++) {
            power *= value;
            sums[i] += power / DRAWS;
        }
    }
    assert_true(fabs(sums[0]) < 0.014 && fabs(sums[1] - 1.0) < 0.02);
    assert_true(fabs(sums[2]) < 0.06 && fabs(sums[3] - 3.0) < 0.14);
}
