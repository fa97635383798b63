/*
 * Clients and servers that are made and closed at every moment that may be.
 */
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { TIMEOUT_MS = 120000, CALLS = 8 };

TEST(closing_a_client_cancels_its_calls_once)
{
    const rpc_result *results[CALLS];
    net_pair *pair = net_pair_open("tcp", TIMEOUT_MS);
    net_pair_hold(pair, results, CALLS);
    net_pair_close_client(pair);
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(results[i]->count, 1);
        assert_int_equal(results[i]->code, AQ_RPC_CANCELLED);
    }
    rpc_kit_answer_held(&pair->kit);
    net_kit_run_for(&pair->loop, 20);
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(results[i]->count, 1);
    }
}

/* The answers may be anywhere between the peers: on their way, in the mailbox, not yet made. */
static net_pair *open_in_mid_traffic(int round, const rpc_result **ret_results)
{
    net_pair *pair = net_pair_open(round % 2 == 0 ? "ipc" : "tcp", TIMEOUT_MS);
    for (uint32_t i = 0; i < CALLS; i++) {
        ret_results[i] = net_pair_fetch(pair, 1000 * i);
    }
    for (int turn = 0; turn < round; turn++) {
        uv_run(&pair->loop, UV_RUN_NOWAIT);
    }
    return pair;
}

TEST(closing_a_client_in_mid_traffic_answers_every_call_once)
{
    for (int round = 0; round < 40; round++) {
        const rpc_result *results[CALLS];
        net_pair *pair = open_in_mid_traffic(round, results);
        net_pair_close_client(pair);
        for (int i = 0; i < CALLS; i++) {
            assert_int_equal(results[i]->count, 1);
        }
        net_pair_close(pair);
    }
}

TEST(closing_a_server_in_mid_traffic_leaves_its_calls_to_the_next)
{
    for (int round = 0; round < 20; round++) {
        const rpc_result *results[CALLS];
        net_pair *pair = open_in_mid_traffic(round, results);
        net_pair_stop_server(pair);
        net_pair_restart_server(pair);
        for (uint32_t i = 0; i < CALLS; i++) {
            assert_true(net_pair_wait(pair, results[i])->ok);
            assert_int_equal(results[i]->bytes, 1000 * i);
        }
        assert_int_equal(pair->kit.carried_out, CALLS);
        net_pair_close(pair);
    }
}

static void on_stopped_close_client(const Actorq__V1__StopReply *reply, void *user)
{
    net_pair *pair = user;
    assert_non_null(reply);
    net_pair_close_client(pair);
}

static bool client_is_closed(void *user)
{
    return ((const net_pair *)user)->client == NULL;
}

TEST(a_closure_may_close_its_client)
{
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    net_pair *pair = net_pair_open("ipc", TIMEOUT_MS);
    const rpc_result *other;
    net_pair_hold(pair, &other, 1);
    pair->kit.hold = false;
    actorq__v1__operations__stop(&pair->operations.base, &request, on_stopped_close_client, pair);
    net_kit_run_until(&pair->loop, client_is_closed, pair);
    assert_int_equal(other->code, AQ_RPC_CANCELLED);
}

/* A closure of a closing client that tries to call once more. */
static void on_stopped_call_again(const Actorq__V1__StopReply *reply, void *user)
{
    net_pair *pair = user;
    assert_null(reply);
    const rpc_result *again = net_pair_stop(pair, "again");
    assert_int_equal(again->count, 1);
    assert_int_equal(again->code, AQ_RPC_CANCELLED);
    assert_false(aq_rpc_client_connected(pair->client));
}

TEST(a_closing_client_takes_no_calls)
{
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    net_pair *pair = net_pair_open("ipc", TIMEOUT_MS);
    pair->kit.hold = true;
    actorq__v1__operations__stop(&pair->operations.base, &request, on_stopped_call_again, pair);
    net_pair_wait_held(pair, 1);
    net_pair_close(pair);
}

TEST(answers_after_the_server_is_closed_go_nowhere)
{
    const rpc_result *results[CALLS];
    net_pair *pair = net_pair_open("inproc", TIMEOUT_MS);
    net_pair_hold(pair, results, CALLS);
    net_pair_stop_server(pair);
    rpc_kit_answer_held(&pair->kit);
    net_kit_run_for(&pair->loop, 300);
    for (int i = 0; i < CALLS; i++) {
        assert_int_equal(results[i]->count, 0);
    }
}

/* A method that closes the server it was called through, before or after it answers. */
typedef struct closing_service {
    Actorq__V1__Operations_Service operations; /* first */
    net_pair *pair;
    bool answer_first;
} closing_service;

static void close_and_answer(Actorq__V1__Operations_Service *operations,
                             const Actorq__V1__CheckpointRequest *request,
                             Actorq__V1__CheckpointReply_Closure closure, void *call)
{
    closing_service *service = (closing_service *)operations;
    Actorq__V1__CheckpointReply reply = ACTORQ__V1__CHECKPOINT_REPLY__INIT;
    (void)request;
    if (service->answer_first) {
        closure(&reply, call);
        net_pair_stop_server(service->pair);
    } else {
        net_pair_stop_server(service->pair);
        closure(&reply, call);
    }
}

static bool server_is_closed(void *user)
{
    return ((const net_pair *)user)->server == NULL;
}

static void on_checkpoint(const Actorq__V1__CheckpointReply *reply, void *user)
{
    rpc_result *result = user;
    result->count++;
    result->ok = reply != NULL;
}

/* Whether the call succeeds. */
static bool call_closing_service(const char *transport, bool answer_first, bool restart)
{
    Actorq__V1__CheckpointRequest request = ACTORQ__V1__CHECKPOINT_REQUEST__INIT;
    closing_service service = {.answer_first = answer_first};
    rpc_result result = {0};
    net_pair *pair = net_pair_open(transport, TIMEOUT_MS);
    pair->kit.operations.checkpoint = close_and_answer;
    service.operations = pair->kit.operations;
    service.pair = pair;
    /* Another dispatcher, whose only service is this one. */
    net_pair_stop_server(pair);
    aq_rpc_dispatcher_destroy(pair->dispatcher);
    assert_int_equal(aq_rpc_dispatcher_create(4, 4096, 65536, &pair->dispatcher), 0);
    assert_int_equal(aq_rpc_dispatcher_add(pair->dispatcher, &service.operations.base), 0);
    net_pair_restart_server(pair);
    actorq__v1__operations__checkpoint(&pair->operations.base, &request, on_checkpoint, &result);
    net_kit_run_until(&pair->loop, server_is_closed, pair);
    if (restart) {
        net_pair_restart_server(pair);
    }
    net_pair_wait(pair, &result);
    net_pair_close(pair);
    return result.ok;
}

TEST(a_method_may_close_the_server)
{
    assert_true(call_closing_service("tcp", false, true)); /* kept, and given to the repeat */
    assert_true(call_closing_service("ipc", false, true));
}

TEST(a_small_answer_survives_the_closing_of_the_server)
{
    for (int i = 0; i < 10; i++) {
        assert_true(call_closing_service(i % 2 == 0 ? "tcp" : "ipc", true, false));
    }
}

/* Creates until nothing fails; what was half made must be gone. */
static void create_server_until_there_is_memory(uv_loop_t *loop, const char *url)
{
    aq_rpc_dispatcher *dispatcher = NULL;
    aq_rpc_server *server = NULL;
    assert_int_equal(aq_rpc_dispatcher_create(4, 4096, 0, &dispatcher), 0);
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        assert_null(server);
        rc = aq_rpc_server_create(loop, url, &net_kit_limits, dispatcher, &server, &refusal);
        assert_int_equal(refusal.code, rc);
    }
    aq_rpc_server_close(server);
    aq_rpc_dispatcher_destroy(dispatcher);
}

static void create_client_until_there_is_memory(uv_loop_t *loop, const char *url)
{
    aq_rpc_client *client = NULL;
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        assert_null(client);
        rc = aq_rpc_client_create(loop, url, &net_kit_limits, 4, &client, &refusal);
        assert_int_equal(refusal.code, rc);
    }
    aq_rpc_client_close(client);
}

TEST(creating_without_memory_leaves_nothing_behind)
{
    static const char *const transports[] = {"tcp", "ipc"};
    char url[AQ_URL_MAX];
    uv_loop_t *loop = net_kit_loop();
    for (int i = 0; i < 2; i++) {
        create_server_until_there_is_memory(loop, net_kit_url(transports[i], url));
        create_client_until_there_is_memory(loop, net_kit_url("ipc", url));
    }
}

TEST(a_call_without_memory_for_a_slot_fails_at_once)
{
    net_pair *pair = net_pair_open("ipc", TIMEOUT_MS);
    aq_memory_fail_at(3, 0); /* the call, its frame, then the slot */
    const rpc_result *result = net_pair_stop(pair, "x");
    aq_memory_fail_at(0, 0);
    assert_int_equal(result->code, AQ_RPC_RESOURCE_EXHAUSTED);
    assert_true(net_pair_wait(pair, net_pair_stop(pair, "x"))->ok);
}

TEST(closing_nothing_is_fine)
{
    aq_rpc_client_close(NULL);
    aq_rpc_server_close(NULL);
}
