/*
 * Clocks run forward, in nanoseconds.
 */
#include <pthread.h>
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

static void *work(void *user)
{
    (void)user;
    const int64_t start_ns = aq_clock_thread_ns();
    while (aq_clock_thread_ns() - start_ns < 50 * AQ_NS_PER_MS) {
    }
    return NULL;
}

TEST(what_another_thread_works_costs_this_one_nothing)
{
    pthread_t other;
    const int64_t process_ns = aq_clock_cpu_ns(), thread_ns = aq_clock_thread_ns();
    assert_int_equal(pthread_create(&other, NULL, work, NULL), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_true(aq_clock_cpu_ns() - process_ns >= 50 * AQ_NS_PER_MS);
    assert_true(aq_clock_thread_ns() - thread_ns < 40 * AQ_NS_PER_MS);
}
