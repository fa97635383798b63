/*
 * A peer on this host that takes nothing for half a minute. The one test that has to wait for it.
 */
#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>

#include "common/net/nng_mend/nng_close.h"
#include "common/net/sockets/endpoint.h"
#include "common/net/sockets/push.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

typedef struct fixture {
    uv_loop_t loop;
    aq_push *push;
    unsigned connected, disconnected;
} fixture;

static void on_connected(void *user)
{
    ((fixture *)user)->connected++;
}

static void on_disconnected(void *user)
{
    ((fixture *)user)->disconnected++;
}

static bool is_connected_twice(void *user)
{
    return ((const fixture *)user)->connected == 2;
}

static bool is_connected(void *user)
{
    return ((const fixture *)user)->connected == 1;
}

TEST(a_peer_that_takes_nothing_is_given_up)
{
    static uint8_t bytes[NET_KIT_MESSAGE_MAX];
    fixture f = {.push = NULL};
    const aq_push_events events = {on_connected, on_disconnected, NULL, &f};
    int64_t start_ns = aq_clock_monotonic_ns();
    char url[AQ_URL_MAX], bound[AQ_URL_MAX];
    nng_listener listener;
    nng_socket puller;
    assert_int_equal(uv_loop_init(&f.loop), 0);
    assert_int_equal(nng_pull0_open(&puller), 0);
    assert_int_equal(aq_endpoint_listen(puller, net_kit_url("ipc", url), &net_kit_limits, 0,
                                        &listener, bound, NULL),
                     0);
    assert_int_equal(aq_push_create(&f.loop, bound, &net_kit_limits, &events, &f.push, NULL), 0);
    net_kit_run_until(&f.loop, is_connected, &f);
    while (f.disconnected == 0) { /* as an actor does: it tries again and again */
        while (aq_push_send(f.push, bytes, sizeof(bytes)) == 0) {
        }
        net_kit_run_for(&f.loop, 100);
        assert_true(aq_clock_monotonic_ns() - start_ns < 60 * AQ_NS_PER_S);
    }
    assert_true(aq_clock_monotonic_ns() - start_ns > 29 * AQ_NS_PER_S);
    net_kit_run_until(&f.loop, is_connected_twice, &f);
    assert_int_equal(aq_push_send(f.push, bytes, 1), 0);
    aq_push_close(f.push);
    assert_true(aq_nng_close(puller));
    net_kit_finish_loop(&f.loop);
}
