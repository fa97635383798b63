/*
 * Remote calls when something goes wrong: servers that restart, peers that talk nonsense, messages
 * that are too large, machines that vanish.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/base/parse.h"
#include "common/net/nng_mend/net_peers.h"
#include "common/net/nng_mend/tcp_door.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { TIMEOUT_MS = 120000, UNANSWERED_MS = 1000 };

/* ---- servers that come and go -------------------------------------------------------------- */

TEST(a_call_made_before_the_server_is_there_waits_for_it)
{
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    net_pair_stop_server(pair);
    const rpc_result *result = net_pair_stop(pair, "x");
    net_kit_run_for(&pair->loop, 50);
    assert_int_equal(result->count, 0);
    net_pair_restart_server(pair);
    assert_true(net_pair_wait(pair, result)->ok);
    assert_int_equal(pair->kit.carried_out, 1);
}

static bool is_disconnected(void *user)
{
    return !aq_rpc_client_connected(((const net_pair *)user)->client);
}

TEST(a_call_without_a_server_ends_at_its_deadline)
{
    net_pair *pair = net_pair_open("ipc", 200);
    net_pair_stop_server(pair);
    const rpc_result *result = net_pair_wait(pair, net_pair_stop(pair, "x"));
    assert_int_equal(result->code, AQ_RPC_DEADLINE_EXCEEDED);
    net_kit_run_until(&pair->loop, is_disconnected, pair); /* NNG may be late to notice */
}

/* The call is in progress when its connection goes. */
TEST(a_restart_in_mid_call_does_not_carry_it_out_twice)
{
    static const char *const transports[] = {"tcp", "ipc", "inproc"};
    for (int i = 0; i < 3; i++) {
        net_pair *pair = net_pair_open(transports[i], TIMEOUT_MS);
        const rpc_result *result;
        net_pair_hold(pair, &result, 1);
        net_pair_stop_server(pair);
        net_pair_restart_server(pair);
        while (aq_rpc_dispatcher_counters(pair->dispatcher).repeats == 0) {
            uv_run(&pair->loop, UV_RUN_ONCE);
        }
        assert_int_equal(result->count, 0);
        rpc_kit_answer_held(&pair->kit);
        assert_true(net_pair_wait(pair, result)->ok);
        assert_int_equal(pair->kit.carried_out, 1);
        net_pair_close(pair);
    }
}

/* The answer is lost with the connection, and found among the kept ones. */
TEST(an_answer_that_was_lost_is_given_again)
{
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    const rpc_result *result;
    net_pair_hold(pair, &result, 1);
    net_pair_stop_server(pair);
    rpc_kit_answer_held(&pair->kit); /* to nobody */
    net_pair_restart_server(pair);
    assert_true(net_pair_wait(pair, result)->ok);
    assert_int_equal(pair->kit.carried_out, 1);
    assert_int_equal(aq_rpc_dispatcher_counters(pair->dispatcher).repeats, 1);
}

TEST(many_restarts_lose_no_call_and_repeat_none)
{
    enum { RESTARTS = 10, CALLS = 8 };
    const rpc_result *results[CALLS];
    unsigned calls = 0;
    net_pair *pair = net_pair_open("ipc", TIMEOUT_MS);
    for (int i = 0; i < RESTARTS; i++) {
        for (uint32_t k = 0; k < CALLS; k++) {
            results[k] = net_pair_fetch(pair, 5000 * k);
            calls++;
        }
        net_pair_wait_carried_out(pair, calls - CALLS / 2);
        net_pair_stop_server(pair);
        net_pair_restart_server(pair);
        for (uint32_t k = 0; k < CALLS; k++) {
            assert_true(net_pair_wait(pair, results[k])->ok);
            assert_int_equal(results[k]->bytes, 5000 * k);
        }
    }
    assert_int_equal(pair->kit.carried_out, calls);
}

/* ---- peers that talk nonsense -------------------------------------------------------------- */

typedef struct raw_exchange {
    nng_socket socket;
    const void *bytes;
    size_t size;
    uv_thread_t thread;
    nng_msg *reply;
    _Atomic int result;
} raw_exchange;

/* A raw REQ socket blocks, so it has a thread of its own. */
static void exchange(void *user)
{
    raw_exchange *raw = user;
    int rc = nng_send(raw->socket, (void *)(uintptr_t)raw->bytes, raw->size, 0);
    if (rc == 0) {
        rc = nng_recvmsg(raw->socket, &raw->reply, 0);
    }
    raw->result = rc;
}

static bool has_result(void *user)
{
    return ((raw_exchange *)user)->result != -1;
}

/* Gives up after the patience in milliseconds. */
static int send_raw(net_pair *pair, raw_exchange *raw, const void *bytes, size_t size,
                    int patience_ms)
{
    *raw = (raw_exchange){.bytes = bytes, .size = size, .result = -1};
    assert_int_equal(nng_req0_open(&raw->socket), 0);
    assert_int_equal(nng_socket_set_ms(raw->socket, NNG_OPT_RECVTIMEO, patience_ms), 0);
    assert_int_equal(nng_dial(raw->socket, pair->url, NULL, 0), 0);
    assert_int_equal(uv_thread_create(&raw->thread, exchange, raw), 0);
    net_kit_run_until(&pair->loop, has_result, raw);
    assert_int_equal(uv_thread_join(&raw->thread), 0);
    nng_close(raw->socket);
    return raw->result;
}

static void expect_unharmed(net_pair *pair)
{
    assert_true(net_pair_wait(pair, net_pair_fetch(pair, 1000))->ok);
}

TEST(garbage_in_a_request_is_answered_with_a_status)
{
    static const char garbage[] = "{\"version\": 7}";
    rpc_box box = {0};
    raw_exchange raw;
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    assert_int_equal(send_raw(pair, &raw, garbage, sizeof(garbage), TIMEOUT_MS), 0);
    rpc_box_reply(&box, nng_msg_body(raw.reply), nng_msg_len(raw.reply));
    assert_int_equal(rpc_box_status(&box), AQ_RPC_INVALID_ARGUMENT);
    assert_int_equal(rpc_box_request_id(&box), 0);
    assert_says(rpc_box_message(&box), "JSON");
    assert_int_equal(aq_rpc_dispatcher_counters(pair->dispatcher).refused_frames, 1);
    nng_msg_free(raw.reply);
    rpc_box_fini(&box);
    expect_unharmed(pair);
}

TEST(a_message_past_the_limit_ends_its_connection_only)
{
    static uint8_t big[NET_KIT_MESSAGE_MAX + 1];
    raw_exchange raw;
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    assert_int_equal(send_raw(pair, &raw, big, sizeof(big), UNANSWERED_MS), NNG_ETIMEDOUT);
    assert_int_equal(aq_rpc_dispatcher_counters(pair->dispatcher).refused_frames, 0);
    /* The limit itself. */
    assert_int_equal(send_raw(pair, &raw, big, sizeof(big) - 1, TIMEOUT_MS), 0);
    nng_msg_free(raw.reply);
    assert_int_equal(aq_rpc_dispatcher_counters(pair->dispatcher).refused_frames, 1);
    expect_unharmed(pair);
}

/* A plain TCP connection to the server that has sent `size` bytes. */
static int junk_connection(const net_pair *pair, const void *bytes, size_t size)
{
    const int descriptor = net_kit_connect(pair->url);
    assert_int_equal(send(descriptor, bytes, size, MSG_NOSIGNAL), size);
    return descriptor;
}

/* A connection to the server that is ended at once, before the server could greet. */
static void connect_and_leave(const net_pair *pair, bool reset)
{
    struct linger at_once = {.l_onoff = 1};
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    int descriptor;
    if (strncmp(pair->url, "ipc://", 6) == 0) {
        descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(aq_text_set(path.sun_path, sizeof(path.sun_path), pair->url + 6), 0);
        assert_int_equal(connect(descriptor, (struct sockaddr *)&path, sizeof(path)), 0);
    } else {
        descriptor = junk_connection(pair, "", 0);
    }
    if (reset) {
        assert_int_equal(setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)),
                         0);
        shutdown(descriptor, SHUT_WR);
    }
    close(descriptor);
}

TEST(a_peer_that_leaves_at_once_does_not_end_the_listening)
{
    static const char *const transports[] = {"tcp", "ipc"};
    for (int i = 0; i < 4; i++) {
        aq_rpc_client *client = NULL;
        net_pair *pair = net_pair_open(transports[i / 2], TIMEOUT_MS);
        for (int probes = 0; probes < 20; probes++) {
            connect_and_leave(pair, i % 2 == 1);
            net_kit_run_for(&pair->loop, 5);
        }
        assert_int_equal(
            aq_rpc_client_create(&pair->loop, pair->url, &net_kit_limits, 1, &client, NULL), 0);
        aq_rpc_stub_init(&pair->policy, aq_rpc_client_channel(client),
                         &actorq__v1__policy__descriptor, TIMEOUT_MS);
        expect_unharmed(pair); /* as a new client sees it */
        aq_rpc_client_close(client);
        net_pair_close(pair);
    }
}

static bool first_is_counted(void *pair)
{
    return aq_rpc_server_foreign_peers(((const net_pair *)pair)->server) >= 1;
}

static bool second_is_counted(void *pair)
{
    return aq_rpc_server_foreign_peers(((const net_pair *)pair)->server) >= 2;
}

static const char http[] = "GET / HTTP/1.1\r\nHost: learner\r\n\r\n";
static const char other_pattern[] = "\0SP\0\0\x50\0\0"; /* a PUSH at the port of RPC */

TEST(junk_connections_harm_nobody)
{
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    int held_open = junk_connection(pair, "", 0);
    int half_open = junk_connection(pair, "\0SP", 3);
    for (int i = 0; i < 20; i++) {
        close(junk_connection(pair, "", 0));
        close(junk_connection(pair, http, sizeof(http) - 1));
        expect_unharmed(pair);
    }
    close(held_open);
    close(half_open);
    expect_unharmed(pair);
}

TEST(foreign_peers_are_counted)
{
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    expect_unharmed(pair);
    assert_int_equal(aq_rpc_server_foreign_peers(pair->server), 0);
    int browser = junk_connection(pair, http, sizeof(http) - 1);
    net_kit_run_until(&pair->loop, first_is_counted, pair);
    int pusher = junk_connection(pair, other_pattern, 8);
    net_kit_run_until(&pair->loop, second_is_counted, pair);
    expect_unharmed(pair);
    assert_int_equal(aq_rpc_server_foreign_peers(pair->server), 2);
    close(browser);
    close(pusher);
}

TEST(each_server_counts_its_own_foreign_peers)
{
    net_pair *first = net_pair_open("tcp", TIMEOUT_MS);
    net_pair *second = net_pair_open("tcp", TIMEOUT_MS);
    int descriptor = junk_connection(second, other_pattern, 8);
    net_kit_run_until(&second->loop, first_is_counted, second);
    assert_int_equal(aq_rpc_server_foreign_peers(first->server), 0);
    close(descriptor);
}

/* ---- machines that vanish ------------------------------------------------------------------ */

typedef struct silent_server {
    uv_tcp_t listener;
    uv_tcp_t peer;
    uv_write_t greeting;
    char bytes[4096];
    unsigned connections;
    unsigned ends; /* connections that the client has ended */
} silent_server;

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *room)
{
    silent_server *server = handle->data;
    (void)suggested;
    *room = uv_buf_init(server->bytes, sizeof(server->bytes));
}

static void on_silent_peer_closed(uv_handle_t *handle)
{
    ((silent_server *)handle->data)->ends++;
}

static void on_silent_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *bytes)
{
    (void)bytes;
    if (size < 0) {
        uv_close((uv_handle_t *)stream, on_silent_peer_closed);
    }
}

/* Shakes hands as a REP socket does, reads, and never says another word. */
static void on_silent_connection(uv_stream_t *listener, int status)
{
    static char handshake[] = "\0SP\0\0\x31\0\0";
    silent_server *server = listener->data;
    uv_buf_t bytes = uv_buf_init(handshake, 8);
    assert_int_equal(status, 0);
    if (server->connections > server->ends) {
        return; /* one at a time; the next waits */
    }
    server->connections++;
    assert_int_equal(uv_tcp_init(listener->loop, &server->peer), 0);
    server->peer.data = server;
    assert_int_equal(uv_accept(listener, (uv_stream_t *)&server->peer), 0);
    assert_int_equal(uv_write(&server->greeting, (uv_stream_t *)&server->peer, &bytes, 1, NULL), 0);
    assert_int_equal(uv_read_start((uv_stream_t *)&server->peer, give_room, on_silent_read), 0);
}

static bool silent_peer_was_left(void *user)
{
    return ((silent_server *)user)->ends >= 1;
}

TEST(a_connection_on_which_nothing_is_heard_is_given_up)
{
    silent_server server = {.connections = 0};
    struct sockaddr_in address;
    int address_size = sizeof(address);
    aq_rpc_client *client = NULL;
    rpc_result result = {0};
    aq_rpc_stub stub;
    uv_loop_t loop;
    char url[AQ_URL_MAX];
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(uv_tcp_init(&loop, &server.listener), 0);
    server.listener.data = &server;
    assert_int_equal(uv_ip4_addr("0.0.0.0", 0, &address), 0);
    assert_int_equal(uv_tcp_bind(&server.listener, (struct sockaddr *)&address, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *)&server.listener, 8, on_silent_connection), 0);
    assert_int_equal(
        uv_tcp_getsockname(&server.listener, (struct sockaddr *)&address, &address_size), 0);
    /* Not a loopback url: only a machine elsewhere can vanish. */
    snprintf(url, sizeof(url), "tcp://0.0.0.0:%u", ntohs(address.sin_port));
    assert_int_equal(aq_rpc_client_create(&loop, url, &net_kit_limits, 4, &client, NULL), 0);
    aq_rpc_stub_init(&stub, aq_rpc_client_channel(client), &actorq__v1__operations__descriptor,
                     200);
    result.stub = &stub;
    while (!aq_rpc_client_connected(client)) {
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    actorq__v1__operations__stop(&stub.base, &request, rpc_on_stopped, &result);
    net_kit_run_until(&loop, silent_peer_was_left, &server);
    assert_int_equal(result.code, AQ_RPC_DEADLINE_EXCEEDED);
    aq_rpc_client_close(client);
    uv_close((uv_handle_t *)&server.listener, NULL);
    net_kit_finish_loop(&loop);
}
