/*
 * Remote calls over NNG, on every transport: answers of every size, many at once, held back, late.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/net/nng_mend/nng_close.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { TIMEOUT_MS = 120000, AT_ONCE = 32 };

static const char *const transports[] = {"inproc", "ipc", "tcp"};

/* Runs a test over each transport. */
static void over_each(void (*test)(net_pair *pair, const char *transport), uint32_t timeout_ms)
{
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
        net_pair pair;

        net_pair_open(&pair, transports[i], timeout_ms);
        test(&pair, transports[i]);
        net_pair_close(&pair);
    }
}

static void go_there_and_back(net_pair *pair, const char *transport)
{
    rpc_result result;

    net_pair_stop(pair, "enough", &result);
    assert_int_equal(result.count, 0); /* never from within the call */
    net_pair_wait(pair, &result);
    assert_true(result.ok);
    assert_string_equal(pair->kit.reason, "enough");
    assert_ptr_equal(strstr(pair->kit.peer, transport), pair->kit.peer);
    assert_true(aq_rpc_client_connected(pair->client));
}

TEST(a_call_goes_there_and_back)
{
    over_each(go_there_and_back, TIMEOUT_MS);
}

static void fetch_all_sizes(net_pair *pair, const char *transport)
{
    static const uint32_t sizes[] = {0, 1, 100, 65536, NET_KIT_MESSAGE_MAX - 100};

    (void)transport;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        rpc_result result;

        net_pair_fetch(pair, sizes[i], &result);
        net_pair_wait(pair, &result);
        assert_true(result.ok);
        assert_int_equal(result.bytes, sizes[i]);
    }
}

TEST(answers_of_every_size_come_whole)
{
    over_each(fetch_all_sizes, TIMEOUT_MS);
}

TEST(a_frame_of_exactly_the_limit_passes)
{
    rpc_result result;
    net_pair pair;
    uint32_t bytes = NET_KIT_MESSAGE_MAX;

    net_pair_open(&pair, "tcp", TIMEOUT_MS);
    do { /* the largest that the dispatcher sends: its frame fills the limit */
        bytes--;
        net_pair_fetch(&pair, bytes, &result);
        net_pair_wait(&pair, &result);
    } while (result.code == AQ_RPC_RESOURCE_EXHAUSTED);
    assert_true(result.ok);
    assert_in_range(bytes, NET_KIT_MESSAGE_MAX - 64, NET_KIT_MESSAGE_MAX - 16);
    net_pair_close(&pair);
}

static bool all_answered(void *user)
{
    const rpc_result *results = user;

    for (int i = 0; i < AT_ONCE; i++) {
        if (results[i].count == 0) {
            return false;
        }
    }
    return true;
}

static void call_many_at_once(net_pair *pair, const char *transport)
{
    rpc_result results[AT_ONCE];

    (void)transport;
    for (int round = 0; round < 10; round++) {
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            net_pair_fetch(pair, i * 997, &results[i]);
        }
        net_kit_run_until(&pair->loop, all_answered, results);
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            assert_int_equal(results[i].count, 1);
            assert_true(results[i].ok);
            assert_int_equal(results[i].bytes, i * 997);
        }
    }
    assert_int_equal(pair->kit.carried_out, 10 * AT_ONCE);
}

TEST(many_calls_at_once_get_their_own_answers)
{
    over_each(call_many_at_once, TIMEOUT_MS);
}

static void hold_many_back(net_pair *pair, const char *transport)
{
    rpc_result held[AT_ONCE], quick;

    (void)transport;
    pair->kit.hold = true;
    for (int i = 0; i < AT_ONCE; i++) {
        net_pair_stop(pair, "later", &held[i]);
    }
    net_pair_wait_held(pair, AT_ONCE);
    net_pair_fetch(pair, 10, &quick);
    net_pair_wait(pair, &quick);
    assert_true(quick.ok);
    for (int i = 0; i < AT_ONCE; i++) {
        assert_int_equal(held[i].count, 0);
    }
    rpc_kit_answer_held(&pair->kit);
    net_kit_run_until(&pair->loop, all_answered, held);
    for (int i = 0; i < AT_ONCE; i++) {
        assert_true(held[i].ok);
    }
}

TEST(answers_that_are_held_back_keep_nobody_else_waiting)
{
    over_each(hold_many_back, TIMEOUT_MS);
}

static void let_a_deadline_pass(net_pair *pair, const char *transport)
{
    int64_t start_ns = aq_clock_monotonic_ns();
    rpc_result late, next;
    int64_t elapsed_ns;

    (void)transport;
    pair->kit.hold = true;
    net_pair_stop(pair, "never", &late);
    net_pair_wait(pair, &late);
    elapsed_ns = aq_clock_monotonic_ns() - start_ns;
    assert_int_equal(late.code, AQ_RPC_DEADLINE_EXCEEDED);
    assert_in_range(elapsed_ns, 300 * AQ_NS_PER_MS, 5000 * AQ_NS_PER_MS);
    rpc_kit_answer_held(&pair->kit); /* goes nowhere */
    pair->kit.hold = false;
    net_pair_stop(pair, "now", &next);
    net_pair_wait(pair, &next);
    assert_true(next.ok);
    assert_int_equal(late.count, 1);
}

TEST(a_deadline_passes_and_the_late_answer_is_dropped)
{
    over_each(let_a_deadline_pass, 300);
}

TEST(statuses_travel)
{
    rpc_result result;
    net_pair pair;

    net_pair_open(&pair, "tcp", TIMEOUT_MS);
    pair.kit.fail = true;
    net_pair_stop(&pair, "godot", &result);
    net_pair_wait(&pair, &result);
    assert_int_equal(result.code, AQ_RPC_NOT_FOUND);
    assert_string_equal(result.message, "nobody is called godot");
    net_pair_close(&pair);
}

TEST(calls_beyond_the_clients_limit_fail_at_once)
{
    rpc_result held[NET_PAIR_CALLS_MAX], beyond;
    net_pair pair;

    net_pair_open(&pair, "ipc", TIMEOUT_MS);
    pair.kit.hold = true;
    for (int i = 0; i < NET_PAIR_CALLS_MAX; i++) {
        net_pair_stop(&pair, "x", &held[i]);
    }
    net_pair_stop(&pair, "x", &beyond);
    assert_int_equal(beyond.code, AQ_RPC_RESOURCE_EXHAUSTED);
    net_pair_wait_held(&pair, NET_PAIR_CALLS_MAX);
    rpc_kit_answer_held(&pair.kit);
    for (int i = 0; i < NET_PAIR_CALLS_MAX; i++) {
        if (held[i].count == 0) {
            net_pair_wait(&pair, &held[i]);
        }
        assert_true(held[i].ok);
    }
    net_pair_close(&pair);
}

TEST(calls_beyond_the_daemons_limit_are_told_so)
{
    rpc_result held[NET_PAIR_CALLS_MAX], beyond = {0};
    aq_rpc_client *second = NULL;
    aq_rpc_stub stub;
    net_pair pair;
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;

    net_pair_open(&pair, "tcp", TIMEOUT_MS);
    pair.kit.hold = true;
    for (int i = 0; i < NET_PAIR_CALLS_MAX; i++) {
        net_pair_stop(&pair, "x", &held[i]);
    }
    net_pair_wait_held(&pair, NET_PAIR_CALLS_MAX);
    assert_int_equal(aq_rpc_client_create(&pair.loop, pair.url, &net_kit_limits, 1, &second, NULL),
                     0);
    aq_rpc_stub_init(&stub, aq_rpc_client_channel(second), &actorq__v1__operations__descriptor,
                     TIMEOUT_MS);
    beyond.stub = &stub;
    actorq__v1__operations__stop(&stub.base, &request, rpc_on_stopped, &beyond);
    net_pair_wait(&pair, &beyond);
    assert_int_equal(beyond.code, AQ_RPC_RESOURCE_EXHAUSTED);
    aq_rpc_client_close(second);
    rpc_kit_answer_held(&pair.kit);
    net_pair_close(&pair);
}
