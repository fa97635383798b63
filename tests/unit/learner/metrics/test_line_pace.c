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
