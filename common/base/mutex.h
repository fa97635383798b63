/*
 * Taking a mutex and giving it back, which nothing but a fault of ours can make fail.
 */
#ifndef AQ_COMMON_BASE_MUTEX_H
#define AQ_COMMON_BASE_MUTEX_H

#include <pthread.h>

#include "common/base/assert.h"

static inline void aq_mutex_lock(pthread_mutex_t *mutex)
{
    int rc = pthread_mutex_lock(mutex);
    AQ_ASSERT(rc == 0);
}

static inline void aq_mutex_unlock(pthread_mutex_t *mutex)
{
    int rc = pthread_mutex_unlock(mutex);
    AQ_ASSERT(rc == 0);
}

#endif
