/*
 * Sine and cosine against the C library's in long double, and rows against single calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/rng.h"
#include "envs/classic/sincos.h"

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
    aq_rng rng;
    aq_rng_init(&rng, 17, 0);
    for (int i = 0; i < 200000; i++) {
        check(aq_rng_range(&rng, -limit, limit));
    }
}

static void test_small_angles_are_within_a_unit(void **state)
{
    (void)state;
    check_range(0.3);
    check_range(1e-5);
}

static void test_angles_of_a_turn_are_within_a_unit(void **state)
{
    (void)state;
    check_range(2 * PI);
}

static void test_large_angles_are_within_a_unit(void **state)
{
    (void)state;
    check_range(1000.0);
    check_range(0x1p19);
}

/* Where nearly all of the angle cancels. */
static void test_multiples_of_a_quarter_turn_are_within_a_unit(void **state)
{
    (void)state;
    for (int quarter = 1; quarter < 330000; quarter += 1 + quarter / 100) {
        double angle = quarter * (PI / 2);
        check(angle);
        check(nextafter(angle, INFINITY));
        check(nextafter(angle, 0.0));
        check(-angle);
        check((quarter + 0.5) * (PI / 2));
    }
}

static void test_nought_keeps_its_sign(void **state)
{
    double sine, cosine;
    (void)state;
    aq_sincos(0.0, &sine, &cosine);
    assert_true(sine == 0.0 && cosine == 1.0 && !signbit(sine));
    aq_sincos(1e-300, &sine, &cosine);
    assert_true(sine == 1e-300 && cosine == 1.0);
}

static void test_mirrored_angles_give_mirrored_bits(void **state)
{
    double sine[2], cosine[2];
    aq_rng rng;
    (void)state;
    aq_rng_init(&rng, 3, 0);
    for (int i = 0; i < 1000; i++) {
        double angle = aq_rng_range(&rng, -50.0, 50.0);
        aq_sincos(angle, &sine[0], &cosine[0]);
        aq_sincos(-angle, &sine[1], &cosine[1]);
        assert_true(sine[0] == -sine[1] && cosine[0] == cosine[1]);
    }
}

static void test_angles_past_the_range_are_the_librarys(void **state)
{
    const double angles[] = {0x1.8p19, 1e15, -1e300};
    (void)state;
    for (size_t i = 0; i < sizeof(angles) / sizeof(angles[0]); i++) {
        double sine, cosine;
        aq_sincos(angles[i], &sine, &cosine);
        assert_true(sine == sin(angles[i]) && cosine == cos(angles[i]));
    }
}

static void test_what_is_no_angle_gives_nan(void **state)
{
    const double angles[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    for (size_t i = 0; i < sizeof(angles) / sizeof(angles[0]); i++) {
        double sine, cosine;
        aq_sincos(angles[i], &sine, &cosine);
        assert_true(isnan(sine) && isnan(cosine));
    }
}

static void test_rows_have_the_bits_of_single_calls(void **state)
{
    enum { ROWS = 67, GUARD = 1 };
    double angles[ROWS], sines[ROWS + GUARD], cosines[ROWS + GUARD];
    aq_rng rng;
    (void)state;
    aq_rng_init(&rng, 5, 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_angles_are_within_a_unit),
        cmocka_unit_test(test_angles_of_a_turn_are_within_a_unit),
        cmocka_unit_test(test_large_angles_are_within_a_unit),
        cmocka_unit_test(test_multiples_of_a_quarter_turn_are_within_a_unit),
        cmocka_unit_test(test_nought_keeps_its_sign),
        cmocka_unit_test(test_mirrored_angles_give_mirrored_bits),
        cmocka_unit_test(test_angles_past_the_range_are_the_librarys),
        cmocka_unit_test(test_what_is_no_angle_gives_nan),
        cmocka_unit_test(test_rows_have_the_bits_of_single_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
