/*
 * Student's t against its closed forms: the arctangent for one degree of freedom, an algebraic one
 * for two, and the normal distribution for many.
 */
#include "common/base/student_t.h"
#include "tests/support/test.h"

#define PI 3.14159265358979323846

static const double points[] = {-40, -3, -1, -0.25, 0, 0.5, 1, 2.5, 12.706, 300};

enum { POINTS = sizeof(points) / sizeof(points[0]) };

TEST(one_degree_is_an_arctangent)
{
    for (int i = 0; i < POINTS; i++) {
        assert_near(aq_student_t_below(points[i], 1), 0.5 + atan(points[i]) / PI, 1e-13);
    }
}

TEST(two_degrees_are_algebraic)
{
    for (int i = 0; i < POINTS; i++) {
        const double t = points[i];
        assert_near(aq_student_t_below(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-13);
    }
}

TEST(four_degrees_are_algebraic)
{
    for (int i = 0; i < POINTS; i++) {
        const double t = points[i], share = t * t / (4 + t * t);
        const double closed = 0.5 + 3.0 / 8 * t / sqrt(1 + t * t / 4) * (1 - share / 3);
        assert_near(aq_student_t_below(t, 4), closed, 1e-13);
    }
}

TEST(many_degrees_are_nearly_normal)
{
    for (int i = 0; i < POINTS; i++) {
        assert_near(aq_student_t_below(points[i], 1e7), 0.5 * erfc(-points[i] / sqrt(2)), 1e-7);
    }
}

TEST(the_quantile_is_the_inverse)
{
    static const double degrees[] = {1, 2, 3, 7, 30, 1000};
    static const double chances[] = {0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9999};
    for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++) {
        for (size_t j = 0; j < sizeof(chances) / sizeof(chances[0]); j++) {
            const double t = aq_student_t_quantile(chances[j], degrees[i]);
            assert_near(aq_student_t_below(t, degrees[i]), chances[j], 1e-13);
        }
    }
    assert_near(aq_student_t_quantile(0.975, 1), tan(0.475 * PI), 1e-10);
    assert_near(aq_student_t_quantile(0.975, 2), 0.95 / sqrt(2 * 0.975 * 0.025), 1e-12);
}

TEST(three_runs_have_an_interval_in_closed_form)
{
    const double values[] = {1, 2, 6};
    const aq_mean_ci of = aq_mean_ci_of(values, 3);
    assert_int_equal(of.count, 3);
    assert_near(of.mean, 3, 0);
    assert_near(of.std, sqrt(7), 1e-15);
    assert_near(of.ci95, 0.95 / sqrt(2 * 0.975 * 0.025) * sqrt(7.0 / 3), 1e-12);
}

TEST(one_run_has_a_mean_and_no_interval)
{
    const double value = 5;
    const aq_mean_ci of = aq_mean_ci_of(&value, 1);
    assert_near(of.mean, 5, 0);
    assert_true(isnan(of.std));
    assert_true(isnan(of.ci95));
}

TEST(what_is_not_finite_is_left_out)
{
    const double values[] = {NAN, 4, INFINITY, 4};
    const aq_mean_ci of = aq_mean_ci_of(values, 4);
    assert_int_equal(of.count, 2);
    assert_near(of.mean, 4, 0);
    assert_near(of.ci95, 0, 0);
    assert_true(isnan(aq_mean_ci_of(values, 1).mean));
}
