/*
 * Remote calls over NNG, on every transport: answers of every size, many at once, held back, late.
 */
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { TIMEOUT_MS = 120000, AT_ONCE = 32 };

static const char *const transports[] = {"inproc", "ipc", "tcp"};

/* Runs a test over each transport. */
static void over_each(void (*test)(net_pair *pair, const char *transport), uint32_t timeout_ms)
{
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
        net_pair *pair = net_pair_open(transports[i], timeout_ms);
        test(pair, transports[i]);
        net_pair_close(pair);
    }
}

/* A test of a pair over each transport. */
#define OVER_EACH(name, timeout_ms)                                                                \
    static void over_##name(net_pair *pair, const char *transport);                                \
    TEST(name)                                                                                     \
    {                                                                                              \
        over_each(over_##name, timeout_ms);                                                        \
    }                                                                                              \
    static void over_##name(net_pair *pair, const char *transport __attribute__((unused)))

OVER_EACH(a_call_goes_there_and_back, TIMEOUT_MS)
{
    const rpc_result *result = net_pair_stop(pair, "enough");
    assert_int_equal(result->count, 0); /* never from within the call */
    net_pair_wait(pair, result);
    assert_true(result->ok);
    assert_string_equal(pair->kit.reason, "enough");
    assert_ptr_equal(strstr(pair->kit.peer, transport), pair->kit.peer);
    assert_true(aq_rpc_client_connected(pair->client));
}

OVER_EACH(answers_of_every_size_come_whole, TIMEOUT_MS)
{
    static const uint32_t sizes[] = {0, 1, 100, 65536, NET_KIT_MESSAGE_MAX - 100};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const rpc_result *result = net_pair_wait(pair, net_pair_fetch(pair, sizes[i]));
        assert_true(result->ok);
        assert_int_equal(result->bytes, sizes[i]);
    }
}

TEST(a_frame_of_exactly_the_limit_passes)
{
    uint32_t bytes = NET_KIT_MESSAGE_MAX;
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    const rpc_result *result;
    do { /* the largest that the dispatcher sends: its frame fills the limit */
        bytes--;
        result = net_pair_wait(pair, net_pair_fetch(pair, bytes));
    } while (result->code == AQ_RPC_RESOURCE_EXHAUSTED);
    assert_true(result->ok);
    assert_in_range(bytes, NET_KIT_MESSAGE_MAX - 64, NET_KIT_MESSAGE_MAX - 16);
}

OVER_EACH(many_calls_at_once_get_their_own_answers, TIMEOUT_MS)
{
    const rpc_result *results[AT_ONCE];
    for (int round = 0; round < 10; round++) {
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            results[i] = net_pair_fetch(pair, i * 997);
        }
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            assert_true(net_pair_wait(pair, results[i])->ok);
            assert_int_equal(results[i]->bytes, i * 997);
        }
    }
    assert_int_equal(pair->kit.carried_out, 10 * AT_ONCE);
}

OVER_EACH(answers_that_are_held_back_keep_nobody_else_waiting, TIMEOUT_MS)
{
    const rpc_result *held[AT_ONCE];
    net_pair_hold(pair, held, AT_ONCE);
    assert_true(net_pair_wait(pair, net_pair_fetch(pair, 10))->ok);
    for (int i = 0; i < AT_ONCE; i++) {
        assert_int_equal(held[i]->count, 0);
    }
    rpc_kit_answer_held(&pair->kit);
    for (int i = 0; i < AT_ONCE; i++) {
        assert_true(net_pair_wait(pair, held[i])->ok);
    }
}

OVER_EACH(a_deadline_passes_and_the_late_answer_is_dropped, 300)
{
    int64_t start_ns = aq_clock_monotonic_ns();
    pair->kit.hold = true;
    const rpc_result *late = net_pair_wait(pair, net_pair_stop(pair, "never"));
    int64_t elapsed_ns = aq_clock_monotonic_ns() - start_ns;
    assert_int_equal(late->code, AQ_RPC_DEADLINE_EXCEEDED);
    assert_in_range(elapsed_ns, 300 * AQ_NS_PER_MS, TIMEOUT_MS * AQ_NS_PER_MS);
    rpc_kit_answer_held(&pair->kit); /* goes nowhere */
    pair->kit.hold = false;
    pair->operations.timeout_ms = TIMEOUT_MS;
    assert_true(net_pair_wait(pair, net_pair_stop(pair, "now"))->ok);
    assert_int_equal(late->count, 1);
}

TEST(statuses_travel)
{
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    pair->kit.fail = true;
    const rpc_result *result = net_pair_wait(pair, net_pair_stop(pair, "godot"));
    assert_int_equal(result->code, AQ_RPC_NOT_FOUND);
    assert_string_equal(result->message, "nobody is called godot");
}

TEST(calls_beyond_the_clients_limit_fail_at_once)
{
    const rpc_result *held[NET_PAIR_CALLS_MAX];
    net_pair *pair = net_pair_open("ipc", TIMEOUT_MS);
    net_pair_hold(pair, held, NET_PAIR_CALLS_MAX);
    assert_int_equal(net_pair_stop(pair, "x")->code, AQ_RPC_RESOURCE_EXHAUSTED);
    rpc_kit_answer_held(&pair->kit);
    for (int i = 0; i < NET_PAIR_CALLS_MAX; i++) {
        assert_true(net_pair_wait(pair, held[i])->ok);
    }
}

TEST(calls_beyond_the_daemons_limit_are_told_so)
{
    const rpc_result *held[NET_PAIR_CALLS_MAX];
    rpc_result beyond = {0};
    aq_rpc_client *second = NULL;
    aq_rpc_stub stub;
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    net_pair_hold(pair, held, NET_PAIR_CALLS_MAX);
    assert_int_equal(
        aq_rpc_client_create(&pair->loop, pair->url, &net_kit_limits, 1, &second, NULL), 0);
    aq_rpc_stub_init(&stub, aq_rpc_client_channel(second), &actorq__v1__operations__descriptor,
                     TIMEOUT_MS);
    beyond.stub = &stub;
    actorq__v1__operations__stop(&stub.base, &request, rpc_on_stopped, &beyond);
    net_pair_wait(pair, &beyond);
    assert_int_equal(beyond.code, AQ_RPC_RESOURCE_EXHAUSTED);
    aq_rpc_client_close(second);
}
