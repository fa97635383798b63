/*
 * SUB: an actor's end of the policy broadcast. See pubsub.h.
 *
 * NNG 1.5 breaks when a receive of SUB times out in the moment its message comes: the canceller
 * takes it off a list that it is not on. So no receive ever waits inside NNG: the receiver waits
 * for NNG's descriptor with poll and takes messages without waiting. A pipe of our own wakes it.
 */
#include <errno.h>
#include <fcntl.h>
#include <nng/nng.h>
#include <nng/protocol/pubsub0/sub.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/buffer.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/nng_mend/dial_watch.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/net/security/nng_error.h"
#include "common/net/sockets/endpoint.h"
#include "common/net/sockets/pubsub.h"

struct aq_subscriber {
    nng_socket socket;
    nng_dialer dialer;
    aq_dial_watch watch;
    aq_net_limits limits;
    int readable; /* NNG's descriptor */
    int wake[2];  /* a pipe; a byte in it ends a wait */
    atomic_bool is_stopped;
    char url[AQ_URL_MAX];
};

static int open_wake_pipe(int *ends)
{
    if (pipe(ends) != 0) {
        return aq_error_from_errno(errno);
    }
    for (int i = 0; i < 2; i++) {
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

/* The newest messages, whatever they begin with; when one comes too many the oldest goes. */
static int set_options(aq_subscriber *subscriber)
{
    int rc = nng_socket_set_int(subscriber->socket, NNG_OPT_RECVBUF, AQ_SUBSCRIBER_WAITING);

    if (rc == 0) {
        rc = nng_pipe_notify(subscriber->socket, NNG_PIPE_EV_ADD_POST, aq_endpoint_met, NULL);
    }
    if (rc == 0) {
        rc = nng_socket_set(subscriber->socket, NNG_OPT_SUB_SUBSCRIBE, "", 0);
    }
    if (rc == 0) {
        rc = nng_socket_get_int(subscriber->socket, NNG_OPT_RECVFD, &subscriber->readable);
    }
    return aq_error_from_nng(rc);
}

int aq_subscriber_create(const char *url, const aq_net_limits *limits,
                         aq_subscriber **ret_subscriber, aq_error *error)
{
    aq_subscriber *subscriber = aq_alloc(1, sizeof(*subscriber));

    if (subscriber == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    subscriber->limits = *limits;
    (void)snprintf(subscriber->url, sizeof(subscriber->url), "%s", url);
    int rc = open_wake_pipe(subscriber->wake);
    if (rc < 0) {
        rc = aq_fail(error, rc, "cannot open a pipe: %s", aq_error_text(rc));
        goto fail_pipe;
    }
    rc = aq_error_from_nng(nng_sub0_open(&subscriber->socket));
    if (rc < 0) {
        rc = aq_fail(error, rc, "cannot open a socket for %s: %s", url, aq_error_text(rc));
        goto fail_open;
    }
    rc = set_options(subscriber);
    if (rc < 0) {
        rc = aq_fail(error, rc, "cannot set up a socket for %s: %s", url, aq_error_text(rc));
        goto fail_dial;
    }
    rc = aq_endpoint_dial(subscriber->socket, url, limits, 0, &subscriber->dialer, error);
    if (rc < 0) {
        goto fail_dial;
    }
    *ret_subscriber = subscriber;
    return 0;

fail_dial:
    nng_close(subscriber->socket);
fail_open:
    close(subscriber->wake[0]);
    close(subscriber->wake[1]);
fail_pipe:
    aq_free(subscriber);
    return rc;
}

static void take_wakes(const aq_subscriber *subscriber)
{
    char bytes[64];
    ssize_t count = read(subscriber->wake[0], bytes, sizeof(bytes));

    (void)count; /* what is left wakes once more */
}

/* Waits until there may be a message: 0, AQ_E_TIMEOUT or AQ_E_CLOSED. */
static int wait_readable(const aq_subscriber *subscriber, int64_t deadline_ns)
{
    struct pollfd ready[2] = {{.fd = subscriber->readable, .events = POLLIN},
                              {.fd = subscriber->wake[0], .events = POLLIN}};
    int64_t left_ns = deadline_ns - aq_clock_monotonic_ns();
    int64_t left_ms = left_ns <= 0 ? 0 : (left_ns + AQ_NS_PER_MS - 1) / AQ_NS_PER_MS;

    int count = poll(ready, 2, left_ms > INT32_MAX ? INT32_MAX : (int)left_ms);
    if (count < 0) {
        return errno == EINTR || errno == EAGAIN ? 0 : aq_error_from_errno(errno);
    }
    if (ready[1].revents != 0) {
        take_wakes(subscriber);
    }
    if (atomic_load(&subscriber->is_stopped)) {
        return AQ_E_CLOSED;
    }
    return ready[0].revents != 0 ? 0 : AQ_E_TIMEOUT;
}

/* AQ_E_AGAIN when there was no message after all. */
static int take_message(aq_subscriber *subscriber, aq_buffer *out)
{
    nng_msg *message;
    int rc = nng_recvmsg(subscriber->socket, &message, NNG_FLAG_NONBLOCK);

    if (rc != 0) {
        return aq_error_from_nng(rc);
    }
    rc = AQ_E_AGAIN; /* inproc knows no RECVMAXSZ */
    if (nng_msg_len(message) <= subscriber->limits.message_bytes_max) {
        rc = aq_buffer_append(out, nng_msg_body(message), nng_msg_len(message));
    }
    nng_msg_free(message);
    return rc;
}

static void keep_dialling(aq_subscriber *subscriber)
{
    if (aq_dial_watch_gave_up(&subscriber->watch, subscriber->socket,
                              subscriber->limits.reconnect_max_ms, aq_clock_monotonic_ns())) {
        aq_endpoint_redial(subscriber->socket, subscriber->url, &subscriber->limits, 0,
                           &subscriber->dialer);
    }
}

int aq_subscriber_receive(aq_subscriber *subscriber, int timeout_ms, aq_buffer *out)
{
    int64_t deadline_ns = aq_clock_monotonic_ns() + timeout_ms * AQ_NS_PER_MS;
    int rc;

    AQ_ASSERT(timeout_ms >= 0);
    aq_buffer_clear(out);
    do {
        rc = wait_readable(subscriber, deadline_ns);
        if (rc == 0) {
            rc = take_message(subscriber, out);
        }
    } while (rc == AQ_E_AGAIN);
    if (rc == AQ_E_TIMEOUT) {
        keep_dialling(subscriber);
    }
    return rc;
}

void aq_subscriber_stop(aq_subscriber *subscriber)
{
    atomic_store(&subscriber->is_stopped, true);
    aq_subscriber_wake(subscriber);
}

void aq_subscriber_wake(aq_subscriber *subscriber)
{
    ssize_t written = write(subscriber->wake[1], "", 1);

    (void)written; /* a full pipe wakes as well as one byte */
}

void aq_subscriber_destroy(aq_subscriber *subscriber)
{
    if (subscriber == NULL) {
        return;
    }
    aq_nng_close(subscriber->socket);
    close(subscriber->wake[0]);
    close(subscriber->wake[1]);
    aq_free(subscriber);
}
