/*
 * The guarded PUSH. See push.h; loop thread only, but for on_pipe, which NNG's threads run.
 *
 * What must not happen: NNG's PUSH puts a pipe whose peer went back on its list of pipes to send on
 * (the callback of the last send does it), frees it, and touches it again at the next send on the
 * socket or when the next pipe starts there. What keeps it from happening:
 *
 *  1. A send holds the link's mutex, and the removal of the pipe (NNG_PIPE_EV_REM_POST, which runs
 *     before the pipe's memory goes) marks the link dead under the same mutex. So every send ends
 *     before the memory goes, and none begins after.
 *  2. A second pipe of the same socket is closed in NNG_PIPE_EV_ADD_PRE, before it starts. The long
 *     reconnect time that a dialer gets once it has connected would not do alone: NNG 1.5 draws its
 *     wait from a signed number, and half of the draws are negative, which means at once.
 *  3. The loop closes the socket of a dead link, which touches the list no more, and opens a new
 *     one.
 *
 * A message that is handed over between the pipe's closing and its removal is lost, as any message
 * in flight is, and its memory with it: at most one per lost connection.
 */
#include "common/net/sockets/push.h"

#include <nng/nng.h>
#include <nng/protocol/pipeline0/push.h>
#include <pthread.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "common/net/nng_mend/dial_watch.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/net/security/nng_error.h"
#include "common/net/security/security.h"
#include "common/net/sockets/endpoint.h"
#include "common/sys/loop.h"

/* A peer that takes nothing for so long is given up: a machine that vanished looks like this. */
enum { STALL_MS = 30000, LOOK_MS = 1000 };

/* One socket, for one connection. */
typedef struct push_link {
    struct aq_push *push;
    nng_socket socket;
    nng_dialer dialer;
    aq_dial_watch watch;
    uv_poll_t writable; /* of NNG's descriptor; runs after a refused send only */
    bool blocked;       /* it runs */
    bool is_stuck;      /* NNG could not close the socket; the loop has done with the link */
    pthread_mutex_t mutex;
    uint32_t pipe_id; /* under mutex; 0: none yet */
    bool up;          /* under mutex; the pipe has started */
    bool dead;        /* under mutex; the pipe has gone, nobody may send */
    bool forgotten;   /* under mutex; `push` may be gone */
} push_link;

struct aq_push {
    uv_loop_t *loop;
    uv_async_t changed;    /* a link is up or dead */
    uv_timer_t timer;      /* when to open a link; when to look whether one is still dialled; how
                              long one may stall */
    unsigned open_handles; /* of these two */
    push_link *link;       /* NULL: waiting to open one */
    bool is_left;          /* the link is only there to be closed when the wait is over */
    bool connected;
    bool closing;
    uint64_t connected_at_ms; /* in the loop's time */
    uint32_t back_off_ms;
    aq_net_limits limits;
    bool is_sealing;
    aq_seal seal;
    aq_push_events events;
    aq_rng rng;
    char url[AQ_URL_MAX];
};

/* ---- one connection ------------------------------------------------------------------------ */

/* On NNG's threads, until nng_close has returned. */
static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *user)
{
    push_link *link = user;
    uint32_t id = (uint32_t)nng_pipe_id(pipe);

    if (event == NNG_PIPE_EV_ADD_POST) {
        aq_endpoint_met(pipe, event, NULL);
    }
    aq_mutex_lock(&link->mutex);
    if (event == NNG_PIPE_EV_ADD_PRE && link->pipe_id == 0) {
        link->pipe_id = id;
    }
    bool first = link->pipe_id == id;
    link->up = link->up || (first && event == NNG_PIPE_EV_ADD_POST);
    link->dead = link->dead || (first && event == NNG_PIPE_EV_REM_POST);
    if (first && event != NNG_PIPE_EV_ADD_PRE && !link->forgotten) {
        uv_async_send(&link->push->changed);
    }
    aq_mutex_unlock(&link->mutex);
    if (!first && event == NNG_PIPE_EV_ADD_PRE) {
        nng_pipe_close(pipe);
    }
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
    push_link *link = poll->data;
    aq_push *push = link->push;

    (void)status;
    (void)events;
    uv_poll_stop(poll);
    uv_timer_stop(&push->timer);
    link->blocked = false;
    if (push->connected && push->events.writable != NULL) {
        push->events.writable(push->events.user);
    }
}

static void on_link_closed(uv_handle_t *handle)
{
    push_link *link = handle->data;

    if (link->is_stuck) { /* on_pipe may run yet */
        return;
    }
    pthread_mutex_destroy(&link->mutex);
    aq_free(link);
}

/* Not under the mutex: closing waits for the callbacks that take it. */
static void close_link(push_link *link)
{
    uv_close((uv_handle_t *)&link->writable, on_link_closed);
    link->is_stuck = !aq_nng_close(link->socket);
    aq_mutex_lock(&link->mutex);
    link->forgotten = true;
    aq_mutex_unlock(&link->mutex);
}

static int watch_pipes(push_link *link)
{
    int rc = nng_pipe_notify(link->socket, NNG_PIPE_EV_ADD_PRE, on_pipe, link);

    if (rc == 0) {
        rc = nng_pipe_notify(link->socket, NNG_PIPE_EV_ADD_POST, on_pipe, link);
    }
    if (rc == 0) {
        rc = nng_pipe_notify(link->socket, NNG_PIPE_EV_REM_POST, on_pipe, link);
    }
    return aq_error_from_nng(rc);
}

static int watch_writable(push_link *link)
{
    int descriptor;
    int rc = nng_socket_get_int(link->socket, NNG_OPT_SENDFD, &descriptor);

    if (rc != 0) {
        return aq_error_from_nng(rc);
    }
    rc = uv_poll_init(link->push->loop, &link->writable, descriptor);
    if (rc != 0) {
        return aq_error_from_errno(-rc);
    }
    link->writable.data = link;
    return 0;
}

static void on_look(uv_timer_t *timer);

static int open_link(aq_push *push, push_link **ret_link, aq_error *error)
{
    push_link *link = aq_alloc(1, sizeof(*link));
    int rc = AQ_E_NOMEM;

    if (link == NULL || pthread_mutex_init(&link->mutex, NULL) != 0) {
        aq_free(link);
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    link->push = push;
    rc = aq_error_from_nng(nng_push0_open(&link->socket));
    if (rc < 0) {
        goto fail_open;
    }
    rc = watch_pipes(link);
    if (rc == 0) {
        rc = watch_writable(link);
    }
    if (rc < 0) {
        goto fail_watch;
    }
    /* From here on the loop knows the link's handle, which frees it. */
    rc = aq_endpoint_dial(link->socket, push->url, &push->limits, 0, &link->dialer, error);
    if (rc < 0) {
        close_link(link);
        return rc;
    }
    rc = uv_timer_start(&push->timer, on_look, LOOK_MS, LOOK_MS);
    AQ_ASSERT(rc == 0);
    *ret_link = link;
    return 0;

fail_watch:
    nng_close(link->socket);
fail_open:
    pthread_mutex_destroy(&link->mutex);
    aq_free(link);
    return aq_fail(error, rc, "cannot open a socket for %s: %s", push->url, aq_error_text(rc));
}

/* ---- connection after connection ----------------------------------------------------------- */

static void on_retry(uv_timer_t *timer);

/* Half of the wait is random: many actors lose the same shard at the same moment. */
static void wait_to_retry(aq_push *push)
{
    uint64_t wait_ms = push->back_off_ms / 2 + aq_rng_below(&push->rng, push->back_off_ms / 2 + 1);
    int rc = uv_timer_start(&push->timer, on_retry, wait_ms, 0);

    AQ_ASSERT(rc == 0);
    push->back_off_ms = push->back_off_ms > push->limits.reconnect_max_ms / 2
                            ? push->limits.reconnect_max_ms
                            : push->back_off_ms * 2;
}

static void on_retry(uv_timer_t *timer)
{
    aq_push *push = timer->data;

    if (push->link != NULL) {
        AQ_ASSERT(push->is_left);
        close_link(push->link);
        push->link = NULL;
        push->is_left = false;
    }
    if (open_link(push, &push->link, NULL) < 0) { /* no memory, no descriptors: later, perhaps */
        wait_to_retry(push);
    }
}

static void link_is_up(aq_push *push)
{
    uv_timer_stop(&push->timer);
    push->connected = true;
    push->connected_at_ms = uv_now(push->loop);
    aq_endpoint_stop_dialling(push->link->dialer);
    if (push->events.connected != NULL) {
        push->events.connected(push->events.user);
    }
}

/* It is closed when the wait is over: NNG may just be dialling again, and loses what is being
 * greeted when its socket is closed; by then it has found out that nobody wants it. */
static void leave_link(aq_push *push)
{
    bool was_connected = push->connected;

    uv_poll_stop(&push->link->writable);
    push->is_left = true;
    push->connected = false;
    if (was_connected &&
        uv_now(push->loop) - push->connected_at_ms >= push->limits.reconnect_max_ms) {
        push->back_off_ms = push->limits.reconnect_min_ms;
    }
    wait_to_retry(push);
    if (was_connected && push->events.disconnected != NULL) {
        push->events.disconnected(push->events.user);
    }
}

static void on_look(uv_timer_t *timer)
{
    aq_push *push = timer->data;

    if (aq_dial_watch_gave_up(&push->link->watch, push->link->socket, push->limits.reconnect_max_ms,
                              aq_clock_monotonic_ns())) {
        leave_link(push);
    }
}

static void on_changed(uv_async_t *async)
{
    aq_push *push = async->data;
    bool up, dead;

    if (push->closing || push->link == NULL || push->is_left) {
        return;
    }
    aq_mutex_lock(&push->link->mutex);
    up = push->link->up;
    dead = push->link->dead;
    aq_mutex_unlock(&push->link->mutex);
    if (dead) {
        leave_link(push);
    } else if (up && !push->connected) {
        link_is_up(push);
    }
}

/* ---- the seal ------------------------------------------------------------------------------ */

/* With a token that may send experience. */
static int make_seal(aq_push *push)
{
    const aq_token *token = aq_security_token(push->limits.security);
    int rc = token != NULL ? aq_token_seal(token, &push->seal) : AQ_E_INVALID;

    push->is_sealing = rc == 0;
    return rc == AQ_E_INVALID ? 0 : rc;
}

/* ---- the interface ------------------------------------------------------------------------- */

static void free_push(aq_push *push)
{
    aq_wipe(&push->seal, sizeof(push->seal));
    aq_free(push);
}

static void on_handle_closed(uv_handle_t *handle)
{
    aq_push *push = handle->data;

    push->open_handles--;
    if (push->open_handles == 0) {
        free_push(push);
    }
}

void aq_push_close(aq_push *push)
{
    if (push == NULL) {
        return;
    }
    AQ_ASSERT(!push->closing);
    push->closing = true;
    push->connected = false;
    if (push->link != NULL) {
        close_link(push->link);
        push->link = NULL;
    }
    uv_close((uv_handle_t *)&push->timer, on_handle_closed);
    uv_close((uv_handle_t *)&push->changed, on_handle_closed);
}

int aq_push_create(uv_loop_t *loop, const char *url, const aq_net_limits *limits,
                   const aq_push_events *events, aq_push **ret_push, aq_error *error)
{
    int rc = aq_url_validate(url, error);

    if (rc < 0) {
        return rc;
    }
    AQ_ASSERT(limits->reconnect_min_ms > 0);
    aq_push *push = aq_alloc(1, sizeof(*push));
    if (push == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    push->loop = loop;
    push->limits = aq_endpoint_near(url, limits);
    push->events = *events;
    push->back_off_ms = push->limits.reconnect_min_ms;
    aq_rng_init(&push->rng, aq_rng_system_seed(), 0);
    rc = aq_text_set(push->url, sizeof(push->url), url);
    AQ_ASSERT(rc == 0); /* it is valid, so it fits */
    rc = make_seal(push);
    if (rc < 0) {
        free_push(push);
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    rc = uv_async_init(loop, &push->changed, on_changed);
    if (rc != 0) {
        free_push(push);
        return aq_fail(error, aq_error_from_errno(-rc), "%s", uv_strerror(rc));
    }
    rc = uv_timer_init(loop, &push->timer);
    AQ_ASSERT(rc == 0);
    push->changed.data = push;
    push->timer.data = push;
    push->open_handles = 2;
    rc = open_link(push, &push->link, error);
    if (rc < 0) {
        aq_push_close(push);
        return rc;
    }
    *ret_push = push;
    return 0;
}

bool aq_push_connected(const aq_push *push)
{
    return push->connected;
}

static void on_given_up(uv_timer_t *timer)
{
    leave_link(timer->data);
}

static void on_stalled(uv_timer_t *timer)
{
    aq_loop_look_first(timer, on_given_up); /* there may be room: on_writable stops it */
}

/* The descriptor's level says whether there is room, so a pipe that has become ready since the send
 * wakes the loop all the same. */
static void wait_writable(push_link *link)
{
    int rc = uv_poll_start(&link->writable, UV_READABLE, on_writable);

    AQ_ASSERT(rc == 0);
    uv_update_time(link->push->loop); /* which stood still while whoever sends did other things */
    rc = uv_timer_start(&link->push->timer, on_stalled, STALL_MS, 0);
    AQ_ASSERT(rc == 0);
    link->blocked = true;
}

/* Rule 1 of the top comment. The message is the caller's still when this fails. */
static int send_guarded(push_link *link, nng_msg *message)
{
    int rc = NNG_ECLOSED;

    aq_mutex_lock(&link->mutex);
    if (!link->dead) {
        rc = nng_sendmsg(link->socket, message, NNG_FLAG_NONBLOCK);
    }
    aq_mutex_unlock(&link->mutex);
    return rc;
}

int aq_push_send(aq_push *push, const void *bytes, size_t size)
{
    push_link *link = push->link;
    nng_msg *message;

    if (size > push->limits.message_bytes_max) {
        return AQ_E_TOO_BIG;
    }
    if (!push->connected || link->blocked) {
        return AQ_E_AGAIN;
    }
    if (nng_msg_alloc(&message, size + (push->is_sealing ? AQ_SEAL_BYTES : 0)) != 0) {
        return AQ_E_NOMEM;
    }
    uint8_t *body = nng_msg_body(message);
    if (push->is_sealing) {
        aq_seal_copy(&push->seal, bytes, size, body);
    } else {
        memcpy(body, bytes, size);
    }
    int rc = send_guarded(link, message);
    if (rc == 0) {
        return 0;
    }
    nng_msg_free(message);
    if (rc == NNG_ECLOSED) { /* the loop will hear of it and open another link */
        return AQ_E_AGAIN;
    }
    if (rc == NNG_EAGAIN) {
        wait_writable(link);
        return AQ_E_AGAIN;
    }
    return aq_error_from_nng(rc);
}
