/*
 * The kill storm of remote calls: servers that are killed while a client has many calls in flight,
 * and clients that are killed while a server answers them.
 */
#include "common/net/address/url.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/rpc/rpc_server.h"
#include "proto/policy.pb-c.h"
#include "tests/integration/storm/storm.h"
#include "tests/support/test.h"

enum { IN_FLIGHT = 16, CLIENTS = 4, REPLY_MAX = 200000, TIMEOUT_MS = 240000 };

/* ---- the server: Fetch answers with as many bytes as are asked for -------------------------- */

typedef struct fetch_server {
    Actorq__V1__Policy_Service policy; /* first */
    aq_rpc_dispatcher *dispatcher;
    aq_rpc_server *server;
    unsigned carried_out;
} fetch_server;

static void on_fetch(Actorq__V1__Policy_Service *policy,
                     const Actorq__V1__FetchPolicyRequest *request,
                     Actorq__V1__FetchPolicyReply_Closure closure, void *call)
{
    static uint8_t bytes[REPLY_MAX];
    Actorq__V1__FetchPolicyReply reply = ACTORQ__V1__FETCH_POLICY_REPLY__INIT;
    ((fetch_server *)policy)->carried_out++;
    if (request->format > sizeof(bytes)) {
        aq_rpc_fail(call, AQ_RPC_OUT_OF_RANGE, "at most %zu bytes", sizeof(bytes));
        return;
    }
    reply.frame = (ProtobufCBinaryData){.len = request->format, .data = bytes};
    closure(&reply, call);
}

static int open_server(fetch_server *server, uv_loop_t *loop, const char *url)
{
    actorq__v1__policy__init(&server->policy, NULL);
    server->policy.fetch = on_fetch;
    server->carried_out = 0;
    int rc = aq_rpc_dispatcher_create(64, STORM_MESSAGE_MAX, 10 * STORM_MESSAGE_MAX,
                                      &server->dispatcher);
    if (rc == 0) {
        rc = aq_rpc_dispatcher_add(server->dispatcher, &server->policy.base);
    }
    if (rc == 0) {
        rc = aq_rpc_server_create(loop, url, &storm_limits, server->dispatcher, &server->server,
                                  NULL);
    }
    return rc;
}

static int serve(const char *url)
{
    fetch_server server;
    uv_loop_t loop;
    storm_child_loop(&loop);
    return open_server(&server, &loop, url) < 0 ? 1 : uv_run(&loop, UV_RUN_DEFAULT);
}

/* ---- the client: as soon as an answer is there, the next call is made ----------------------- */

typedef struct fetch_client {
    aq_rpc_client *client;
    aq_rpc_stub stub;
    aq_rng rng;
    bool is_stopping;
    unsigned in_flight, answers, failures;
} fetch_client;

typedef struct fetch_call {
    fetch_client *client;
    uint32_t asked;
} fetch_call;

static void fetch(fetch_client *client);

static void on_fetched(const Actorq__V1__FetchPolicyReply *reply, void *user)
{
    fetch_call *call = user;
    fetch_client *client = call->client;
    client->in_flight--;
    client->answers++;
    client->failures += reply == NULL || reply->frame.len != call->asked;
    aq_free(call);
    if (!client->is_stopping) {
        fetch(client);
    }
}

static void fetch(fetch_client *client)
{
    Actorq__V1__FetchPolicyRequest request = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;
    fetch_call *call = aq_alloc(1, sizeof(*call));
    if (call == NULL) {
        client->failures++;
        return;
    }
    request.format =
        (uint32_t)aq_rng_below(&client->rng, aq_rng_below(&client->rng, 4) == 0 ? REPLY_MAX : 1000);
    *call = (fetch_call){.client = client, .asked = request.format};
    client->in_flight++;
    actorq__v1__policy__fetch(&client->stub.base, &request, on_fetched, call);
}

static int open_client(fetch_client *client, uv_loop_t *loop, const char *url)
{
    int rc = aq_rpc_client_create(loop, url, &storm_limits, IN_FLIGHT, &client->client, NULL);
    if (rc < 0) {
        return rc;
    }
    client->is_stopping = false;
    client->in_flight = client->answers = client->failures = 0;
    aq_rpc_stub_init(&client->stub, aq_rpc_client_channel(client->client),
                     &actorq__v1__policy__descriptor, TIMEOUT_MS);
    for (int i = 0; i < IN_FLIGHT; i++) {
        fetch(client);
    }
    return 0;
}

static int call(const char *url)
{
    fetch_client client;
    uv_loop_t loop;
    storm_child_loop(&loop);
    aq_rng_init(&client.rng, aq_rng_system_seed(), 0);
    return open_client(&client, &loop, url) < 0 ? 1 : uv_run(&loop, UV_RUN_DEFAULT);
}

/* ---- servers that are killed --------------------------------------------------------------- */

typedef struct caller {
    uv_loop_t loop;
    fetch_client client;
    pid_t server;
    unsigned goal; /* answers */
    char url[AQ_URL_MAX];
} caller;

static bool is_answered(void *user)
{
    caller *c = user;
    if (storm_has_ended(c->server)) { /* it could not listen yet */
        c->server = storm_start("serve", c->url, NULL);
    }
    return c->client.answers >= c->goal;
}

static bool is_idle(void *user)
{
    return ((const caller *)user)->client.in_flight == 0;
}

static void kill_servers(const char *transport, unsigned rounds)
{
    caller c;
    memset(&c, 0, sizeof(c));
    storm_seed(&c.client.rng);
    storm_url(&c.client.rng, transport, c.url);
    assert_int_equal(uv_loop_init(&c.loop), 0);
    c.server = storm_start("serve", c.url, NULL);
    assert_int_equal(open_client(&c.client, &c.loop, c.url), 0);
    for (unsigned i = 0; i < rounds; i++) {
        c.goal = c.client.answers + 1 + (unsigned)aq_rng_below(&c.client.rng, 100);
        storm_run_until(&c.loop, is_answered, &c);
        storm_kill(c.server);
        c.server = storm_start("serve", c.url, NULL);
    }
    c.client.is_stopping = true;
    storm_run_until(&c.loop, is_idle, &c);
    assert_int_equal(c.client.failures, 0); /* all that was asked was answered, and rightly */
    storm_kill(c.server);
    aq_rpc_client_close(c.client.client);
    storm_finish_loop(&c.loop);
    storm_wait_closed();
}

TEST(killed_servers_lose_no_call)
{
    kill_servers("tcp", storm_rounds() / 4);
    kill_servers("ipc", storm_rounds() / 4);
}

/* ---- clients that are killed --------------------------------------------------------------- */

typedef struct answerer {
    uv_loop_t loop;
    fetch_server server;
    fetch_client client; /* one that lives */
    pid_t clients[CLIENTS];
    unsigned goal; /* calls carried out */
    unsigned answers_goal;
    aq_rng rng;
} answerer;

static bool is_carried_out(void *user)
{
    const answerer *a = user;
    return a->server.carried_out >= a->goal && a->client.answers >= a->answers_goal;
}

static void kill_clients(const char *transport, unsigned rounds)
{
    char url[AQ_URL_MAX];
    answerer a;
    memset(&a, 0, sizeof(a));
    storm_seed(&a.rng);
    a.client.rng = a.rng;
    storm_url(&a.rng, transport, url);
    assert_int_equal(uv_loop_init(&a.loop), 0);
    assert_int_equal(open_server(&a.server, &a.loop, url), 0);
    for (int i = 0; i < CLIENTS; i++) {
        a.clients[i] = storm_start("call", url, NULL);
    }
    for (unsigned i = 0; i < rounds; i++) {
        size_t victim = aq_rng_below(&a.rng, CLIENTS);
        a.goal = a.server.carried_out + 1 + (unsigned)aq_rng_below(&a.rng, 200);
        storm_run_until(&a.loop, is_carried_out, &a);
        storm_kill(a.clients[victim]);
        a.clients[victim] = storm_start("call", url, NULL);
    }
    for (int i = 0; i < CLIENTS; i++) {
        storm_kill(a.clients[i]);
    }
    assert_int_equal(open_client(&a.client, &a.loop, url), 0);
    a.answers_goal = 100;
    storm_run_until(&a.loop, is_carried_out, &a);
    assert_int_equal(a.client.failures, 0);
    a.client.is_stopping = true;
    aq_rpc_client_close(a.client.client);
    aq_rpc_server_close(a.server.server);
    aq_rpc_dispatcher_destroy(a.server.dispatcher);
    storm_finish_loop(&a.loop);
    storm_wait_closed();
}

TEST(killed_clients_do_the_server_no_harm)
{
    kill_clients("tcp", storm_rounds() / 4);
    kill_clients("ipc", storm_rounds() / 4);
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        return strcmp(argv[1], "serve") == 0 ? serve(argv[2]) : call(argv[2]);
    }
    return aq_test_run(NULL);
}
