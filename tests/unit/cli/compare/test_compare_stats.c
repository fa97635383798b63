/*
 * Curves of a comparison: running means and crossings, in closed form.
 */
#include "cli/compare/compare_stats.h"
#include "tests/support/test.h"

enum { COUNT = 12 };

/* Values 0, 1, 2 ... at 10 s, 20 s, 30 s ... */
static void make_ramp(aq_curve_point *points)
{
    for (size_t i = 0; i < COUNT; i++) {
        points[i] = (aq_curve_point){
            .wall_s = 10.0 * (double)(i + 1), .env_steps = 100.0 * (double)i, .value = (double)i};
    }
}

TEST(a_running_mean_has_the_values_that_there_are)
{
    aq_curve_point points[COUNT];
    double means[COUNT];
    make_ramp(points);
    aq_stats_running_mean(points, COUNT, means);
    assert_true(means[0] == 0.0);
    assert_true(means[1] == 0.5);
    assert_true(means[9] == 4.5);
    assert_true(means[11] == 6.5);
}

TEST(a_threshold_that_is_never_reached_has_no_crossing)
{
    aq_curve_point points[COUNT];
    make_ramp(points);
    assert_int_equal(aq_stats_running_crossing(points, COUNT, 11.5), COUNT);
    assert_int_equal(aq_stats_running_crossing(points, COUNT, (double)NAN), COUNT);
    assert_int_equal(aq_stats_running_crossing(points, 0, 0), 0);
}

TEST(a_running_crossing_waits_for_a_whole_window)
{
    aq_curve_point points[COUNT];
    make_ramp(points);
    assert_int_equal(aq_stats_running_crossing(points, COUNT, 0), 9);
    assert_int_equal(aq_stats_running_crossing(points, COUNT, 5), 10);
    assert_int_equal(aq_stats_running_crossing(points, COUNT, 6.6), COUNT);
    assert_int_equal(aq_stats_running_crossing(points, 9, 0), 9);
}

TEST(a_single_peak_crosses_nothing_in_the_mean)
{
    aq_curve_point points[COUNT] = {{0}};
    points[3].value = 100;
    assert_int_equal(aq_stats_running_crossing(points, COUNT, 50), COUNT);
}
