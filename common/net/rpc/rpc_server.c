/*
 * The daemon's end of RPC over NNG. See rpc_server.h.
 *
 * A slot is an NNG context with one asynchronous operation, and goes round: it receives a request
 * (NNG's threads), crosses to the loop, is dispatched, sends the reply, receives again. The loop
 * opens another slot whenever few are left that receive, so a long poll costs a slot and keeps
 * nobody waiting. There are a few more slots than calls: whoever comes on top of them is told so.
 *
 * A reply waits in its slot while its caller does not take those before. Callers that take none
 * must neither keep the slots nor fill the memory: when either runs short, the connection goes that
 * has the most waiting.
 */
#include "common/net/rpc/rpc_server.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/nng_mend/net_peers.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/net/rpc/rpc_call.h"
#include "common/net/security/nng_error.h"
#include "common/net/security/security.h"
#include "common/net/sockets/endpoint.h"
#include "common/sys/mailbox.h"

enum { SPARE_SLOTS = 4 };

/* Of replies that wait: how many are nothing unusual, how much of them there may be beside what one
 * caller asks for ahead, and what each counts beside its bytes. */
enum { UNSENT_USUAL = 64, UNSENT_BYTES_MAX = 48 << 20, UNSENT_BYTES = 1 << 10 };

/* NNG says of a reply that is on its way that it was sent, but may be late to say so. */
#define ON_ITS_WAY_NS (100 * AQ_NS_PER_MS)

enum slot_state { SLOT_RECEIVING, SLOT_RECEIVED, SLOT_DISPATCHED, SLOT_SENDING };

typedef struct request_slot {
    struct aq_rpc_server *server; /* NULL: the server is closed and only the answer is awaited */
    enum slot_state state;        /* NNG's threads while receiving or sending, else the loop */
    nng_ctx context;
    nng_aio *operation;
    nng_msg *request;      /* while SLOT_RECEIVED */
    uint32_t pipe;         /* loop; whose request it was */
    int64_t replied_ns;    /* loop */
    _Atomic size_t unsent; /* weight of the reply that waits; 0: none */
} request_slot;

/* What waits for one connection. */
typedef struct unsent_share {
    uint32_t pipe;
    size_t weight;
    bool waits; /* for sure */
} unsent_share;

struct aq_rpc_server {
    nng_socket socket;
    nng_listener listener;
    aq_mailbox *requests;
    aq_rpc_dispatcher *dispatcher;
    request_slot **slots; /* [slots_max] */
    size_t slot_count;
    size_t slots_max;
    _Atomic size_t receiving;
    _Atomic size_t unsent_count; /* replies that wait, */
    _Atomic size_t unsent;       /* and their weight, */
    size_t unsent_max;           /* which may be so much */
    unsent_share *shares;        /* [slots_max]; room to find out whose they are */
    size_t request_bytes_max;
    char url[AQ_URL_MAX];
};

/* ---- replies that wait ---------------------------------------------------------------------- */

static void count_unsent(request_slot *slot, size_t size)
{
    const size_t weight = size + UNSENT_BYTES;

    slot->replied_ns = aq_clock_monotonic_ns();
    atomic_store(&slot->unsent, weight);
    atomic_fetch_add(&slot->server->unsent, weight);
    atomic_fetch_add(&slot->server->unsent_count, 1);
}

/* Any thread; again is fine. */
static void count_sent(request_slot *slot)
{
    const size_t weight = atomic_exchange(&slot->unsent, 0);

    if (weight > 0) {
        atomic_fetch_sub(&slot->server->unsent, weight);
        atomic_fetch_sub(&slot->server->unsent_count, 1);
    }
}

static int by_pipe(const void *a, const void *b)
{
    const uint32_t pipe_a = ((const unsent_share *)a)->pipe;
    const uint32_t pipe_b = ((const unsent_share *)b)->pipe;

    return (pipe_a > pipe_b) - (pipe_a < pipe_b);
}

/* The connection for which the most waits. A reply alone may be on its way. 0: none. */
static uint32_t find_slowest_taker(const aq_rpc_server *server)
{
    const int64_t since_ns = aq_clock_monotonic_ns() - ON_ITS_WAY_NS;
    unsent_share *shares = server->shares;
    unsent_share most = {0};
    size_t count = 0;

    for (size_t i = 0; i < server->slot_count; i++) {
        const request_slot *slot = server->slots[i];
        const size_t weight = atomic_load(&slot->unsent);

        if (weight > 0) {
            shares[count++] = (unsent_share){slot->pipe, weight, slot->replied_ns < since_ns};
        }
    }
    qsort(shares, count, sizeof(*shares), by_pipe);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && shares[i].pipe == shares[i - 1].pipe) {
            shares[i].weight += shares[i - 1].weight; /* so the last of a pipe has all of it */
            shares[i].waits = true;
        }
        if (shares[i].waits && shares[i].weight > most.weight) {
            most = shares[i];
        }
    }
    return most.pipe;
}

/* NNG ends the sending of what waits for it; until then that no longer counts. */
static void close_slowest_taker(aq_rpc_server *server)
{
    const nng_pipe pipe = {.id = find_slowest_taker(server)};

    if (pipe.id == 0) {
        return;
    }
    for (size_t i = 0; i < server->slot_count; i++) {
        if (server->slots[i]->pipe == pipe.id) {
            count_sent(server->slots[i]);
        }
    }
    aq_net_peers_cut_full();
    (void)nng_pipe_close(pipe);
}

/* ---- one slot ------------------------------------------------------------------------------ */

static void start_receiving(request_slot *slot)
{
    slot->state = SLOT_RECEIVING;
    atomic_fetch_add(&slot->server->receiving, 1);
    nng_aio_set_timeout(slot->operation, NNG_DURATION_INFINITE);
    nng_ctx_recv(slot->context, slot->operation);
}

static void received(request_slot *slot, nng_msg *request)
{
    atomic_fetch_sub(&slot->server->receiving, 1);
    slot->request = request;
    slot->state = SLOT_RECEIVED;
    int rc = aq_mailbox_post(slot->server->requests, slot);
    AQ_ASSERT(rc == 0); /* it has room for all, and is closed after the operations were stopped */
}

/* On NNG's threads. */
static void on_step(void *user)
{
    request_slot *slot = user;
    nng_msg *message = nng_aio_get_msg(slot->operation);
    int rc = nng_aio_result(slot->operation);

    nng_aio_set_msg(slot->operation, NULL);
    if (rc == 0 && slot->state == SLOT_RECEIVING) {
        received(slot, message);
        return;
    }
    if (message != NULL) { /* a reply that was not sent comes back */
        nng_msg_free(message);
    }
    if (slot->state == SLOT_SENDING) {
        count_sent(slot);
        start_receiving(slot);
    }
    /* Else receiving has failed, which happens only when the socket is being closed. */
}

static int open_slot(aq_rpc_server *server)
{
    request_slot *slot = aq_alloc(1, sizeof(*slot));

    if (slot == NULL) {
        return AQ_E_NOMEM;
    }
    slot->server = server;
    int rc = nng_aio_alloc(&slot->operation, on_step, slot);
    if (rc != 0) {
        aq_free(slot);
        return aq_error_from_nng(rc);
    }
    rc = nng_ctx_open(&slot->context, server->socket);
    if (rc != 0) {
        nng_aio_free(slot->operation);
        aq_free(slot);
        return aq_error_from_nng(rc);
    }
    server->slots[server->slot_count++] = slot;
    start_receiving(slot);
    return 0;
}

/* ---- on the loop --------------------------------------------------------------------------- */

static void on_reply(void *user, const uint8_t *frame, size_t size)
{
    request_slot *slot = user;
    nng_msg *message;

    if (slot->server == NULL) {
        aq_free(slot);
        return;
    }
    AQ_ASSERT(slot->state == SLOT_DISPATCHED);
    AQ_ASSERT(size <= aq_rpc_dispatcher_reply_bytes_max(slot->server->dispatcher));
    if (nng_msg_alloc(&message, size) != 0) { /* the caller's deadline will tell it */
        start_receiving(slot);
        return;
    }
    memcpy(nng_msg_body(message), frame, size);
    slot->state = SLOT_SENDING;
    count_unsent(slot, size);
    if (atomic_load(&slot->server->unsent) > slot->server->unsent_max) {
        close_slowest_taker(slot->server); /* which may be this caller: NNG drops the reply then */
    }
    nng_aio_set_timeout(slot->operation, AQ_RPC_TIMEOUT_MS_MAX); /* nobody waits longer */
    nng_aio_set_msg(slot->operation, message);
    nng_ctx_send(slot->context, slot->operation);
}

/* Where no more can be opened, those that are there come round again. */
static void keep_spare_slots(aq_rpc_server *server)
{
    while (atomic_load(&server->receiving) < SPARE_SLOTS) {
        if (server->slot_count == server->slots_max || open_slot(server) < 0) {
            if (atomic_load(&server->unsent_count) > UNSENT_USUAL) {
                close_slowest_taker(server);
            }
            return;
        }
    }
}

static void on_request(void *user, void *item)
{
    aq_rpc_server *server = user;
    request_slot *slot = item;
    nng_msg *request = slot->request;
    char peer[AQ_PEER_TEXT_MAX];

    slot->request = NULL;
    slot->pipe = (uint32_t)nng_pipe_id(nng_msg_get_pipe(request));
    keep_spare_slots(server);
    /* Whoever is gone cannot be answered, and asks again over a new connection. */
    if (nng_msg_len(request) > server->request_bytes_max || /* inproc knows no RECVMAXSZ */
        aq_endpoint_peer(nng_msg_get_pipe(request), peer) < 0) {
        start_receiving(slot);
    } else {
        slot->state = SLOT_DISPATCHED;
        aq_rpc_dispatch(server->dispatcher, nng_msg_body(request), nng_msg_len(request), peer,
                        on_reply, slot);
    }
    /* The method may have closed the server: it is not touched any more. */
    nng_msg_free(request);
}

/* ---- life ---------------------------------------------------------------------------------- */

/* Whoever serves with a token asks for one. */
static int set_guard(aq_rpc_dispatcher *dispatcher, const aq_security *security, aq_error *error)
{
    const aq_token *token = aq_security_token(security);
    int rc = token == NULL ? 0 : aq_rpc_dispatcher_guard(dispatcher, token);

    return rc < 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
}

static int open_socket(aq_rpc_server *server, const char *url, const aq_net_limits *limits,
                       aq_error *error)
{
    int rc = set_guard(server->dispatcher, limits->security, error);

    if (rc < 0) {
        return rc;
    }
    rc = nng_rep0_open(&server->socket);
    if (rc != 0) {
        return aq_fail(error, aq_error_from_nng(rc), "cannot open a socket for %s: %s", url,
                       nng_strerror(rc));
    }
    rc = aq_endpoint_listen(server->socket, url, limits, AQ_REQREP_HEADER_BYTES, &server->listener,
                            server->url, error);
    if (rc < 0) {
        nng_close(server->socket);
    }
    return rc;
}

/* As with the client: all stopped, then all freed, then the contexts. */
static void stop_slots(aq_rpc_server *server)
{
    for (size_t i = 0; i < server->slot_count; i++) {
        nng_aio_stop(server->slots[i]->operation);
    }
    for (size_t i = 0; i < server->slot_count; i++) {
        nng_aio_free(server->slots[i]->operation);
    }
    aq_nng_close(server->socket);
}

static void free_slots(aq_rpc_server *server)
{
    for (size_t i = 0; i < server->slot_count; i++) {
        request_slot *slot = server->slots[i];

        if (slot->state == SLOT_DISPATCHED) {
            slot->server = NULL; /* on_reply frees it */
            continue;
        }
        if (slot->request != NULL) {
            nng_msg_free(slot->request);
        }
        aq_free(slot);
    }
    aq_free(server->slots);
    aq_free(server->shares);
}

int aq_rpc_server_create(uv_loop_t *loop, const char *url, const aq_net_limits *limits,
                         aq_rpc_dispatcher *dispatcher, aq_rpc_server **ret_server, aq_error *error)
{
    aq_rpc_server *server = aq_alloc(1, sizeof(*server));
    int rc = AQ_E_NOMEM;

    if (server == NULL) {
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    server->dispatcher = dispatcher;
    server->request_bytes_max = limits->message_bytes_max;
    server->slots_max = dispatcher->calls.count_max + SPARE_SLOTS;
    server->unsent_max = UNSENT_BYTES_MAX;
    server->slots = aq_alloc(server->slots_max, sizeof(*server->slots));
    server->shares = aq_alloc(server->slots_max, sizeof(*server->shares));
    if (server->slots == NULL || server->shares == NULL) {
        rc = aq_fail(error, rc, "%s", aq_error_text(rc));
        goto fail;
    }
    rc = open_socket(server, url, limits, error);
    if (rc < 0) {
        goto fail;
    }
    rc = aq_mailbox_create(loop, server->slots_max, on_request, NULL, server, &server->requests);
    if (rc < 0) {
        rc = aq_fail(error, rc, "%s", aq_error_text(rc));
        goto fail_mailbox;
    }
    for (size_t i = 0; i < SPARE_SLOTS; i++) {
        rc = open_slot(server);
        if (rc < 0) {
            aq_rpc_server_close(server);
            return aq_fail(error, rc, "%s", aq_error_text(rc));
        }
    }
    *ret_server = server;
    return 0;

fail_mailbox:
    nng_close(server->socket);
fail:
    aq_free(server->slots);
    aq_free(server->shares);
    aq_free(server);
    return rc;
}

void aq_rpc_server_close(aq_rpc_server *server)
{
    if (server == NULL) {
        return;
    }
    stop_slots(server);
    aq_mailbox_close(server->requests);
    free_slots(server);
    aq_free(server);
}

void aq_rpc_server_allow(aq_rpc_server *server, size_t request_bytes_max, size_t ahead_bytes)
{
    server->request_bytes_max = request_bytes_max;
    server->unsent_max = UNSENT_BYTES_MAX + ahead_bytes;
    aq_endpoint_allow(server->listener, request_bytes_max, AQ_REQREP_HEADER_BYTES);
}

const char *aq_rpc_server_url(const aq_rpc_server *server)
{
    return server->url;
}

uint64_t aq_rpc_server_foreign_peers(const aq_rpc_server *server)
{
    return aq_endpoint_refused(server->listener);
}
