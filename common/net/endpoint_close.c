/*
 * Closing a socket of NNG, in bounded time.
 *
 * NNG has one thread that ends connections, for the whole process. What is known to hold it up for
 * good is mended in nng_mend.c; but a close that waits for it must not be able to hang a daemon. So
 * a thread of ours closes, and our waiting ends after a while; what NNG may still touch is left in
 * memory then, and aq_net_is_stuck says so.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/endpoint.h"

enum { CLOSE_TIMEOUT_MS = 5000 };

static atomic_bool stuck; /* process-wide, as NNG's threads are */

/* Shared by the closing thread and the one that waits for it; the later of the two frees it. */
typedef struct closing {
    nng_socket socket;
    pthread_mutex_t mutex;
    pthread_cond_t done_condition;
    bool done;
    bool abandoned;
} closing;

static void lock(closing *job)
{
    int rc = pthread_mutex_lock(&job->mutex);

    AQ_ASSERT(rc == 0);
}

static void unlock(closing *job)
{
    int rc = pthread_mutex_unlock(&job->mutex);

    AQ_ASSERT(rc == 0);
}

static void destroy_job(closing *job)
{
    if (job == NULL) {
        return;
    }
    pthread_cond_destroy(&job->done_condition);
    pthread_mutex_destroy(&job->mutex);
    aq_free(job);
}

static closing *create_job(nng_socket socket)
{
    closing *job = aq_alloc(1, sizeof(*job));
    pthread_condattr_t attributes;

    if (job == NULL) {
        return NULL;
    }
    job->socket = socket;
    if (pthread_condattr_init(&attributes) != 0) {
        aq_free(job);
        return NULL;
    }
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (pthread_cond_init(&job->done_condition, &attributes) != 0) {
        pthread_condattr_destroy(&attributes);
        aq_free(job);
        return NULL;
    }
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&job->mutex, NULL);
    return job;
}

static void *close_socket(void *user)
{
    closing *job = user;
    bool abandoned;

    nng_close(job->socket);
    lock(job);
    job->done = true;
    abandoned = job->abandoned;
    pthread_cond_signal(&job->done_condition);
    unlock(job);
    if (abandoned) {
        destroy_job(job);
    }
    return NULL;
}

/* True when the socket was closed in time; else the job is left to its thread. */
static bool wait_closed(closing *job)
{
    int64_t end_ns = aq_clock_monotonic_ns() + CLOSE_TIMEOUT_MS * AQ_NS_PER_MS;
    struct timespec end = {.tv_sec = (time_t)(end_ns / AQ_NS_PER_S),
                           .tv_nsec = (long)(end_ns % AQ_NS_PER_S)};
    bool done;
    int rc = 0;

    lock(job);
    while (!job->done && rc == 0) {
        rc = pthread_cond_timedwait(&job->done_condition, &job->mutex, &end);
    }
    done = job->done;
    job->abandoned = !done;
    unlock(job);
    return done;
}

bool aq_endpoint_close(nng_socket socket)
{
    closing *job;
    pthread_t thread;

    if (aq_net_is_stuck()) { /* it would be in vain */
        return false;
    }
    job = create_job(socket);
    if (job == NULL || pthread_create(&thread, NULL, close_socket, job) != 0) {
        destroy_job(job);
        nng_close(socket);
        return true;
    }
    if (!wait_closed(job)) {
        pthread_detach(thread);
        atomic_store(&stuck, true);
        return false;
    }
    pthread_join(thread, NULL);
    destroy_job(job);
    return true;
}

bool aq_net_is_stuck(void)
{
    return atomic_load(&stuck);
}

void aq_net_fini(void)
{
    if (!aq_net_is_stuck()) {
        nng_fini();
    }
}
