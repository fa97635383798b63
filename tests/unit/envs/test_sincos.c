/*
 * Sine and cosine against the C library's in long double, and rows against single calls.
 */
#include <float.h>

#include "envs/classic/sincos.h"
#include "tests/support/test.h"

#define PI 3.141592653589793

/* Where the long double is a double, the reference itself is wrong by up to half a unit. */
static const double units_allowed = LDBL_MANT_DIG > DBL_MANT_DIG ? 0.8 : 1.5;

static double units_off(double ours, long double true_value)
{
    const double rounded = fabs((double)true_value);
    return (double)(fabsl((long double)ours - true_value) /
                    (long double)(nextafter(rounded, INFINITY) - rounded));
}

static void check(double angle)
{
    double sine, cosine;
    aq_sincos(angle, &sine, &cosine);
    assert_true(units_off(sine, sinl((long double)angle)) <= units_allowed);
    assert_true(units_off(cosine, cosl((long double)angle)) <= units_allowed);
}

static void check_range(double limit)
{
    aq_rng rng = rng_of(17, 0);
    for (int i = 0; i < 200000; i++) {
        check(aq_rng_range(&rng, -limit, limit));
    }
}

TEST(small_angles_are_within_a_unit)
{
    check_range(0.3);
    check_range(1e-5);
}

TEST(angles_of_a_turn_are_within_a_unit)
{
    check_range(2 * PI);
}

TEST(large_angles_are_within_a_unit)
{
    check_range(1000.0);
    check_range(0x1p19);
}

/* Where nearly all of the angle cancels. */
TEST(multiples_of_a_quarter_turn_are_within_a_unit)
{
    for (int quarter = 1; quarter < 330000; quarter += 1 + quarter / 100) {
        double angle = quarter * (PI / 2);
        check(angle);
        check(nextafter(angle, INFINITY));
        check(nextafter(angle, 0.0));
        check(-angle);
        check((quarter + 0.5) * (PI / 2));
    }
}

TEST(nought_keeps_its_sign)
{
    double sine, cosine;
    aq_sincos(0.0, &sine, &cosine);
    assert_true(sine == 0.0 && cosine == 1.0 && !signbit(sine));
    aq_sincos(1e-300, &sine, &cosine);
    assert_true(sine == 1e-300 && cosine == 1.0);
}

TEST(mirrored_angles_give_mirrored_bits)
{
    double sine[2], cosine[2];
    aq_rng rng = rng_of(3, 0);
    for (int i = 0; i < 1000; i++) {
        double angle = aq_rng_range(&rng, -50.0, 50.0);
        aq_sincos(angle, &sine[0], &cosine[0]);
        aq_sincos(-angle, &sine[1], &cosine[1]);
        assert_true(sine[0] == -sine[1] && cosine[0] == cosine[1]);
    }
}

TEST(angles_past_the_range_are_the_librarys)
{
    const double angles[] = {0x1.8p19, 1e15, -1e300};
    for (size_t i = 0; i < sizeof(angles) / sizeof(angles[0]); i++) {
        double sine, cosine;
        aq_sincos(angles[i], &sine, &cosine);
        assert_true(sine == sin(angles[i]) && cosine == cos(angles[i]));
    }
}

TEST(what_is_no_angle_gives_nan)
{
    const double angles[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof(angles) / sizeof(angles[0]); i++) {
        double sine, cosine;
        aq_sincos(angles[i], &sine, &cosine);
        assert_true(isnan(sine) && isnan(cosine));
    }
}

TEST(rows_have_the_bits_of_single_calls)
{
    enum { ROWS = 67, GUARD = 1 };
    double angles[ROWS], sines[ROWS + GUARD], cosines[ROWS + GUARD];
    aq_rng rng = rng_of(5, 0);
    for (size_t count = 0; count <= ROWS; count++) {
        for (size_t i = 0; i < count; i++) {
            angles[i] = i % 13 == 12 ? 1e7 : aq_rng_range(&rng, -100.0, 100.0);
        }
        sines[count] = cosines[count] = 7.0;
        aq_sincos_rows(angles, count, sines, cosines);
        assert_true(sines[count] == 7.0 && cosines[count] == 7.0);
        for (size_t i = 0; i < count; i++) {
            double sine, cosine;
            aq_sincos(angles[i], &sine, &cosine);
            assert_memory_equal(&sine, &sines[i], sizeof(sine));
            assert_memory_equal(&cosine, &cosines[i], sizeof(cosine));
        }
    }
}
