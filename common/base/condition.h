/*
 * A condition whose waits end by the monotonic clock: a step of the wall clock must not stretch
 * them. Its mutex is locked as mutex.h does.
 */
#ifndef AQ_COMMON_BASE_CONDITION_H
#define AQ_COMMON_BASE_CONDITION_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/error.h"

/* AQ_E_NOMEM. */
AQ_MUST_USE static inline int aq_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes) != 0) {
        return AQ_E_NOMEM;
    }
    int rc = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (rc == 0) {
        rc = pthread_cond_init(condition, &attributes);
    }
    pthread_condattr_destroy(&attributes);
    return rc == 0 ? 0 : AQ_E_NOMEM;
}

/* Waits, locked, until it is signalled, or for no reason, as conditions do: true. False once the
 * monotonic clock is at `until_ns`; INT64_MAX: never. */
static inline bool aq_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                     int64_t until_ns)
{
    const struct timespec until = aq_clock_timespec(until_ns);
    int rc = until_ns == INT64_MAX ? pthread_cond_wait(condition, mutex)
                                   : pthread_cond_timedwait(condition, mutex, &until);

    AQ_ASSERT(rc == 0 || rc == ETIMEDOUT);
    return rc == 0;
}

#endif
