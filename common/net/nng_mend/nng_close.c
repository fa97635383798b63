/*
 * Closing a socket of NNG, in bounded time.
 *
 * NNG has one thread that ends connections, for the whole process, and for each of them it waits
 * for another thread. On a machine with far too much to do that takes long: who dials a peer that
 * is gone makes connections faster than they are ended. And what is known to hold the thread up for
 * good is mended in nng_mend.c, but more may not be known. A close must not be able to hang a
 * daemon. So a thread of ours closes, and our waiting ends after a while; the thread goes on, and
 * what NNG may still touch is left in memory. While one closing is late nobody waits for others:
 * they would be late as well. When none comes to its end for long, NNG is stuck.
 */
#include "common/net/nng_mend/nng_close.h"

#include <pthread.h>

#include "common/base/clock.h"
#include "common/base/condition.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"

enum { LATE_MS = 5000, STUCK_MS = 30000 };

/* Process-wide, as NNG's threads are. */
static pthread_mutex_t late_mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned late_count;   /* closings that nobody waits for any more */
static int64_t late_since_ns; /* the first of them, or when one of them ended */

/* Shared by the closing thread and the one that waits for it; the later of the two frees it. */
typedef struct closing {
    nng_socket socket;
    pthread_mutex_t mutex;
    pthread_cond_t done_condition;
    bool done;
    bool abandoned;
} closing;

static void begin_late(void)
{
    aq_mutex_lock(&late_mutex);
    if (late_count++ == 0) {
        late_since_ns = aq_clock_monotonic_ns();
    }
    aq_mutex_unlock(&late_mutex);
}

static void end_late(void)
{
    aq_mutex_lock(&late_mutex);
    late_count--;
    late_since_ns = aq_clock_monotonic_ns();
    aq_mutex_unlock(&late_mutex);
}

unsigned aq_net_unclosed(void)
{
    aq_mutex_lock(&late_mutex);
    unsigned count = late_count;
    aq_mutex_unlock(&late_mutex);
    return count;
}

bool aq_net_is_stuck(void)
{
    const int64_t now_ns = aq_clock_monotonic_ns();
    aq_mutex_lock(&late_mutex);
    bool stuck = late_count > 0 && now_ns - late_since_ns >= STUCK_MS * AQ_NS_PER_MS;
    aq_mutex_unlock(&late_mutex);
    return stuck;
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

    if (job == NULL) {
        return NULL;
    }
    job->socket = socket;
    if (aq_condition_init(&job->done_condition) != 0) {
        aq_free(job);
        return NULL;
    }
    pthread_mutex_init(&job->mutex, NULL);
    return job;
}

static void *close_socket(void *user)
{
    closing *job = user;

    nng_close(job->socket);
    aq_mutex_lock(&job->mutex);
    job->done = true;
    bool abandoned = job->abandoned;
    pthread_cond_signal(&job->done_condition);
    aq_mutex_unlock(&job->mutex);
    if (abandoned) {
        destroy_job(job);
        end_late();
    }
    return NULL;
}

/* True when the socket was closed in time; else the job is left to its thread. */
static bool wait_closed(closing *job)
{
    const int64_t wait_ms = aq_net_unclosed() > 0 ? 0 : LATE_MS;
    const int64_t end_ns = aq_clock_monotonic_ns() + wait_ms * AQ_NS_PER_MS;

    aq_mutex_lock(&job->mutex);
    while (!job->done && aq_condition_wait(&job->done_condition, &job->mutex, end_ns)) {
    }
    bool done = job->done;
    if (!done) {
        job->abandoned = true;
        begin_late();
    }
    aq_mutex_unlock(&job->mutex);
    return done;
}

bool aq_nng_close(nng_socket socket)
{
    closing *job = create_job(socket);
    pthread_t thread;

    if (job == NULL || pthread_create(&thread, NULL, close_socket, job) != 0) {
        destroy_job(job);
        nng_close(socket);
        return true;
    }
    if (!wait_closed(job)) {
        pthread_detach(thread);
        return false;
    }
    pthread_join(thread, NULL);
    destroy_job(job);
    return true;
}
