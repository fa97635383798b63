/*
 * The caller's end of RPC over NNG. See rpc_client.h.
 *
 * Each call in flight owns a slot: an NNG context with one asynchronous operation, which first
 * sends and then receives. NNG's threads run on_step; what comes out crosses to the loop in a
 * mailbox that has room for every slot. Slots are opened as they are needed and used again.
 *
 * NNG sends a request again when its connection is lost, and only then: its resend time is longer
 * than any deadline. So a request may arrive twice, with the same request id.
 */
#include "common/net/rpc/rpc_client.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/net/nng_mend/dial_watch.h"
#include "common/net/nng_mend/name_turns.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/net/security/nng_error.h"
#include "common/net/security/security.h"
#include "common/net/sockets/endpoint.h"
#include "common/sys/mailbox.h"

enum { RESEND_MS = 24 * 60 * 60 * 1000, LOOK_MS = 1000 };

_Static_assert(RESEND_MS > (int)AQ_RPC_TIMEOUT_MS_MAX, "a resend must not beat a deadline");

typedef struct call_slot {
    struct aq_rpc_client *client;
    struct call_slot *next_free;
    nng_ctx context;
    nng_aio *operation;
    bool in_flight; /* loop */
    aq_rpc_answer_fn answer;
    void *user;
    int64_t started_ns;
    int64_t deadline_ns;
    bool receiving; /* NNG's threads, while in flight: it was sent */
    int result;     /* the outcome, from NNG's threads to the loop */
    nng_msg *reply;
} call_slot;

struct aq_rpc_client {
    aq_rpc_channel channel; /* first: the channel is the client */
    uv_timer_t look;        /* whether NNG still dials; its close callback frees the client */
    nng_socket socket;
    nng_dialer dialer;
    aq_dial_watch watch;
    aq_net_limits limits;
    aq_mailbox *outcomes;
    call_slot **slots; /* [slots_max] */
    size_t slot_count;
    size_t slots_max;
    call_slot *free_slots;
    bool closing;
    bool is_stuck;  /* NNG could not close the socket */
    bool is_remote; /* tcp: a connection may be dead without our knowing */
    int64_t heard_ns;
    _Atomic uint32_t pipe_id; /* 0: not connected */
    _Atomic int64_t pipe_since_ns;
    char url[AQ_URL_MAX];
};

/* ---- on NNG's threads ---------------------------------------------------------------------- */

/* ADD_PRE and REM_POST of one pipe come in this order; ADD_POST may come after both. */
static void on_pipe(nng_pipe pipe, nng_pipe_ev event, void *user)
{
    aq_rpc_client *client = user;
    uint32_t id = (uint32_t)nng_pipe_id(pipe);

    if (event == NNG_PIPE_EV_ADD_PRE) {
        atomic_store(&client->pipe_since_ns, aq_clock_monotonic_ns());
        atomic_store(&client->pipe_id, id);
    } else {
        atomic_compare_exchange_strong(&client->pipe_id, &id, 0);
    }
}

static void post_outcome(call_slot *slot, int result, nng_msg *reply)
{
    slot->result = result;
    slot->reply = reply;
    int rc = aq_mailbox_post(slot->client->outcomes, slot);
    AQ_ASSERT(rc == 0); /* it has room for all, and is closed after the operations were stopped */
}

static void start_receiving(call_slot *slot)
{
    int64_t left_ns = slot->deadline_ns - aq_clock_monotonic_ns();
    int64_t left_ms = (left_ns + AQ_NS_PER_MS - 1) / AQ_NS_PER_MS;

    slot->receiving = true;
    nng_aio_set_timeout(slot->operation, left_ms < 1 ? 1 : (nng_duration)left_ms);
    nng_ctx_recv(slot->context, slot->operation);
}

static void on_step(void *user)
{
    call_slot *slot = user;
    nng_msg *message = nng_aio_get_msg(slot->operation);
    int rc = nng_aio_result(slot->operation);

    if (rc == 0 && !slot->receiving) {
        start_receiving(slot);
        return;
    }
    nng_aio_set_msg(slot->operation, NULL);
    if (rc != 0 && message != NULL) { /* a request that was not sent comes back */
        nng_msg_free(message);
        message = NULL;
    }
    post_outcome(slot, aq_error_from_nng(rc), message);
}

/* ---- slots --------------------------------------------------------------------------------- */

static int open_slot(aq_rpc_client *client, call_slot **ret_slot)
{
    if (client->slot_count == client->slots_max) {
        return AQ_E_FULL;
    }
    call_slot *slot = aq_alloc(1, sizeof(*slot));
    if (slot == NULL) {
        return AQ_E_NOMEM;
    }
    slot->client = client;
    int rc = nng_aio_alloc(&slot->operation, on_step, slot);
    if (rc != 0) {
        aq_free(slot);
        return aq_error_from_nng(rc);
    }
    rc = nng_ctx_open(&slot->context, client->socket);
    if (rc != 0) {
        nng_aio_free(slot->operation);
        aq_free(slot);
        return aq_error_from_nng(rc);
    }
    client->slots[client->slot_count++] = slot;
    *ret_slot = slot;
    return 0;
}

static int take_slot(aq_rpc_client *client, call_slot **ret_slot)
{
    call_slot *slot = client->free_slots;

    if (slot == NULL) {
        return open_slot(client, ret_slot);
    }
    client->free_slots = slot->next_free;
    *ret_slot = slot;
    return 0;
}

static void give_slot_back(call_slot *slot)
{
    slot->in_flight = false;
    slot->next_free = slot->client->free_slots;
    slot->client->free_slots = slot;
}

/* ---- calls --------------------------------------------------------------------------------- */

/* TCP gives a silent machine up after AQ_TCP_SILENCE_MS (tcp_patience.h). A deadline may come
 * sooner, and the kernel of a program that hangs acknowledges on. So when a request was sent and
 * nothing at all was heard until its deadline, the connection is given up; NNG dials again and
 * sends again what else is in flight. */
static void give_up_silent_peer(const call_slot *slot)
{
    aq_rpc_client *client = slot->client;
    nng_pipe pipe = {.id = atomic_load(&client->pipe_id)};

    if (client->is_remote && slot->receiving && client->heard_ns < slot->started_ns &&
        atomic_load(&client->pipe_since_ns) < slot->started_ns && pipe.id != 0) {
        nng_pipe_close(pipe);
    }
}

static void on_outcome(void *user, void *item)
{
    aq_rpc_client *client = user;
    call_slot *slot = item;
    aq_rpc_answer_fn answer = slot->answer;
    void *answer_user = slot->user;
    nng_msg *reply = slot->reply;
    int result = slot->result;

    if (result == 0) {
        client->heard_ns = aq_clock_monotonic_ns();
    } else if (result == AQ_E_TIMEOUT) {
        give_up_silent_peer(slot);
    }
    slot->reply = NULL;
    give_slot_back(slot);
    if (reply == NULL) {
        answer(answer_user, result, NULL, 0);
    } else {
        answer(answer_user, 0, nng_msg_body(reply), nng_msg_len(reply));
        nng_msg_free(reply);
    }
}

static int send_call(aq_rpc_channel *channel, const uint8_t *frame, size_t size,
                     uint32_t timeout_ms, aq_rpc_answer_fn answer, void *user)
{
    aq_rpc_client *client = (aq_rpc_client *)channel;
    nng_msg *message;
    call_slot *slot = NULL;

    AQ_ASSERT(timeout_ms >= 1);
    AQ_ASSERT(timeout_ms <= AQ_RPC_TIMEOUT_MS_MAX);
    if (client->closing) {
        return AQ_E_CLOSED;
    }
    if (size > client->limits.message_bytes_max) {
        return AQ_E_TOO_BIG;
    }
    if (nng_msg_alloc(&message, size) != 0) {
        return AQ_E_NOMEM;
    }
    int rc = take_slot(client, &slot);
    if (rc < 0) {
        nng_msg_free(message);
        return rc;
    }
    memcpy(nng_msg_body(message), frame, size);
    slot->in_flight = true;
    slot->receiving = false;
    slot->answer = answer;
    slot->user = user;
    slot->started_ns = aq_clock_monotonic_ns();
    slot->deadline_ns = slot->started_ns + timeout_ms * AQ_NS_PER_MS;
    nng_aio_set_timeout(slot->operation, (nng_duration)timeout_ms);
    nng_aio_set_msg(slot->operation, message);
    nng_ctx_send(slot->context, slot->operation);
    return 0;
}

static void write_unreached(const aq_rpc_channel *channel, char *ret_text, size_t size)
{
    const aq_rpc_client *client = (const aq_rpc_client *)channel;

    ret_text[0] = '\0';
    if (!aq_rpc_client_connected(client)) {
        aq_name_turns_words(client->url, ret_text, size);
    }
}

/* Without memory for another dialer it is tried again after the same time. */
static void on_look(uv_timer_t *timer)
{
    aq_rpc_client *client = timer->data;
    const bool is_connected = aq_rpc_client_connected(client);

    /* Who is not connected after a second is patient; who is would be back soon. */
    aq_endpoint_set_eager(client->dialer, client->url, &client->limits, is_connected);
    if (is_connected) {
        client->watch = (aq_dial_watch){0};
    } else if (aq_dial_watch_gave_up(&client->watch, client->socket,
                                     client->limits.reconnect_max_ms, aq_clock_monotonic_ns())) {
        aq_endpoint_redial(client->socket, client->url, &client->limits, AQ_REQREP_HEADER_BYTES,
                           &client->dialer);
    }
}

/* ---- life ---------------------------------------------------------------------------------- */

static int open_socket(aq_rpc_client *client, const char *url, const aq_net_limits *limits,
                       aq_error *error)
{
    int rc = nng_req0_open(&client->socket);

    if (rc != 0) {
        return aq_fail(error, aq_error_from_nng(rc), "cannot open a socket for %s: %s", url,
                       nng_strerror(rc));
    }
    rc = nng_socket_set_ms(client->socket, NNG_OPT_REQ_RESENDTIME, RESEND_MS);
    if (rc == 0) {
        rc = nng_pipe_notify(client->socket, NNG_PIPE_EV_ADD_PRE, on_pipe, client);
    }
    if (rc == 0) {
        rc = nng_pipe_notify(client->socket, NNG_PIPE_EV_ADD_POST, aq_endpoint_met, NULL);
    }
    if (rc == 0) {
        rc = nng_pipe_notify(client->socket, NNG_PIPE_EV_REM_POST, on_pipe, client);
    }
    if (rc == 0) {
        rc = aq_endpoint_dial(client->socket, url, limits, AQ_REQREP_HEADER_BYTES, &client->dialer,
                              error);
        if (rc == 0) {
            aq_endpoint_set_eager(client->dialer, url, limits, true);
        }
    } else {
        rc = aq_fail(error, aq_error_from_nng(rc), "cannot set up a socket for %s: %s", url,
                     nng_strerror(rc));
    }
    if (rc < 0) {
        nng_close(client->socket);
    }
    return rc;
}

int aq_rpc_client_create(uv_loop_t *loop, const char *url, const aq_net_limits *limits,
                         size_t calls_max, aq_rpc_client **ret_client, aq_error *error)
{
    aq_rpc_client *client = aq_alloc(1, sizeof(*client));
    int rc = AQ_E_NOMEM;

    AQ_ASSERT(calls_max > 0);
    if (client == NULL) {
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    client->slots_max = calls_max;
    client->limits = *limits;
    client->is_remote = !aq_url_is_local(url);
    (void)snprintf(client->url, sizeof(client->url), "%s", url);
    client->slots = aq_alloc(calls_max, sizeof(*client->slots));
    if (client->slots == NULL) {
        rc = aq_fail(error, rc, "%s", aq_error_text(rc));
        goto fail_slots;
    }
    aq_rpc_channel_init(&client->channel, limits->message_bytes_max, aq_rng_system_seed());
    client->channel.send = send_call;
    client->channel.write_unreached = write_unreached;
    client->channel.token = aq_security_token(limits->security);
    rc = open_socket(client, url, limits, error);
    if (rc < 0) {
        goto fail_socket;
    }
    rc = aq_mailbox_create(loop, calls_max, on_outcome, NULL, client, &client->outcomes);
    if (rc < 0) {
        rc = aq_fail(error, rc, "%s", aq_error_text(rc));
        goto fail_mailbox;
    }
    rc = uv_timer_init(loop, &client->look);
    AQ_ASSERT(rc == 0);
    client->look.data = client;
    rc = uv_timer_start(&client->look, on_look, LOOK_MS, LOOK_MS);
    AQ_ASSERT(rc == 0);
    *ret_client = client;
    return 0;

fail_mailbox:
    nng_close(client->socket);
fail_socket:
    aq_free(client->slots);
fail_slots:
    aq_free(client);
    return rc;
}

static void on_look_end(uv_handle_t *handle)
{
    aq_rpc_client *client = handle->data;

    if (!client->is_stuck) { /* else on_pipe may run yet */
        aq_free(client);
    }
}

/* Stopped operations before freed ones, freed ones before their contexts: a deadline that is just
 * running out holds an operation until it is freed, and uses the context until then. */
static bool stop_slots(aq_rpc_client *client)
{
    for (size_t i = 0; i < client->slot_count; i++) {
        nng_aio_stop(client->slots[i]->operation);
    }
    for (size_t i = 0; i < client->slot_count; i++) {
        nng_aio_free(client->slots[i]->operation);
    }
    return aq_nng_close(client->socket);
}

void aq_rpc_client_close(aq_rpc_client *client)
{
    if (client == NULL) {
        return;
    }
    AQ_ASSERT(!client->closing);
    client->closing = true;
    client->is_stuck = !stop_slots(client);
    aq_mailbox_close(client->outcomes);
    for (size_t i = 0; i < client->slot_count; i++) {
        call_slot *slot = client->slots[i];

        if (slot->reply != NULL) {
            nng_msg_free(slot->reply);
        }
        if (slot->in_flight) {
            slot->answer(slot->user, AQ_E_CLOSED, NULL, 0);
        }
        aq_free(slot);
    }
    aq_free(client->slots);
    uv_close((uv_handle_t *)&client->look, on_look_end);
}

aq_rpc_channel *aq_rpc_client_channel(aq_rpc_client *client)
{
    return &client->channel;
}

bool aq_rpc_client_connected(const aq_rpc_client *client)
{
    return !client->closing && atomic_load(&client->pipe_id) != 0;
}
