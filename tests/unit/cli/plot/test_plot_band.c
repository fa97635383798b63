/*
 * Bands in closed form: the mean of straight lines is a straight line, and its band that of the
 * runs' values.
 */
#include "cli/plot/plot_band.h"
#include "tests/support/test.h"

/* Student's factor for two degrees of freedom, 95 %. */
#define FACTOR (0.95 / sqrt(2 * 0.975 * 0.025))

static void near(double value, double expected)
{
    assert_near(value, expected, 1e-9 * (1 + fabs(expected)));
}

TEST(three_lines_have_their_mean_and_band)
{
    const struct {
        enum aq_band band;
        double below, above; /* the mean */
    } rows[] = {
        {AQ_BAND_STUDENT, FACTOR * 1.527525231651947, FACTOR * 1.527525231651947},
        {AQ_BAND_STDERR, 1.527525231651947, 1.527525231651947}, /* sqrt(7 / 3) */
        {AQ_BAND_MINMAX, 2, 3},
    };
    double x[] = {0, 100};
    double y[3][2] = {{0, 100}, {1, 101}, {5, 105}};
    const aq_band_curve curves[] = {{x, y[0], 2}, {x, y[1], 2}, {x, y[2], 2}};
    aq_plot_point points[10];
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        assert_int_equal(aq_plot_band(curves, 3, 10, rows[row].band, AQ_BAND_CARRY, points), 10);
        for (size_t i = 1; i + 1 < 10; i++) { /* the first and the last hold a point each */
            near(points[i].x, 5 + 10 * (double)i);
            near(points[i].y, points[i].x + 2);
            near(points[i].high - points[i].y, rows[row].above);
            near(points[i].y - points[i].low, rows[row].below);
        }
        near(points[0].y, 2);
        near(points[9].y, 102);
    }
    assert_int_equal(aq_plot_band(curves, 3, 10, AQ_BAND_NONE, AQ_BAND_CARRY, points), 10);
    assert_true(isnan(points[5].low) && isnan(points[5].high));
}

/* Two of three runs are solved, at a return that no run can pass: Student's interval goes on
 * beyond it, and below what any run had. */
TEST(a_bootstrap_stays_within_what_the_runs_reached)
{
    double x[] = {0, 100}, solved[] = {500, 500}, poor[] = {100, 100};
    const aq_band_curve curves[] = {{x, solved, 2}, {x, solved, 2}, {x, poor, 2}};
    aq_plot_point points[3];
    (void)aq_plot_band(curves, 3, 3, AQ_BAND_STUDENT, AQ_BAND_CARRY, points);
    assert_true(points[1].high > 500 && points[1].low < 100);
    (void)aq_plot_band(curves, 3, 3, AQ_BAND_BOOTSTRAP, AQ_BAND_CARRY, points);
    near(points[1].low, 100);
    near(points[1].high, 500);
    near(points[1].y, 1100.0 / 3);
}

/* Of ten runs that are 0 or 1 at odds, the mean's 95 % interval is half of it, give or take three
 * standard errors of 0.158 at most. */
TEST(a_bootstrap_is_the_interval_of_the_mean)
{
    double x[] = {0}, y[] = {0, 1};
    aq_band_curve curves[10];
    aq_plot_point point;
    for (size_t i = 0; i < 10; i++) {
        curves[i] = (aq_band_curve){x, &y[i % 2], 1};
    }
    assert_int_equal(aq_plot_band(curves, 10, 4, AQ_BAND_BOOTSTRAP, AQ_BAND_CARRY, &point), 1);
    assert_near(point.low, 0.2, 1e-9);
    assert_near(point.high, 0.8, 1e-9);
}

TEST(points_in_a_cell_count_with_their_mean)
{
    double x[] = {0, 1, 2, 3, 4}, y[] = {10, 20, 30, 40, 80};
    const aq_band_curve curve = {x, y, 5};
    aq_plot_point points[2];
    assert_int_equal(aq_plot_band(&curve, 1, 2, AQ_BAND_STUDENT, AQ_BAND_CARRY, points), 2);
    near(points[0].y, 15);
    near(points[1].y, 50);
    assert_true(isnan(points[0].low));
}

TEST(a_run_that_has_ended_is_carried_on_or_the_line_is_cut)
{
    double x_long[] = {0, 50, 100}, y_long[] = {0, 0, 0};
    double x_short[] = {0, 50}, y_short[] = {10, 10};
    const aq_band_curve two[] = {{x_long, y_long, 3}, {x_short, y_short, 2}};
    aq_plot_point points[4];
    assert_int_equal(aq_plot_band_ended(two, 2, 4), 1);
    assert_int_equal(aq_plot_band(two, 2, 4, AQ_BAND_MINMAX, AQ_BAND_CARRY, points), 4);
    near(points[1].y, 5);
    near(points[3].x, 87.5);
    near(points[3].y, 5); /* and not 0, the mean of those that are left */
    near(points[3].high, 10);
    assert_int_equal(aq_plot_band(two, 2, 4, AQ_BAND_MINMAX, AQ_BAND_CUT, points), 4);
    near(points[3].x, 43.75);
    near(points[3].y, 5);
}

TEST(a_line_begins_where_all_runs_have_begun)
{
    double x_early[] = {0, 100}, x_late[] = {40, 100}, y[] = {0, 10};
    const aq_band_curve two[] = {{x_early, y, 2}, {x_late, y, 2}};
    aq_plot_point points[3];
    assert_int_equal(aq_plot_band(two, 2, 3, AQ_BAND_NONE, AQ_BAND_CARRY, points), 3);
    near(points[0].x, 50);
    near(points[0].y, 2.5); /* 5 on the way from 0, and 0 where the other begins */
}

TEST(runs_with_nothing_in_common_have_no_line_to_cut)
{
    double x_first[] = {0, 10}, x_second[] = {20, 30}, y[] = {1, 3};
    const aq_band_curve two[] = {{x_first, y, 2}, {x_second, y, 2}};
    aq_plot_point points[4];
    assert_int_equal(aq_plot_band(two, 2, 4, AQ_BAND_NONE, AQ_BAND_CUT, points), 0);
    assert_int_equal(aq_plot_band(two, 2, 4, AQ_BAND_NONE, AQ_BAND_CARRY, points), 4);
    near(points[3].y, 3);
}

TEST(a_run_without_points_is_not_there)
{
    double x[] = {3, 3}, y[] = {1, 3};
    const aq_band_curve curves[] = {{NULL, NULL, 0}, {x, y, 2}};
    aq_plot_point points[8];
    assert_int_equal(aq_plot_band(curves, 1, 8, AQ_BAND_STUDENT, AQ_BAND_CARRY, points), 0);
    assert_int_equal(aq_plot_band(curves, 1, 8, AQ_BAND_STUDENT, AQ_BAND_CUT, points), 0);
    assert_int_equal(aq_plot_band(curves, 2, 8, AQ_BAND_STUDENT, AQ_BAND_CARRY, points), 1);
    near(points[0].x, 3);
    near(points[0].y, 2);
}

TEST(a_smoothed_curve_has_the_values_that_there_are)
{
    aq_series_point points[12];
    const aq_run_series series = {.points = points, .count = 12};
    aq_band_curve curve;
    for (size_t i = 0; i < 12; i++) {
        points[i] = (aq_series_point){.env_steps = 10.0 * (double)i, .value = (double)i};
    }
    assert_int_equal(aq_band_curve_of(&series, AQ_PLOT_X_ENV_STEPS, 1, &curve), 0);
    assert_true(curve.y[11] == 11);
    aq_band_curve_fini(&curve);
    assert_int_equal(aq_band_curve_of(&series, AQ_PLOT_X_ENV_STEPS, 10, &curve), 0);
    assert_true(curve.y[0] == 0.0);
    assert_true(curve.y[1] == 0.5);
    assert_true(curve.y[9] == 4.5);
    assert_true(curve.y[11] == 6.5);
    assert_true(curve.x[11] == 110);
    aq_band_curve_fini(&curve);
}
