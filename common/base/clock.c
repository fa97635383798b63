/*
 * Clocks, from clock_gettime. Any thread.
 *
 * clock_gettime can only fail for a clock that does not exist, and these four are required on
 * every system we build for, so a failure is an assertion and callers need no error path.
 */
#include "common/base/clock.h"

#include <errno.h>

#include "common/base/assert.h"

static int64_t read_ns(clockid_t clock_id)
{
    struct timespec now;
    int rc = clock_gettime(clock_id, &now);

    AQ_ASSERT(rc == 0);
    return (int64_t)now.tv_sec * AQ_NS_PER_S + now.tv_nsec;
}

int64_t aq_clock_monotonic_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t aq_clock_wall_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t aq_clock_cpu_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t aq_clock_thread_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

void aq_clock_wait_until(int64_t monotonic_ns)
{
    if (monotonic_ns <= 0 || monotonic_ns <= aq_clock_monotonic_ns()) {
        return;
    }
    const struct timespec until = aq_clock_timespec(monotonic_ns);
    int rc;
    do {
        rc = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    } while (rc == EINTR);
    AQ_ASSERT(rc == 0);
}
