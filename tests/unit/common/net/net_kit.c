/*
 * See net_kit.h.
 */
#include "tests/unit/common/net/net_kit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/address/url.h"
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

/* True when `done` was, before the time was over. */
static bool run(uv_loop_t *loop, net_kit_fn done, void *user, int time_ms)
{
    int64_t end_ns = aq_clock_monotonic_ns() + time_ms * AQ_NS_PER_MS;
    uv_timer_t *timer = aq_alloc(1, sizeof(*timer));

    assert_non_null(timer);
    assert_int_equal(uv_timer_init(loop, timer), 0);
    uv_update_time(loop);
    assert_int_equal(uv_timer_start(timer, on_time, LOOK_UP_MS, LOOK_UP_MS), 0);
    while (aq_clock_monotonic_ns() < end_ns && (done == NULL || !done(user))) {
        uv_run(loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)timer, free_handle);
    return done != NULL && done(user);
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

const char *net_kit_url(const char *transport, char *ret_url)
{
    static unsigned number;

    number++;
    if (strcmp(transport, "tcp") == 0) {
        snprintf(ret_url, AQ_URL_MAX, "tcp://127.0.0.1:0");
    } else {
        snprintf(ret_url, AQ_URL_MAX, "%s:///tmp/aq-net-%ld-%u", transport, (long)getpid(), number);
    }
    return ret_url;
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
    aq_error error = {0};

    if (aq_rpc_server_create(&pair->loop, pair->url, &limits, pair->dispatcher, NET_PAIR_CALLS_MAX,
                             &pair->server, &error) < 0) {
        fail_msg("%s", error.text);
    }
    snprintf(pair->url, sizeof(pair->url), "%s", aq_rpc_server_url(pair->server));
}

void net_pair_dial(net_pair *pair, const char *url)
{
    const aq_net_limits limits = net_kit_secured(pair->callers);
    aq_error error = {0};
    aq_rpc_channel *channel;

    aq_rpc_client_close(pair->client);
    if (aq_rpc_client_create(&pair->loop, url, &limits, NET_PAIR_CALLS_MAX, &pair->client, &error) <
        0) {
        fail_msg("%s", error.text);
    }
    channel = aq_rpc_client_channel(pair->client);
    aq_rpc_stub_init(&pair->policy, channel, &actorq__v1__policy__descriptor, pair->timeout_ms);
    aq_rpc_stub_init(&pair->operations, channel, &actorq__v1__operations__descriptor,
                     pair->timeout_ms);
}

static void serve(net_pair *pair, const char *transport)
{
    assert_int_equal(uv_loop_init(&pair->loop), 0);
    rpc_kit_init(&pair->kit);
    assert_int_equal(aq_rpc_dispatcher_create(NET_PAIR_CALLS_MAX, NET_KIT_MESSAGE_MAX,
                                              8 * NET_KIT_MESSAGE_MAX, &pair->dispatcher),
                     0);
    rpc_kit_add_to(&pair->kit, pair->dispatcher);
    net_kit_url(transport, pair->url);
    open_server(pair);
}

void net_pair_open(net_pair *pair, const char *transport, uint32_t timeout_ms)
{
    *pair = (net_pair){.timeout_ms = timeout_ms};
    serve(pair, transport);
    net_pair_dial(pair, pair->url);
}

void net_pair_serve(net_pair *pair, aq_security *own, aq_security *callers, uint32_t timeout_ms)
{
    *pair = (net_pair){.timeout_ms = timeout_ms, .own = own, .callers = callers};
    serve(pair, "tcp");
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

void net_pair_close(net_pair *pair)
{
    aq_rpc_client_close(pair->client);
    net_pair_stop_server(pair);
    rpc_kit_answer_held(&pair->kit);
    aq_rpc_dispatcher_destroy(pair->dispatcher);
    net_kit_finish_loop(&pair->loop);
    aq_security_destroy(pair->own);
    aq_security_destroy(pair->callers);
}

void net_pair_fetch(net_pair *pair, uint32_t bytes, rpc_result *result)
{
    Actorq__V1__FetchPolicyRequest request = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;

    request.format = bytes;
    *result = (rpc_result){.stub = &pair->policy};
    actorq__v1__policy__fetch(&pair->policy.base, &request, rpc_on_fetched, result);
}

void net_pair_stop(net_pair *pair, const char *reason, rpc_result *result)
{
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    char text[64];

    snprintf(text, sizeof(text), "%s", reason);
    request.reason = text;
    *result = (rpc_result){.stub = &pair->operations};
    actorq__v1__operations__stop(&pair->operations.base, &request, rpc_on_stopped, result);
}

static bool is_answered(void *user)
{
    return ((const rpc_result *)user)->count > 0;
}

void net_pair_wait(net_pair *pair, const rpc_result *result)
{
    rpc_result *watched = (rpc_result *)(uintptr_t)result;

    net_kit_run_until(&pair->loop, is_answered, watched);
    assert_int_equal(result->count, 1);
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
