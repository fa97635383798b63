/*
 * Clocks run forward, in nanoseconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

#include "common/base/clock.h"

static void test_the_monotonic_clock_never_goes_back(void **state)
{
    int64_t last = aq_clock_monotonic_ns();

    (void)state;
    for (int i = 0; i < 1000; i++) {
        int64_t now = aq_clock_monotonic_ns();

        assert_true(now >= last);
        last = now;
    }
}

static void test_the_wall_clock_is_the_time_of_day(void **state)
{
    int64_t before_s = (int64_t)time(NULL);
    int64_t now_ns = aq_clock_wall_ns();

    (void)state;
    /* time() may come from a coarser clock that lags by a tick. */
    assert_true(now_ns / AQ_NS_PER_S >= before_s);
    assert_true(now_ns / AQ_NS_PER_S <= (int64_t)time(NULL) + 1);
}

static void test_work_costs_processor_time(void **state)
{
    int64_t start_ns = aq_clock_cpu_ns();
    int64_t deadline_ns = aq_clock_monotonic_ns() + 10 * AQ_NS_PER_S;

    (void)state;
    while (aq_clock_cpu_ns() == start_ns) {
        assert_true(aq_clock_monotonic_ns() < deadline_ns);
    }
    assert_true(aq_clock_cpu_ns() > start_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_monotonic_clock_never_goes_back),
        cmocka_unit_test(test_the_wall_clock_is_the_time_of_day),
        cmocka_unit_test(test_work_costs_processor_time),
    };

    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
