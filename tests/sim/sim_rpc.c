/*
 * A call lives in a list from send to answer; messages on their way only know its number and the
 * place that it is for.
 */
#include "tests/sim/sim_rpc.h"

#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/wire/wire_frame.h"
#include "proto/rpc.pb-c.h"
#include "tests/support/must.h"

enum { FRAME_BYTES_MAX = 4 << 20, PLACE_BITS = 8 };

/* The share of lost messages whose loss shows, and how long it takes to be connected again. */
#define NOTICED_SHARE 0.7
#define REDIAL_NS_MIN (5 * AQ_NS_PER_MS)
#define REDIAL_NS_MAX (400 * AQ_NS_PER_MS)

struct sim_client {
    aq_rpc_channel channel; /* first: the channel is the client */
    sim_rpc *rpc;
    uint32_t host;
    size_t place;
    size_t calls, calls_max;
    void (*woken)(void *user);
    void *user;
    unsigned running; /* closures that are running */
    bool closed;
};

struct sim_call {
    sim_call *next;
    sim_client *client;
    uint64_t id;
    uint8_t *frame;
    size_t size;
    aq_rpc_answer_fn answer;
    void *user;
};

/* From a request's dispatch to its reply. */
typedef struct sim_passage {
    sim_rpc *rpc;
    size_t place;
    uint64_t life;
    uint64_t tag;
    uint32_t from;
    char method[AQ_RPC_METHOD_MAX + 1];
    uint64_t about;
} sim_passage;

void sim_rpc_init(sim_rpc *rpc, sim_network *network)
{
    *rpc = (sim_rpc){.network = network, .next_call = 1};
}

void sim_rpc_fini(sim_rpc *rpc)
{
    AQ_ASSERT(rpc->calls == NULL);
}

/* ---- places --------------------------------------------------------------------------------- */

static size_t find_place(const sim_rpc *rpc, const char *url)
{
    size_t place = 0;
    while (place < rpc->server_count && strcmp(rpc->servers[place].url, url) != 0) {
        place++;
    }
    AQ_ASSERT(place < rpc->server_count);
    return place;
}

void sim_rpc_place(sim_rpc *rpc, const char *url, uint32_t host)
{
    AQ_ASSERT(rpc->server_count < SIM_SERVERS_MAX);
    sim_server *server = &rpc->servers[rpc->server_count++];
    *server = (sim_server){.host = host};
    snprintf(server->url, sizeof(server->url), "%s", url);
}

void sim_rpc_listen(sim_rpc *rpc, const char *url, aq_rpc_dispatcher *dispatcher,
                    const sim_tap *tap)
{
    sim_server *server = &rpc->servers[find_place(rpc, url)];
    AQ_ASSERT(!server->listens);
    server->listens = true;
    server->dispatcher = dispatcher;
    server->tap = tap != NULL ? *tap : (sim_tap){0};
}

void sim_rpc_close(sim_rpc *rpc, const char *url)
{
    rpc->servers[find_place(rpc, url)].listens = false;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static sim_call *find_call(const sim_rpc *rpc, uint64_t tag)
{
    sim_call *call = rpc->calls;
    while (call != NULL && call->id != tag >> PLACE_BITS) {
        call = call->next;
    }
    return call;
}

static void end_client_if_over(sim_client *client)
{
    if (client->closed && client->running == 0) {
        aq_free(client);
    }
}

static void finish(sim_call *call, int error, const uint8_t *frame, size_t size)
{
    sim_client *client = call->client;
    sim_call **at = &client->rpc->calls;
    while (*at != call) {
        at = &(*at)->next;
    }
    *at = call->next;
    client->calls--;
    client->running++;
    call->answer(call->user, error, frame, size);
    if (!client->closed && client->woken != NULL) {
        client->woken(client->user);
    }
    client->running--;
    aq_free(call->frame);
    aq_free(call);
    end_client_if_over(client);
}

static void on_request(void *user, uint64_t tag, const uint8_t *frame, size_t size);
static void on_reply(void *user, uint64_t tag, const uint8_t *frame, size_t size);

static void transmit(sim_rpc *rpc, const sim_call *call)
{
    const sim_route route = {
        .from = call->client->host,
        .to = rpc->servers[call->client->place].host,
        .arrival = on_request,
        .user = rpc,
        .tag = call->id << PLACE_BITS | call->client->place,
    };
    (void)sim_network_carry(rpc->network, &route, call->frame, call->size);
}

static void on_redialled(void *user, uint64_t tag)
{
    sim_rpc *rpc = user;
    sim_call *call = find_call(rpc, tag);
    if (call != NULL) {
        transmit(rpc, call);
    }
}

/* A message of the call was lost, or found nobody, which always shows. */
static void connection_lost(sim_rpc *rpc, uint64_t tag)
{
    sim_world *world = rpc->network->world;
    const sim_call *call = find_call(rpc, tag);
    if (call == NULL) {
        return;
    }
    if (!rpc->servers[call->client->place].listens || sim_chance(&world->rng, NOTICED_SHARE)) {
        int64_t pause_ns = sim_draw_ns(&world->rng, REDIAL_NS_MIN, REDIAL_NS_MAX);
        sim_agenda_at(world->agenda, sim_now_ns(world) + pause_ns, on_redialled, rpc, tag);
    }
}

static void on_deadline(void *user, uint64_t tag)
{
    sim_rpc *rpc = user;
    sim_call *call = find_call(rpc, tag);
    if (call == NULL ||
        sim_host_postpones(rpc->network, call->client->host, on_deadline, rpc, tag)) {
        return;
    }
    rpc->timeouts++;
    sim_trace(rpc->network->world, "call times out", call->client->host, call->client->place);
    finish(call, AQ_E_TIMEOUT, NULL, 0);
}

/* ---- the server's end ----------------------------------------------------------------------- */

static void tell_answered(const sim_server *server, const sim_passage *passage,
                          const uint8_t *frame, size_t size)
{
    ProtobufCMessage *message;
    aq_error error = {0};
    if (server->tap.user == NULL) {
        return;
    }
    must(aq_wire_frame_unpack(frame, size, AQ_FRAME_RPC_REPLY, &actorq__v1__rpc_reply__descriptor,
                              &message, &error));
    const Actorq__V1__RpcReply *reply = (const Actorq__V1__RpcReply *)message;
    if (reply->status == AQ_RPC_OK) {
        server->tap.answered(server->tap.user, passage->method, &reply->body, passage->about);
    }
    aq_message_free(message);
}

static void on_replied(void *user, const uint8_t *frame, size_t size)
{
    sim_passage *passage = user;
    sim_rpc *rpc = passage->rpc;
    const sim_server *server = &rpc->servers[passage->place];
    const sim_host *host = &rpc->network->hosts[server->host];
    if (server->listens && host->up && host->life == passage->life) {
        const sim_route route = {
            .from = server->host,
            .to = passage->from,
            .arrival = on_reply,
            .user = rpc,
            .tag = passage->tag,
        };
        tell_answered(server, passage, frame, size);
        (void)sim_network_carry(rpc->network, &route, frame, size);
    }
    aq_free(passage);
}

static Actorq__V1__RpcRequest *read_request(const uint8_t *frame, size_t size)
{
    ProtobufCMessage *message;
    aq_error error = {0};
    must(aq_wire_frame_unpack(frame, size, AQ_FRAME_RPC_REQUEST,
                              &actorq__v1__rpc_request__descriptor, &message, &error));
    return (Actorq__V1__RpcRequest *)message;
}

/* The passage is gone when this returns, if the request was answered at once. */
static void dispatch(sim_server *server, sim_passage *passage, const uint8_t *frame, size_t size)
{
    const sim_tap *tap = &server->tap;
    Actorq__V1__RpcRequest *request = NULL;
    char peer[64];
    if (tap->user != NULL) {
        request = read_request(frame, size);
        snprintf(passage->method, sizeof(passage->method), "%s", request->method);
        passage->about = tap->read(tap->user, request->method, &request->body);
    }
    snprintf(peer, sizeof(peer), "tcp://10.0.0.%u:4711", passage->from + 1);
    uint64_t taken = aq_rpc_dispatcher_counters(server->dispatcher).calls;
    aq_rpc_dispatch(server->dispatcher, frame, size, peer, on_replied, passage);
    if (request != NULL) {
        if (aq_rpc_dispatcher_counters(server->dispatcher).calls > taken) {
            tap->called(tap->user, request->method, &request->body);
        }
        aq_message_free(&request->base);
    }
}

static void on_request(void *user, uint64_t tag, const uint8_t *frame, size_t size)
{
    sim_rpc *rpc = user;
    size_t place = tag & ((1 << PLACE_BITS) - 1);
    sim_server *server = &rpc->servers[place];
    const sim_call *call = find_call(rpc, tag);
    if (frame == NULL || !server->listens) {
        connection_lost(rpc, tag);
        return;
    }
    sim_passage *passage = must_alloc(1, sizeof(*passage));
    *passage = (sim_passage){
        .rpc = rpc,
        .place = place,
        .life = rpc->network->hosts[server->host].life,
        .tag = tag,
        .from = call != NULL ? call->client->host : server->host, /* nobody waits any more */
    };
    dispatch(server, passage, frame, size);
}

static void on_reply(void *user, uint64_t tag, const uint8_t *frame, size_t size)
{
    sim_rpc *rpc = user;
    sim_call *call = find_call(rpc, tag);
    if (call == NULL) {
        return;
    }
    if (frame == NULL) {
        connection_lost(rpc, tag);
        return;
    }
    finish(call, 0, frame, size);
}

/* ---- the client's end ----------------------------------------------------------------------- */

static int client_send(aq_rpc_channel *channel, const uint8_t *frame, size_t size,
                       uint32_t timeout_ms, aq_rpc_answer_fn answer, void *user)
{
    sim_client *client = (sim_client *)channel;
    sim_rpc *rpc = client->rpc;
    sim_world *world = rpc->network->world;
    if (client->closed) {
        return AQ_E_CLOSED;
    }
    if (client->calls == client->calls_max) {
        return AQ_E_FULL;
    }
    sim_call *call = must_alloc(1, sizeof(*call));
    *call = (sim_call){
        .next = rpc->calls,
        .client = client,
        .id = rpc->next_call++,
        .frame = aq_alloc(size, 1),
        .size = size,
        .answer = answer,
        .user = user,
    };
    AQ_ASSERT(call->frame != NULL);
    memcpy(call->frame, frame, size);
    rpc->calls = call;
    client->calls++;
    sim_agenda_at(world->agenda, sim_now_ns(world) + timeout_ms * AQ_NS_PER_MS, on_deadline, rpc,
                  call->id << PLACE_BITS);
    transmit(rpc, call);
    return 0;
}

sim_client *sim_client_open(sim_rpc *rpc, uint32_t host, const char *url, size_t calls_max,
                            void (*woken)(void *user), void *user)
{
    sim_client *client = must_alloc(1, sizeof(*client));
    client->rpc = rpc;
    client->host = host;
    client->place = find_place(rpc, url);
    client->calls_max = calls_max;
    client->woken = woken;
    client->user = user;
    aq_rpc_channel_init(&client->channel, FRAME_BYTES_MAX, aq_rng_next(&rpc->network->world->rng));
    client->channel.send = client_send;
    return client;
}

void sim_client_close(sim_client *client)
{
    if (client == NULL) {
        return;
    }
    AQ_ASSERT(!client->closed);
    client->closed = true;
    client->running++;
    sim_call *call = client->rpc->calls;
    while (call != NULL) {
        if (call->client == client) {
            finish(call, AQ_E_CLOSED, NULL, 0);
            call = client->rpc->calls; /* its closure may have changed the list */
        } else {
            call = call->next;
        }
    }
    client->running--;
    end_client_if_over(client);
}

aq_rpc_channel *sim_client_channel(sim_client *client)
{
    return &client->channel;
}
