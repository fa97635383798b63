/*
 * The guarded PUSH: what it sends, what it tells, and that it comes back after every kind of loss.
 */
#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/reqrep0/rep.h>
#include <poll.h>

#include "common/net/sockets/endpoint.h"
#include "common/net/sockets/push.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { BIG_BYTES = 512 * 1024 };

typedef struct fixture {
    uv_loop_t loop;
    aq_push *push;
    nng_socket puller; /* raw: it takes messages only when the test says so */
    bool is_pulling;
    char url[AQ_URL_MAX];
    unsigned connected, disconnected, writable;
    bool close_when_connected, close_when_disconnected, close_when_writable;
} fixture;

static uint8_t bytes[NET_KIT_MESSAGE_MAX + 1];

static void close_push(fixture *f)
{
    aq_push_close(f->push);
    f->push = NULL;
}

static void on_connected(void *user)
{
    fixture *f = user;
    assert_true(aq_push_connected(f->push));
    f->connected++;
    if (f->close_when_connected) {
        close_push(f);
    }
}

static void on_disconnected(void *user)
{
    fixture *f = user;
    assert_false(aq_push_connected(f->push));
    f->disconnected++;
    if (f->close_when_disconnected) {
        close_push(f);
    }
}

static void on_writable(void *user)
{
    fixture *f = user;
    f->writable++;
    if (f->close_when_writable) {
        close_push(f);
    }
}

/* Listens at f->url, which then has the port. */
static void start_pulling(fixture *f)
{
    nng_listener listener;
    char bound[AQ_URL_MAX];
    assert_int_equal(nng_pull0_open(&f->puller), 0);
    assert_int_equal(
        aq_endpoint_listen(f->puller, f->url, &net_kit_limits, 0, &listener, bound, NULL), 0);
    memcpy(f->url, bound, sizeof(f->url));
    assert_int_equal(nng_socket_set_ms(f->puller, NNG_OPT_RECVTIMEO, NET_KIT_PATIENCE_MS), 0);
    f->is_pulling = true;
}

static void stop_pulling(fixture *f)
{
    net_kit_close_socket(f->puller);
    f->is_pulling = false;
}

static void open_push(fixture *f)
{
    const aq_push_events events = {on_connected, on_disconnected, on_writable, f};
    assert_int_equal(aq_push_create(&f->loop, f->url, &net_kit_limits, &events, &f->push, NULL), 0);
}

static void end_fixture(void *user)
{
    fixture *f = user;
    close_push(f);
    if (f->is_pulling) {
        stop_pulling(f);
    }
    net_kit_finish_loop(&f->loop);
    free(f);
}

/* Nobody pulls yet, and nobody pushes. */
static fixture *make_fixture(const char *transport)
{
    fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    assert_int_equal(uv_loop_init(&f->loop), 0);
    at_end(end_fixture, f);
    net_kit_url(transport, f->url);
    return f;
}

static fixture *open_fixture(const char *transport)
{
    fixture *f = make_fixture(transport);
    start_pulling(f);
    open_push(f);
    return f;
}

static bool is_connected(void *user)
{
    const fixture *f = user;
    return f->push != NULL && aq_push_connected(f->push);
}

static bool was_disconnected(void *user)
{
    return ((const fixture *)user)->disconnected > 0;
}

static bool was_writable(void *user)
{
    return ((const fixture *)user)->writable > 0;
}

static bool is_push_closed(void *user)
{
    return ((const fixture *)user)->push == NULL;
}

static fixture *open_connected(const char *transport)
{
    fixture *f = open_fixture(transport);
    net_kit_run_until(&f->loop, is_connected, f);
    return f;
}

/* Takes one message at the other end, and gives its first four bytes. */
static uint32_t pull_number(fixture *f)
{
    nng_msg *message;
    uint32_t number;
    assert_int_equal(nng_recvmsg(f->puller, &message, 0), 0);
    assert_true(nng_msg_len(message) >= sizeof(number));
    memcpy(&number, nng_msg_body(message), sizeof(number));
    nng_msg_free(message);
    return number;
}

static int push_number(fixture *f, uint32_t number, size_t size)
{
    memcpy(bytes, &number, sizeof(number));
    return aq_push_send(f->push, bytes, size);
}

/* Sends until there has been no room for a while, and nobody was told of any; how many were taken.
 * A busy host may still make room later: what was sent moves on at its own pace. */
static uint32_t fill(fixture *f)
{
    uint32_t count = 0;
    do {
        f->writable = 0;
        while (push_number(f, count, BIG_BYTES) == 0) {
            count++;
            assert_true(count < 10000);
        }
        net_kit_run_for(&f->loop, 100);
    } while (f->writable > 0);
    return count;
}

TEST(messages_arrive_in_order)
{
    static const char *const transports[] = {"tcp", "ipc", "inproc"};
    for (int i = 0; i < 3; i++) {
        uint32_t sent = 0, taken = 0;
        fixture *f = open_connected(transports[i]);
        assert_int_equal(f->connected, 1);
        while (taken < 500) {
            int rc = sent < 500 ? push_number(f, sent, 100 + sent) : AQ_E_AGAIN;
            sent += rc == 0;
            if (rc == AQ_E_AGAIN && taken < sent) {
                assert_int_equal(pull_number(f), taken);
                taken++;
            }
            uv_run(&f->loop, UV_RUN_NOWAIT);
        }
        assert_int_equal(f->disconnected, 0);
    }
}

TEST(a_send_before_the_connection_is_refused_for_now)
{
    fixture *f = open_fixture("tcp");
    assert_false(aq_push_connected(f->push));
    assert_int_equal(aq_push_send(f->push, bytes, 10), AQ_E_AGAIN);
    net_kit_run_until(&f->loop, is_connected, f);
    assert_int_equal(aq_push_send(f->push, bytes, 10), 0);
}

TEST(a_message_past_the_limit_is_never_sent)
{
    fixture *f = open_connected("tcp");
    assert_int_equal(aq_push_send(f->push, bytes, NET_KIT_MESSAGE_MAX + 1), AQ_E_TOO_BIG);
    assert_int_equal(push_number(f, 77, NET_KIT_MESSAGE_MAX), 0);
    assert_int_equal(pull_number(f), 77);
    net_kit_run_for(&f->loop, 20);
    assert_int_equal(f->disconnected, 0);
}

TEST(a_slow_peer_is_waited_for_and_writable_follows)
{
    fixture *f = open_connected("tcp");
    uint32_t count = fill(f);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pull_number(f), i);
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    net_kit_run_until(&f->loop, was_writable, f);
    assert_int_equal(push_number(f, count, 100), 0);
    assert_int_equal(pull_number(f), count);
}

/* As during a long step of an environment. A peer that is slow has half a minute. */
TEST(a_loop_that_stood_still_is_no_slow_peer)
{
    fixture *f = open_connected("tcp");
    f->loop.time -= 31000;
    while (push_number(f, 0, BIG_BYTES) == 0) {
    }
    uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_int_equal(f->disconnected, 0);
}

/* Makes timers due, and finds the descriptor that tells of room. */
static void look_late(uv_handle_t *handle, void *ret_room)
{
    if (uv_is_active(handle) && handle->type == UV_TIMER) {
        ((uv_timer_t *)handle)->timeout = 0;
    } else if (uv_is_active(handle) && handle->type == UV_POLL) {
        assert_int_equal(uv_fileno(handle, ret_room), 0);
    }
}

/* The same after the send: what the peer took meanwhile counts before the time. */
TEST(a_loop_that_stood_still_while_there_was_room_is_no_slow_peer)
{
    struct pollfd room = {.fd = -1, .events = POLLIN};
    fixture *f = open_connected("tcp");
    uint32_t count = fill(f);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pull_number(f), i);
    }
    uv_walk(&f->loop, look_late, &room.fd);
    assert_true(room.fd >= 0);
    assert_int_equal(poll(&room, 1, NET_KIT_PATIENCE_MS), 1);
    uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_int_equal(f->writable, 1);
    assert_int_equal(f->disconnected, 0);
}

TEST(a_lost_peer_is_found_again)
{
    static const char *const transports[] = {"tcp", "ipc", "inproc"};
    for (int i = 0; i < 3; i++) {
        fixture *f = open_fixture(transports[i]);
        for (unsigned round = 1; round <= 5; round++) {
            net_kit_run_until(&f->loop, is_connected, f);
            assert_int_equal(f->connected, round);
            assert_int_equal(push_number(f, round, 100), 0);
            assert_int_equal(pull_number(f), round);
            stop_pulling(f);
            f->disconnected = 0;
            net_kit_run_until(&f->loop, was_disconnected, f);
            assert_int_equal(push_number(f, round, 100), AQ_E_AGAIN);
            start_pulling(f);
        }
    }
}

TEST(a_peer_lost_while_it_is_slow_is_found_again)
{
    fixture *f = open_connected("tcp");
    fill(f);
    stop_pulling(f);
    net_kit_run_until(&f->loop, was_disconnected, f);
    start_pulling(f);
    net_kit_run_until(&f->loop, is_connected, f);
    assert_int_equal(push_number(f, 5, 100), 0);
    assert_int_equal(pull_number(f), 5);
}

TEST(a_peer_that_is_not_there_yet_is_waited_for)
{
    fixture *f = make_fixture("ipc");
    open_push(f);
    net_kit_run_for(&f->loop, 100);
    assert_int_equal(f->connected, 0);
    start_pulling(f);
    net_kit_run_until(&f->loop, is_connected, f);
}

TEST(a_peer_of_another_pattern_is_never_connected)
{
    char bound[AQ_URL_MAX];
    nng_listener listener;
    nng_socket replier;
    fixture *f = open_connected("tcp");
    stop_pulling(f);
    assert_int_equal(nng_rep0_open(&replier), 0);
    assert_int_equal(
        aq_endpoint_listen(replier, f->url, &net_kit_limits, 0, &listener, bound, NULL), 0);
    net_kit_run_until(&f->loop, was_disconnected, f);
    net_kit_run_for(&f->loop, 200);
    assert_int_equal(f->connected, 1);
    assert_int_equal(f->disconnected, 1);
    net_kit_close_socket(replier);
    start_pulling(f);
    net_kit_run_until(&f->loop, is_connected, f);
}

TEST(connecting_may_close)
{
    fixture *f = open_fixture("tcp");
    f->close_when_connected = true;
    net_kit_run_until(&f->loop, is_push_closed, f);
}

TEST(losing_the_peer_may_close)
{
    fixture *f = open_connected("tcp");
    f->close_when_disconnected = true;
    stop_pulling(f);
    net_kit_run_until(&f->loop, is_push_closed, f);
}

TEST(getting_room_may_close)
{
    fixture *f = open_connected("tcp");
    uint32_t count = fill(f);
    f->close_when_writable = true;
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pull_number(f), i);
    }
    net_kit_run_until(&f->loop, is_push_closed, f);
}

TEST(closing_while_connecting_is_fine)
{
    for (int turns = 0; turns < 10; turns++) {
        fixture *f = open_fixture(turns % 2 == 0 ? "tcp" : "ipc");
        for (int i = 0; i < turns; i++) {
            uv_run(&f->loop, UV_RUN_NOWAIT);
        }
        close_push(f);
    }
    aq_push_close(NULL);
}

TEST(a_bad_url_is_refused)
{
    const aq_push_events events = {0};
    aq_push *push = NULL;
    assert_refused(
        aq_push_create(net_kit_loop(), "tcp://shard", &net_kit_limits, &events, &push, &refusal),
        AQ_E_INVALID, "tcp://shard");
    assert_null(push);
}

TEST(creating_without_memory_leaves_nothing_behind)
{
    const aq_push_events events = {0};
    aq_push *push = NULL;
    uv_loop_t *loop = net_kit_loop();
    assert_made_despite_failures(
        push, aq_push_create(loop, "ipc:///tmp/aq-nobody", &net_kit_limits, &events, &push, NULL));
    aq_push_close(push);
}
