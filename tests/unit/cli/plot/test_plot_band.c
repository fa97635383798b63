/*
 * Bands in closed form: the mean of straight lines is a straight line, and its interval that of the
 * runs' values.
 */
#include <math.h>

#include "cli/plot/plot_band.h"
#include "tests/support/test.h"

/* Student's factor for two degrees of freedom, 95 %. */
#define FACTOR (0.95 / sqrt(2 * 0.975 * 0.025))

static void near(double value, double expected)
{
    assert_near(value, expected, 1e-9 * (1 + fabs(expected)));
}

TEST(three_lines_have_their_mean_and_interval)
{
    const double x[] = {0, 100};
    const double y[3][2] = {{0, 100}, {1, 101}, {5, 105}};
    const aq_band_curve curves[] = {{x, y[0], 2}, {x, y[1], 2}, {x, y[2], 2}};
    aq_plot_point points[10];
    const size_t count = aq_plot_band(curves, 3, 10, points);
    assert_int_equal(count, 10);
    for (size_t i = 1; i + 1 < count; i++) { /* the first and the last hold a point each */
        near(points[i].x, 5 + 10 * (double)i);
        near(points[i].y, points[i].x + 2);
        near(points[i].high - points[i].y, FACTOR * sqrt(7.0 / 3));
        near(points[i].y - points[i].low, FACTOR * sqrt(7.0 / 3));
    }
    near(points[0].y, 2);
    near(points[9].y, 102);
}

TEST(points_in_a_cell_count_with_their_mean)
{
    const double x[] = {0, 1, 2, 3, 4}, y[] = {10, 20, 30, 40, 80};
    const aq_band_curve curve = {x, y, 5};
    aq_plot_point points[2];
    assert_int_equal(aq_plot_band(&curve, 1, 2, points), 2);
    near(points[0].y, 15);
    near(points[1].y, 50);
    assert_true(isnan(points[0].low));
}

TEST(a_run_that_has_ended_counts_no_more)
{
    const double x_long[] = {0, 50, 100}, y_long[] = {0, 0, 0};
    const double x_short[] = {0, 50}, y_short[] = {10, 10};
    const aq_band_curve two[] = {{x_long, y_long, 3}, {x_short, y_short, 2}};
    const aq_band_curve three[] = {
        {x_long, y_long, 3}, {x_short, y_short, 2}, {x_short, y_short, 2}};
    aq_plot_point points[4];
    assert_int_equal(aq_plot_band(two, 2, 4, points), 4);
    near(points[1].y, 5);
    near(points[3].y, 0);
    assert_true(isnan(points[3].high));
    /* One of three is less than half: the line ends. */
    assert_int_equal(aq_plot_band(three, 3, 4, points), 3);
    near(points[2].x, 62.5);
}

TEST(a_run_without_points_is_not_there)
{
    const double x[] = {3, 3}, y[] = {1, 3};
    const aq_band_curve curves[] = {{NULL, NULL, 0}, {x, y, 2}};
    aq_plot_point points[8];
    assert_int_equal(aq_plot_band(curves, 1, 8, points), 0);
    assert_int_equal(aq_plot_band(curves, 2, 8, points), 1);
    near(points[0].x, 3);
    near(points[0].y, 2);
}
