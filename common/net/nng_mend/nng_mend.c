/*
 * What stands in for functions that NNG 1.5 calls. The linker prefers a program's own function over
 * a shared library's of the same name, also for calls from within libraries: from within any, so
 * those for the C library's functions look who calls.
 *
 * sendmsg: all that NNG writes to connections with. NNG has one name, ECLOSED, for EPIPE and for
 * its own closing of an endpoint. So when a peer has gone before it was greeted (it was killed, or
 * it was a probe), the listener takes the failed greeting for its own end and never serves another
 * connection, and a dialler never dials again. One connection that is closed at once is enough
 * over ipc; over TCP it must also be reset.
 *
 * nng_stream_send, nng_stream_recv: one step of a transfer. A message takes several: its length,
 * then its body, in as many parts as the kernel makes of it. When the connection is closed between
 * two of them, by us or since the other direction has failed, the next step is refused without a
 * word: the transfer never ends, and NNG's one thread that ends connections waits for it for good.
 * No connection of the process is ended or made anew after that, and no socket can be closed.
 *
 * sysconf: how many processors there are. NNG starts up to three threads for each. On a large host
 * that is more than a container or a unit may have.
 *
 * pthread_create: NNG makes its threads when the first socket is opened, and no others later. Where
 * some but not all of them may be made, it takes back what it has begun: it waits for a lock that
 * it holds itself, or crashes. So the process ends before that, with a line that says why.
 */
#define _GNU_SOURCE /* syscall, pthread_getname_np */

#include "common/net/nng_mend/nng_mend.h"

#include <errno.h>
#include <nng/nng.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/net/nng_mend/stand_in.h"
#include "common/net/nng_mend/tcp_door.h"
#include "common/net/nng_mend/tcp_patience.h"

enum { PROCESSORS_MAX = 16 }; /* NNG has 39 threads then */

typedef void (*stream_fn)(nng_stream *stream, nng_aio *step);

/* Process-wide, written once. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static stream_fn real_send;
static stream_fn real_recv;
static int (*real_create)(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *argument), void *argument);
static bool loses_steps; /* this release of NNG does */

static void find_real(void)
{
    static const char *const ours[] = {
        "accept",          "bind",    "close",         "connect",    "getaddrinfo",
        "getsockopt",      "readv",   "sendmsg",       "setsockopt", "nng_stream_send",
        "nng_stream_recv", "sysconf", "pthread_create"};
    int (*real_close)(int descriptor);

    aq_find_theirs("nng_stream_send", &real_send);
    aq_find_theirs("nng_stream_recv", &real_recv);
    aq_find_theirs("pthread_create", &real_create);
    aq_find_theirs("close", &real_close);
    aq_mend_for("nng_stream_send");
    loses_steps = strncmp(nng_version(), "1.5.", 4) == 0;
    aq_tcp_patience();
    aq_tcp_door_closes_with(real_close);
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        AQ_ASSERT(aq_stands_in(ours[i]));
    }
}

void aq_nng_mend(void)
{
    int rc = pthread_once(&once, find_real);

    AQ_ASSERT(rc == 0);
}

/* ECANCELED is what a step that was refused has for a result, at once, and no other: NNG cancels
 * the steps that were begun with ECLOSED or with what the caller's own limit of time is called. */
static void end_if_refused(nng_aio *step)
{
    if (loses_steps && nng_aio_result(step) == NNG_ECANCELED) {
        nng_aio_finish(step, NNG_ECONNRESET);
    }
}

AQ_STAND_IN void nng_stream_send(nng_stream *stream, nng_aio *step)
{
    aq_nng_mend();
    real_send(stream, step);
    end_if_refused(step);
}

AQ_STAND_IN void nng_stream_recv(nng_stream *stream, nng_aio *step)
{
    aq_nng_mend();
    real_recv(stream, step);
    end_if_refused(step);
}

AQ_STAND_IN ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags)
{
    ssize_t size = syscall(SYS_sendmsg, descriptor, message, flags);

    if (size < 0 && errno == EPIPE && AQ_NNG_CALLS()) {
        errno = ECONNRESET; /* which NNG goes on after */
    }
    return size;
}

/* The C library's own, as it may be called before anything can be looked for. */
long __sysconf(int name);

/* The thread sanitizer calls it before it is ready itself. */
AQ_STAND_IN __attribute__((no_sanitize("thread"))) long sysconf(int name)
{
    long value = __sysconf(name);

    if (name != _SC_NPROCESSORS_ONLN || value <= PROCESSORS_MAX) {
        return value;
    }
    aq_mend_for("nng_stream_send"); /* NNG asks when its first socket is made: before the others */
    return AQ_NNG_CALLS() ? PROCESSORS_MAX : value;
}

/* Libraries make threads of their own before main, too. */
AQ_STAND_IN int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                               void *(*run)(void *argument), void *argument)
{
    aq_nng_mend();
    const int problem = real_create(thread, attributes, run, argument);

    if (problem != 0 && AQ_NNG_CALLS()) {
        char program[16] = "actorq";

        (void)pthread_getname_np(pthread_self(), program, sizeof(program));
        (void)fprintf(stderr, "%s: no threads for NNG: %s\n", program, strerror(problem));
        _exit(EXIT_FAILURE);
    }
    return problem;
}
