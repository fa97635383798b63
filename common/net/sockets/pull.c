/*
 * PULL on the loop: NNG's descriptor is polled and messages are taken on the loop's thread, one
 * after the other. So the order of each connection stays, nothing crosses threads, and what the
 * loop doesn't take stays in its connection. See pull.h; loop thread only, but the last reference
 * to a message may be dropped on any.
 */
#include "common/net/sockets/pull.h"

#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/net/security/nng_error.h"
#include "common/net/sockets/endpoint.h"

/* For so long messages are taken before the loop's other handles get a turn: who waits for an
 * answer of the same loop feels no more of a flood than this and one message. */
#define TURN_NS (AQ_NS_PER_MS / 4)

struct aq_pull {
    nng_socket socket;
    nng_listener listener;
    uv_poll_t readable;
    aq_pull_fn receive;
    void *user;
    size_t message_bytes_max;
    bool closing;
    uint32_t peer_pipe_id; /* whose address `peer` is */
    char peer[AQ_PEER_TEXT_MAX];
    char url[AQ_URL_MAX];
};

/* Messages come in runs from one connection: its address is asked for once per run. */
static void learn_peer(aq_pull *pull, nng_pipe pipe)
{
    uint32_t id = (uint32_t)nng_pipe_id(pipe);
    int rc;

    if (id == pull->peer_pipe_id) {
        return;
    }
    if (aq_endpoint_peer(pipe, pull->peer) < 0) {
        rc = aq_text_set(pull->peer, sizeof(pull->peer), "unknown");
        AQ_ASSERT(rc == 0);
    }
    pull->peer_pipe_id = id;
}

/* A message of NNG's, kept for as long as somebody reads it. */
typedef struct message_lease {
    aq_lease lease;
    nng_msg *message;
} message_lease;

static void free_message(aq_lease *lease)
{
    message_lease *held = (message_lease *)(void *)lease;

    nng_msg_free(held->message);
    aq_free(held);
}

/* Takes the message over. Without memory it is lost, as on a line that breaks: its sender has it
 * until it is acknowledged. */
static void deliver(aq_pull *pull, nng_msg *message)
{
    message_lease *held = aq_alloc(1, sizeof(*held));

    if (held == NULL) {
        nng_msg_free(message);
        return;
    }
    held->message = message;
    aq_lease_init(&held->lease, nng_msg_body(message), nng_msg_len(message), free_message);
    pull->receive(pull->user, &held->lease, pull->peer);
    aq_lease_unref(&held->lease);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    aq_pull *pull = poll->data;
    int64_t end_ns = aq_clock_monotonic_ns() + TURN_NS;

    (void)status;
    (void)events;
    do {
        nng_msg *message;

        if (nng_recvmsg(pull->socket, &message, NNG_FLAG_NONBLOCK) != 0) {
            return;
        }
        size_t size = nng_msg_len(message);
        learn_peer(pull, nng_msg_get_pipe(message));
        if (size <= pull->message_bytes_max) { /* inproc knows no RECVMAXSZ */
            deliver(pull, message);
        } else {
            nng_msg_free(message);
        }
    } while (!pull->closing && aq_clock_monotonic_ns() < end_ns);
}

static int watch_readable(aq_pull *pull, uv_loop_t *loop)
{
    int descriptor;
    int rc = nng_socket_get_int(pull->socket, NNG_OPT_RECVFD, &descriptor);

    if (rc != 0) {
        return aq_error_from_nng(rc);
    }
    rc = uv_poll_init(loop, &pull->readable, descriptor);
    if (rc != 0) {
        return aq_error_from_errno(-rc);
    }
    pull->readable.data = pull;
    rc = uv_poll_start(&pull->readable, UV_READABLE, on_readable);
    AQ_ASSERT(rc == 0);
    return 0;
}

int aq_pull_create(uv_loop_t *loop, const char *url, const aq_net_limits *limits,
                   aq_pull_fn receive, void *user, aq_pull **ret_pull, aq_error *error)
{
    aq_pull *pull = aq_alloc(1, sizeof(*pull));

    AQ_ASSERT(receive != NULL);
    if (pull == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    pull->receive = receive;
    pull->user = user;
    pull->message_bytes_max = limits->message_bytes_max;
    int rc = aq_error_from_nng(nng_pull0_open(&pull->socket));
    if (rc < 0) {
        rc = aq_fail(error, rc, "cannot open a socket for %s: %s", url, aq_error_text(rc));
        goto fail_open;
    }
    rc = aq_endpoint_listen(pull->socket, url, limits, 0, &pull->listener, pull->url, error);
    if (rc < 0) {
        goto fail_listen;
    }
    rc = watch_readable(pull, loop);
    if (rc < 0) {
        rc = aq_fail(error, rc, "cannot wait for messages at %s: %s", url, aq_error_text(rc));
        goto fail_listen;
    }
    *ret_pull = pull;
    return 0;

fail_listen:
    nng_close(pull->socket);
fail_open:
    aq_free(pull);
    return rc;
}

const char *aq_pull_url(const aq_pull *pull)
{
    return pull->url;
}

void aq_pull_allow(aq_pull *pull, size_t message_bytes_max)
{
    pull->message_bytes_max = message_bytes_max;
    aq_endpoint_allow(pull->listener, message_bytes_max, 0);
}

static void on_closed(uv_handle_t *handle)
{
    aq_free(handle->data);
}

void aq_pull_close(aq_pull *pull)
{
    if (pull == NULL) {
        return;
    }
    AQ_ASSERT(!pull->closing);
    pull->closing = true;
    uv_close((uv_handle_t *)&pull->readable, on_closed); /* before its descriptor goes */
    aq_nng_close(pull->socket);
}
