/*
 * See net_kit.h.
 */
#include "tests/unit/common/net/net_kit.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/socket.h>

#include "common/net/address/dial_tries.h"
#include "common/net/address/url.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/net/security/security.h"
#include "common/net/sockets/pull.h"
#include "common/net/sockets/push.h"
#include "tests/support/own_host.h"
#include "tests/support/test.h"

const aq_net_limits net_kit_limits = {
    .message_bytes_max = NET_KIT_MESSAGE_MAX, .reconnect_min_ms = 10, .reconnect_max_ms = 100};

/* ---- loops --------------------------------------------------------------------------------- */

/* What is waited for may happen on another thread: the loop looks up now and then. */
enum { LOOK_UP_MS = 5 };

static void on_time(uv_timer_t *timer)
{
    (void)timer;
}

static void free_handle(uv_handle_t *handle)
{
    aq_free(handle);
}

/* True when `done` was, before the time was over; it may be for a moment alone. */
static bool run(uv_loop_t *loop, net_kit_fn done, void *user, int time_ms)
{
    int64_t end_ns = aq_clock_monotonic_ns() + time_ms * AQ_NS_PER_MS;
    uv_timer_t *timer = aq_alloc(1, sizeof(*timer));
    assert_non_null(timer);
    assert_int_equal(uv_timer_init(loop, timer), 0);
    uv_update_time(loop);
    assert_int_equal(uv_timer_start(timer, on_time, LOOK_UP_MS, LOOK_UP_MS), 0);
    bool is_done = done != NULL && done(user);
    while (!is_done && aq_clock_monotonic_ns() < end_ns) {
        uv_run(loop, UV_RUN_ONCE);
        is_done = done != NULL && done(user);
    }
    uv_close((uv_handle_t *)timer, free_handle);
    return is_done;
}

void net_kit_run_until(uv_loop_t *loop, net_kit_fn done, void *user)
{
    if (!run(loop, done, user, NET_KIT_PATIENCE_MS)) {
        fail_msg("not done after %d ms", NET_KIT_PATIENCE_MS);
    }
}

void net_kit_run_for(uv_loop_t *loop, int time_ms)
{
    (void)run(loop, NULL, NULL, time_ms);
}

void net_kit_finish_loop(uv_loop_t *loop)
{
    assert_int_equal(uv_run(loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(loop), 0);
}

static void end_loop(void *loop)
{
    net_kit_finish_loop(loop);
    free(loop);
}

uv_loop_t *net_kit_loop(void)
{
    uv_loop_t *loop = calloc(1, sizeof(*loop));
    assert_non_null(loop);
    assert_int_equal(uv_loop_init(loop), 0);
    at_end(end_loop, loop);
    return loop;
}

void net_kit_close_socket(nng_socket socket)
{
    const int64_t late_ns = aq_clock_monotonic_ns() + NET_KIT_PATIENCE_MS * AQ_NS_PER_MS;
    (void)aq_nng_close(socket); /* what is late is closed in the background */
    while (aq_net_unclosed() > 0) {
        assert_true(aq_clock_monotonic_ns() < late_ns);
        (void)poll(NULL, 0, LOOK_UP_MS);
    }
}

int net_kit_connect(const char *url)
{
    char host[INET_ADDRSTRLEN];
    uint16_t port;
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(descriptor >= 0);
    assert_int_equal(sscanf(url, "tcp://%15[0-9.]:%" SCNu16, host, &port), 2);
    struct addrinfo *address = net_kit_address(host, port);
    assert_int_equal(connect(descriptor, address->ai_addr, address->ai_addrlen), 0);
    freeaddrinfo(address);
    return descriptor;
}

struct addrinfo *net_kit_address(const char *host, uint16_t number)
{
    struct {
        struct addrinfo node;
        aq_ip_address address;
    } *made = calloc(1, sizeof(*made));
    const in_port_t port = htons(number);
    assert_non_null(made);
    made->node.ai_addr = &made->address.any;
    if (inet_pton(AF_INET6, host, &made->address.v6.sin6_addr) == 1) {
        made->address.v6.sin6_family = AF_INET6;
        made->address.v6.sin6_port = port;
        made->node.ai_addrlen = sizeof(made->address.v6);
    } else {
        memset(&made->address, 0, sizeof(made->address));
        assert_int_equal(inet_pton(AF_INET, host, &made->address.v4.sin_addr), 1);
        made->address.v4.sin_family = AF_INET;
        made->address.v4.sin_port = port;
        made->node.ai_addrlen = sizeof(made->address.v4);
    }
    made->node.ai_family = made->address.any.sa_family;
    made->node.ai_socktype = SOCK_STREAM;
    return &made->node;
}

const char *net_kit_url(const char *transport, char *ret_url)
{
    static unsigned number;
    number++;
    if (strcmp(transport, "tcp") == 0) {
        snprintf(ret_url, AQ_URL_MAX, "%s", own_host_url());
    } else {
        snprintf(ret_url, AQ_URL_MAX, "%s:///tmp/aq-net-%ld-%u", transport, (long)getpid(), number);
    }
    return ret_url;
}

/* ---- experience ---------------------------------------------------------------------------- */

enum { DELIVERED_BYTES = 200000 };

typedef struct delivery {
    aq_push *push;
    unsigned goal, sent, received, wrong;
    size_t size;                    /* of a message as it comes, with its seal */
    uint8_t bytes[DELIVERED_BYTES]; /* the first is the message's number */
} delivery;

static void send_more(void *user)
{
    delivery *all = user;
    bool has_room = true;
    while (all->sent < all->goal && has_room) {
        all->bytes[0] = (uint8_t)all->sent;
        has_room = aq_push_send(all->push, all->bytes, DELIVERED_BYTES) == 0;
        all->sent += has_room;
    }
}

static void ignore(void *user)
{
    (void)user;
}

static void on_message(void *user, aq_lease *message, const char *peer)
{
    delivery *all = user;
    all->wrong += message->size != all->size || message->bytes[0] != (uint8_t)all->received ||
                  memcmp(message->bytes + 1, all->bytes + 1, DELIVERED_BYTES - 1) != 0 ||
                  strncmp(peer, "tcp://127.0.0.1:", 16) != 0;
    all->received++;
}

static bool is_delivered(void *user)
{
    const delivery *all = user;
    return all->received == all->goal;
}

void net_kit_deliver(const aq_net_limits *pull_limits, const aq_net_limits *push_limits,
                     void (*rename)(const char *url, char *ret_url), unsigned messages)
{
    static delivery all;
    const aq_push_events events = {
        .connected = send_more, .disconnected = ignore, .writable = send_more, .user = &all};
    char url[AQ_URL_MAX];
    uv_loop_t *loop = net_kit_loop();
    aq_pull *pull;
    all = (delivery){.goal = messages};
    all.size =
        DELIVERED_BYTES + (aq_security_token(push_limits->security) != NULL ? AQ_SEAL_BYTES : 0);
    for (size_t i = 0; i < DELIVERED_BYTES; i++) {
        all.bytes[i] = (uint8_t)(i * 7 + i / 256);
    }
    assert_int_equal(
        aq_pull_create(loop, "tcp://127.0.0.1:0", pull_limits, on_message, &all, &pull, NULL), 0);
    (void)snprintf(url, sizeof(url), "%s", aq_pull_url(pull));
    if (rename != NULL) {
        rename(aq_pull_url(pull), url);
    }
    assert_int_equal(aq_push_create(loop, url, push_limits, &events, &all.push, NULL), 0);
    net_kit_run_until(loop, is_delivered, &all);
    assert_int_equal(all.wrong, 0);
    aq_push_close(all.push);
    aq_pull_close(pull);
}

/* ---- the pair ------------------------------------------------------------------------------ */

aq_net_limits net_kit_secured(const aq_security *security)
{
    aq_net_limits limits = net_kit_limits;
    limits.security = security;
    return limits;
}

static void open_server(net_pair *pair)
{
    const aq_net_limits limits = net_kit_secured(pair->own);
    assert_succeeds(aq_rpc_server_create(&pair->loop, pair->url, &limits, pair->dispatcher,
                                         &pair->server, &refusal));
    snprintf(pair->url, sizeof(pair->url), "%s", aq_rpc_server_url(pair->server));
}

void net_pair_dial(net_pair *pair, const char *url)
{
    const aq_net_limits limits = net_kit_secured(pair->callers);
    aq_rpc_client_close(pair->client);
    assert_succeeds(aq_rpc_client_create(&pair->loop, url, &limits, NET_PAIR_CALLS_MAX,
                                         &pair->client, &refusal));
    aq_rpc_channel *channel = aq_rpc_client_channel(pair->client);
    aq_rpc_stub_init(&pair->policy, channel, &actorq__v1__policy__descriptor, pair->timeout_ms);
    aq_rpc_stub_init(&pair->operations, channel, &actorq__v1__operations__descriptor,
                     pair->timeout_ms);
}

void net_pair_close(net_pair *pair)
{
    if (pair->is_closed) {
        return;
    }
    pair->is_closed = true;
    aq_rpc_client_close(pair->client);
    net_pair_stop_server(pair);
    rpc_kit_answer_held(&pair->kit);
    aq_rpc_dispatcher_destroy(pair->dispatcher);
    net_kit_finish_loop(&pair->loop);
}

static void end_pair(void *pair)
{
    net_pair_close(pair);
    free(pair);
}

static net_pair *serve_at(const char *url, const aq_security *own, const aq_security *callers,
                          uint32_t timeout_ms)
{
    net_pair *pair = calloc(1, sizeof(*pair));
    assert_non_null(pair);
    pair->own = own;
    pair->callers = callers;
    pair->timeout_ms = timeout_ms;
    assert_int_equal(uv_loop_init(&pair->loop), 0);
    at_end(end_pair, pair);
    rpc_kit_init(&pair->kit);
    assert_int_equal(aq_rpc_dispatcher_create(NET_PAIR_CALLS_MAX, NET_KIT_MESSAGE_MAX,
                                              8 * NET_KIT_MESSAGE_MAX, &pair->dispatcher),
                     0);
    aq_rpc_dispatcher_name(pair->dispatcher, AQ_ACCESS_LEARNER, 0);
    rpc_kit_add_to(&pair->kit, pair->dispatcher);
    (void)snprintf(pair->url, sizeof(pair->url), "%s", url);
    open_server(pair);
    return pair;
}

net_pair *net_pair_open(const char *transport, uint32_t timeout_ms)
{
    char url[AQ_URL_MAX];
    net_pair *pair = serve_at(net_kit_url(transport, url), NULL, NULL, timeout_ms);
    net_pair_dial(pair, pair->url);
    return pair;
}

net_pair *net_pair_serve(const aq_security *own, const aq_security *callers, uint32_t timeout_ms)
{
    return serve_at("tcp://127.0.0.1:0", own, callers, timeout_ms);
}

void net_pair_stop_server(net_pair *pair)
{
    aq_rpc_server_close(pair->server);
    pair->server = NULL;
}

void net_pair_restart_server(net_pair *pair)
{
    assert_null(pair->server);
    open_server(pair);
}

static rpc_result *next_result(net_pair *pair, const aq_rpc_stub *stub)
{
    assert_true(pair->result_count < NET_PAIR_RESULTS_MAX);
    rpc_result *result = &pair->results[pair->result_count++];
    result->stub = stub;
    return result;
}

const rpc_result *net_pair_fetch(net_pair *pair, uint32_t bytes)
{
    Actorq__V1__FetchPolicyRequest request = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;
    rpc_result *result = next_result(pair, &pair->policy);
    request.format = bytes;
    actorq__v1__policy__fetch(&pair->policy.base, &request, rpc_on_fetched, result);
    return result;
}

const rpc_result *net_pair_stop(net_pair *pair, const char *reason)
{
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    rpc_result *result = next_result(pair, &pair->operations);
    request.reason = (char *)(uintptr_t)reason;
    actorq__v1__operations__stop(&pair->operations.base, &request, rpc_on_stopped, result);
    return result;
}

static bool is_answered(void *user)
{
    return ((const rpc_result *)user)->count > 0;
}

const rpc_result *net_pair_wait(net_pair *pair, const rpc_result *result)
{
    net_kit_run_until(&pair->loop, is_answered, (void *)(uintptr_t)result);
    assert_int_equal(result->count, 1);
    return result;
}

typedef struct count_goal {
    const net_pair *pair;
    unsigned carried_out;
    size_t held;
} count_goal;

static bool is_reached(void *user)
{
    const count_goal *goal = user;
    return goal->pair->kit.carried_out >= goal->carried_out &&
           goal->pair->kit.held_count >= goal->held;
}

void net_pair_wait_carried_out(net_pair *pair, unsigned count)
{
    count_goal goal = {.pair = pair, .carried_out = count};
    net_kit_run_until(&pair->loop, is_reached, &goal);
}

void net_pair_wait_held(net_pair *pair, size_t count)
{
    count_goal goal = {.pair = pair, .held = count};
    net_kit_run_until(&pair->loop, is_reached, &goal);
}

void net_pair_hold(net_pair *pair, const rpc_result **ret_results, size_t count)
{
    pair->kit.hold = true;
    for (size_t i = 0; i < count; i++) {
        ret_results[i] = net_pair_stop(pair, "x");
    }
    net_pair_wait_held(pair, count);
}

void net_pair_close_client(net_pair *pair)
{
    aq_rpc_client_close(pair->client);
    pair->client = NULL;
}
