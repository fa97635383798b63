/*
 * Clocks run forward, in nanoseconds.
 */
#include <time.h>

#include "tests/support/test.h"

TEST(the_monotonic_clock_never_goes_back)
{
    int64_t last = aq_clock_monotonic_ns();
    for (int i = 0; i < 1000; i++) {
        int64_t now = aq_clock_monotonic_ns();
        assert_true(now >= last);
        last = now;
    }
}

TEST(the_wall_clock_is_the_time_of_day)
{
    int64_t before_s = (int64_t)time(NULL);
    int64_t now_ns = aq_clock_wall_ns();
    /* time() may come from a coarser clock that lags by a tick. */
    assert_true(now_ns / AQ_NS_PER_S >= before_s);
    assert_true(now_ns / AQ_NS_PER_S <= (int64_t)time(NULL) + 1);
}

TEST(work_costs_processor_time)
{
    int64_t start_ns = aq_clock_cpu_ns();
    int64_t deadline_ns = aq_clock_monotonic_ns() + 10 * AQ_NS_PER_S;
    while (aq_clock_cpu_ns() == start_ns) {
        assert_true(aq_clock_monotonic_ns() < deadline_ns);
    }
    assert_true(aq_clock_cpu_ns() > start_ns);
}
