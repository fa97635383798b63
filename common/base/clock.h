/*
 * Clocks. Only shells read them; cores are handed the time in nanoseconds.
 */
#ifndef AQ_COMMON_BASE_CLOCK_H
#define AQ_COMMON_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define AQ_NS_PER_US INT64_C(1000)
#define AQ_NS_PER_MS INT64_C(1000000)
#define AQ_NS_PER_S  INT64_C(1000000000)

static inline double aq_ns_to_s(int64_t ns)
{
    return (double)ns / (double)AQ_NS_PER_S;
}

static inline struct timespec aq_clock_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / AQ_NS_PER_S),
                             .tv_nsec = (long)(ns % AQ_NS_PER_S)};
}

static inline int64_t aq_earlier_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t aq_clock_monotonic_ns(void);
int64_t aq_clock_wall_ns(void);   /* since 1970, UTC */
int64_t aq_clock_cpu_ns(void);    /* processor time of this process */
int64_t aq_clock_thread_ns(void); /* and of this thread */

/* Sleeps until the monotonic clock is there; not at all when it is. Not on an event loop. */
void aq_clock_wait_until(int64_t monotonic_ns);

#endif
