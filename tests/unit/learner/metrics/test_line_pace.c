/*
 * How many lines runs of other lengths have.
 */
#include "learner/metrics/line_pace.h"
#include "tests/support/test.h"

/* Of what happens a thousand times a second, from the end of the start on. */
static unsigned lines(double seconds)
{
    aq_line_pace pace = {0};
    unsigned count = 0;
    for (unsigned i = 0; i < 1000 * seconds; i++) {
        count += aq_line_pace_take(&pace, 0.2 + i * 1e-3);
    }
    return count;
}

TEST(a_short_run_has_a_curve_and_a_long_one_no_more_than_ten_lines_a_second)
{
    assert_in_range(lines(0.3), 40, 50);
    assert_in_range(lines(5), 150, 170);
    assert_in_range(lines(100) - lines(50), 490, 500);
}

/* Of what is told each second of so many hours. */
static unsigned lines_of_hours(unsigned hours)
{
    aq_line_pace pace = {0};
    unsigned count = 0;
    for (unsigned i = 0; i < 3600 * hours; i++) {
        if (aq_line_pace_is_due(&pace, i + (i % 2) * 0.01)) {
            aq_line_pace_of_seconds(&pace, i + (i % 2) * 0.01);
            count++;
        }
    }
    return count;
}

TEST(an_hour_has_all_its_seconds_and_a_week_no_more_than_six_hours)
{
    assert_int_equal(lines_of_hours(1), 3600);
    assert_in_range(lines_of_hours(2), 5400, 7200);
    assert_in_range(lines_of_hours(24), 14000, 16000);
    assert_in_range(lines_of_hours(24 * 7), 20000, 22500);
}

TEST(what_happens_ever_so_often_gets_fewer_lines_as_well)
{
    aq_line_pace pace = {0};
    unsigned young = 0, old = 0;
    for (unsigned i = 0; i < 360000; i++) {
        young += aq_line_pace_take(&pace, 3000 + i * 1e-3);
    }
    for (unsigned i = 0; i < 360000; i++) {
        old += aq_line_pace_take(&pace, 36000 + i * 1e-3);
    }
    assert_in_range(young, 3550, 3600);
    assert_in_range(old, 350, 361);
}
