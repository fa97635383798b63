/*
 * The daemon on real sockets, in a thread of its own, with a learner that only knows membership:
 * from joining to each of the ways in which it ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/net.h"
#include "common/net/push.h"
#include "common/net/rpc_client.h"
#include "common/net/rpc_server.h"
#include "common/sys/log.h"
#include "common/wire/wire_experience.h"
#include "common/wire/wire_run.h"
#include "proto/experience.pb-c.h"
#include "proto/operations.pb-c.h"
#include "proto/sampling.pb-c.h"
#include "replay/replay_net.h"
#include "tests/unit/replay/replay_kit.h"

enum { DEADLINE_S = 20, FRAME_BYTES_MAX = 1 << 20 };

typedef struct net_stage {
    Actorq__V1__Membership_Service membership; /* first */
    uv_loop_t loop;
    uv_timer_t heartbeat; /* keeps uv_run from waiting for ever */
    aq_rpc_dispatcher *dispatcher;
    aq_rpc_server *server;
    aq_run_settings settings;
    uint64_t run_id;
    Actorq__V1__RunState state;
    bool refuse;
    bool forget_once;
    int joins, heartbeats, leaves;
    uint64_t heard_inserted;
    char rpc_url[AQ_URL_MAX];
    char push_url[AQ_URL_MAX];
    aq_rpc_client *client;
    aq_push *push;
    pthread_t thread;
    aq_replay_options options;
    int result;
    aq_error error;
    int replies;
    uint64_t acknowledged, stored;
    uint32_t rows;
} net_stage;

/* ---- the learner --------------------------------------------------------------------------- */

static void on_join(Actorq__V1__Membership_Service *service, const Actorq__V1__JoinRequest *input,
                    Actorq__V1__JoinReply_Closure closure, void *closure_data)
{
    net_stage *stage = (net_stage *)service;
    static char policy_url[] = "tcp://127.0.0.1:1";
    aq_wire_settings_view view;
    Actorq__V1__JoinReply reply = ACTORQ__V1__JOIN_REPLY__INIT;
    assert_int_equal(input->role, ACTORQ__V1__ROLE__ROLE_REPLAY);
    stage->joins++;
    if (stage->refuse) {
        aq_rpc_fail(closure_data, AQ_RPC_FAILED_PRECONDITION, "no room for shards");
        return;
    }
    snprintf(stage->rpc_url, sizeof(stage->rpc_url), "%s", input->rpc_url);
    snprintf(stage->push_url, sizeof(stage->push_url), "%s", input->push_url);
    aq_wire_settings_to(&stage->settings, &view);
    reply.run_id = stage->run_id;
    reply.member = 9;
    reply.settings = &view.message;
    reply.policy_url = policy_url;
    reply.state = stage->state;
    closure(&reply, closure_data);
}

static void on_heartbeat(Actorq__V1__Membership_Service *service,
                         const Actorq__V1__HeartbeatRequest *input,
                         Actorq__V1__HeartbeatReply_Closure closure, void *closure_data)
{
    net_stage *stage = (net_stage *)service;
    Actorq__V1__HeartbeatReply reply = ACTORQ__V1__HEARTBEAT_REPLY__INIT;
    assert_non_null(input->replay);
    stage->heartbeats++;
    stage->heard_inserted = input->replay->inserted;
    reply.known = !stage->forget_once;
    reply.state = stage->state;
    stage->forget_once = false;
    closure(&reply, closure_data);
}

static void on_leave(Actorq__V1__Membership_Service *service, const Actorq__V1__LeaveRequest *input,
                     Actorq__V1__LeaveReply_Closure closure, void *closure_data)
{
    net_stage *stage = (net_stage *)service;
    Actorq__V1__LeaveReply reply = ACTORQ__V1__LEAVE_REPLY__INIT;
    assert_int_equal(input->member, 9);
    stage->leaves++;
    closure(&reply, closure_data);
}

static void on_timer(uv_timer_t *timer)
{
    (void)timer;
}

static int setup(void **state)
{
    static const Actorq__V1__Membership_Service membership = {
        .base = ACTORQ__V1__MEMBERSHIP__BASE_INIT,
        .join = on_join,
        .heartbeat = on_heartbeat,
        .leave = on_leave,
    };
    const aq_net_limits limits = {FRAME_BYTES_MAX, 10, 100};
    net_stage *stage = aq_alloc(1, sizeof(*stage));
    assert_non_null(stage);
    aq_log_set_level(AQ_LOG_OFF);
    stage->membership = membership;
    stage->settings = kit_settings();
    stage->settings.heartbeat_ms = 10;
    stage->run_id = KIT_RUN_ID;
    stage->state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    assert_int_equal(uv_loop_init(&stage->loop), 0);
    uv_timer_init(&stage->loop, &stage->heartbeat);
    uv_timer_start(&stage->heartbeat, on_timer, 5, 5);
    assert_int_equal(aq_rpc_dispatcher_create(64, FRAME_BYTES_MAX, 0, &stage->dispatcher), 0);
    assert_int_equal(aq_rpc_dispatcher_add(stage->dispatcher, &stage->membership.base), 0);
    assert_int_equal(aq_rpc_server_create(&stage->loop, "tcp://127.0.0.1:0", &limits,
                                          stage->dispatcher, 64, &stage->server, NULL),
                     0);
    stage->options = (aq_replay_options){
        .learner_url = aq_rpc_server_url(stage->server),
        .listen_url = "tcp://127.0.0.1:0",
    };
    *state = stage;
    return 0;
}

static void close_handle(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

static int teardown(void **state)
{
    net_stage *stage = *state;
    aq_rpc_client_close(stage->client);
    aq_push_close(stage->push);
    aq_rpc_server_close(stage->server);
    aq_rpc_dispatcher_destroy(stage->dispatcher);
    uv_walk(&stage->loop, close_handle, NULL);
    uv_run(&stage->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&stage->loop), 0);
    aq_free(stage);
    return 0;
}

/* ---- the daemon and its callers ------------------------------------------------------------ */

static void *run_daemon(void *user)
{
    net_stage *stage = user;
    stage->result = aq_replay_run(&stage->options, &stage->error);
    return NULL;
}

static void start(net_stage *stage)
{
    assert_int_equal(pthread_create(&stage->thread, NULL, run_daemon, stage), 0);
}

/* The daemon must be about to end. */
static int finish(net_stage *stage)
{
    assert_int_equal(pthread_join(stage->thread, NULL), 0);
    return stage->result;
}

/* Turns the loop until the counter has reached `count`. */
static void await(net_stage *stage, const int *counter, int count)
{
    int64_t deadline_ns = aq_clock_monotonic_ns() + DEADLINE_S * AQ_NS_PER_S;
    while (*counter < count) {
        assert_true(aq_clock_monotonic_ns() < deadline_ns);
        uv_run(&stage->loop, UV_RUN_ONCE);
    }
}

/* Waits until the shard has joined, and connects to it as an actor and a learner would. */
static void join(net_stage *stage)
{
    const aq_net_limits limits = {FRAME_BYTES_MAX, 10, 100};
    const aq_push_events events = {0};
    await(stage, &stage->heartbeats, 1);
    assert_int_equal(
        aq_rpc_client_create(&stage->loop, stage->rpc_url, &limits, 8, &stage->client, NULL), 0);
    assert_int_equal(
        aq_push_create(&stage->loop, stage->push_url, &limits, &events, &stage->push, NULL), 0);
}

static aq_rpc_stub stub_of(const net_stage *stage, const ProtobufCServiceDescriptor *descriptor)
{
    aq_rpc_stub stub;
    aq_rpc_stub_init(&stub, aq_rpc_client_channel(stage->client), descriptor, 10000);
    return stub;
}

static void send_steps(net_stage *stage, uint64_t seq, uint32_t steps)
{
    aq_chunk_layout layout = kit_layout();
    aq_experience message = kit_message(1, seq, seq - 1, 100 * seq, steps);
    aq_buffer frame;
    aq_buffer_init(&frame, FRAME_BYTES_MAX);
    assert_int_equal(aq_wire_experience_pack(&message, &layout, &frame), 0);
    while (!aq_push_connected(stage->push)) {
        uv_run(&stage->loop, UV_RUN_ONCE);
    }
    assert_int_equal(aq_push_send(stage->push, frame.data, frame.size), 0);
    aq_buffer_fini(&frame);
    aq_experience_fini(&message);
}

static void on_credit(const Actorq__V1__CreditReply *reply, void *user)
{
    net_stage *stage = user;
    assert_non_null(reply);
    stage->acknowledged = reply->acknowledged;
    stage->replies++;
}

static void await_acknowledgement(net_stage *stage, uint64_t seq)
{
    aq_rpc_stub flow = stub_of(stage, &actorq__v1__flow__descriptor);
    while (stage->acknowledged < seq) {
        Actorq__V1__CreditRequest request = ACTORQ__V1__CREDIT_REQUEST__INIT;
        request.run_id = stage->run_id;
        request.actor = 1;
        request.incarnation = 1001;
        request.wait_ms = 100;
        stage->replies = 0;
        actorq__v1__flow__credit(&flow.base, &request, on_credit, stage);
        await(stage, &stage->replies, 1);
    }
}

static void on_sample(const Actorq__V1__SampleReply *reply, void *user)
{
    net_stage *stage = user;
    assert_non_null(reply);
    stage->rows = reply->rows;
    stage->replies++;
}

static void on_status(const Actorq__V1__StatusReply *reply, void *user)
{
    net_stage *stage = user;
    assert_non_null(reply);
    stage->stored = reply->replay->stored;
    stage->replies++;
}

static uint64_t ask_stored(net_stage *stage)
{
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    aq_rpc_stub operations = stub_of(stage, &actorq__v1__operations__descriptor);
    stage->replies = 0;
    actorq__v1__operations__status(&operations.base, &request, on_status, stage);
    await(stage, &stage->replies, 1);
    return stage->stored;
}

static void on_stop(const Actorq__V1__StopReply *reply, void *user)
{
    net_stage *stage = user;
    assert_non_null(reply);
    stage->replies++;
}

static void stop_by_call(net_stage *stage)
{
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    aq_rpc_stub operations = stub_of(stage, &actorq__v1__operations__descriptor);
    stage->replies = 0;
    actorq__v1__operations__stop(&operations.base, &request, on_stop, stage);
    await(stage, &stage->replies, 1);
    await(stage, &stage->leaves, 1);
}

/* ---- tests --------------------------------------------------------------------------------- */

static void test_steps_are_taken_acknowledged_and_sampled(void **state)
{
    net_stage *stage = *state;
    Actorq__V1__SampleRequest request = ACTORQ__V1__SAMPLE_REQUEST__INIT;
    start(stage);
    join(stage);
    aq_rpc_stub sampling = stub_of(stage, &actorq__v1__sampling__descriptor);
    request.run_id = KIT_RUN_ID;
    request.schema_hash = stage->settings.schema_hash;
    request.batch_rows = 8;
    request.batch_count = 2;
    request.discount = 0.9f;
    request.wait_ms = 5000;
    stage->replies = 0;
    actorq__v1__sampling__sample(&sampling.base, &request, on_sample, stage);
    send_steps(stage, 1, 24);
    await(stage, &stage->replies, 1);
    assert_int_equal(stage->rows, 16);
    await_acknowledgement(stage, 1);
    stop_by_call(stage);
    assert_int_equal(finish(stage), 0);
}

static void test_the_daemon_ends_with_the_run(void **state)
{
    net_stage *stage = *state;
    start(stage);
    await(stage, &stage->heartbeats, 1);
    stage->state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    await(stage, &stage->leaves, 1);
    assert_int_equal(finish(stage), 0);
}

static void test_heartbeats_carry_statistics(void **state)
{
    net_stage *stage = *state;
    start(stage);
    join(stage);
    send_steps(stage, 1, 24);
    await_acknowledgement(stage, 1);
    await(stage, &stage->heartbeats, stage->heartbeats + 2);
    assert_int_equal(stage->heard_inserted, 24);
    stop_by_call(stage);
    assert_int_equal(finish(stage), 0);
}

static void test_a_learner_that_forgot_the_shard_finds_its_store_as_it_was(void **state)
{
    net_stage *stage = *state;
    start(stage);
    join(stage);
    send_steps(stage, 1, 24);
    await_acknowledgement(stage, 1);
    stage->forget_once = true;
    await(stage, &stage->joins, 2);
    await(stage, &stage->heartbeats, stage->heartbeats + 1);
    assert_int_equal(ask_stored(stage), 24);
    stop_by_call(stage);
    assert_int_equal(finish(stage), 0);
}

static void test_another_run_begins_with_an_empty_store(void **state)
{
    net_stage *stage = *state;
    start(stage);
    join(stage);
    send_steps(stage, 1, 24);
    await_acknowledgement(stage, 1);
    stage->run_id++;
    stage->forget_once = true;
    await(stage, &stage->joins, 2);
    await(stage, &stage->heartbeats, stage->heartbeats + 1);
    assert_int_equal(ask_stored(stage), 0);
    stop_by_call(stage);
    assert_int_equal(finish(stage), 0);
}

static void test_other_settings_begin_with_an_empty_store(void **state)
{
    net_stage *stage = *state;
    start(stage);
    join(stage);
    send_steps(stage, 1, 24);
    await_acknowledgement(stage, 1);
    stage->settings.tables[0].capacity = 500;
    stage->forget_once = true;
    await(stage, &stage->joins, 2);
    await(stage, &stage->heartbeats, stage->heartbeats + 1);
    assert_int_equal(ask_stored(stage), 0);
    stop_by_call(stage);
    assert_int_equal(finish(stage), 0);
}

static void test_a_refusal_ends_the_daemon_in_words(void **state)
{
    net_stage *stage = *state;
    stage->refuse = true;
    start(stage);
    await(stage, &stage->joins, 1);
    uv_run(&stage->loop, UV_RUN_NOWAIT);
    assert_int_equal(finish(stage), AQ_E_PEER);
    assert_non_null(strstr(stage->error.text, "no room for shards"));
    assert_non_null(strstr(stage->error.text, stage->options.learner_url));
}

static void test_settings_that_cannot_work_end_the_daemon_in_words(void **state)
{
    net_stage *stage = *state;
    stage->settings.tables[0].tolerance = 2.0;
    start(stage);
    await(stage, &stage->leaves, 1);
    assert_int_equal(finish(stage), AQ_E_INVALID);
    assert_non_null(strstr(stage->error.text, "tolerance"));
}

static void test_an_address_in_use_is_named(void **state)
{
    net_stage *stage = *state;
    stage->options.listen_url = stage->options.learner_url;
    start(stage);
    assert_int_equal(finish(stage), AQ_E_IN_USE);
    assert_non_null(strstr(stage->error.text, stage->options.listen_url));
}

static void test_an_address_without_a_next_port_is_refused(void **state)
{
    net_stage *stage = *state;
    stage->options.listen_url = "tcp://127.0.0.1:65535";
    start(stage);
    assert_int_not_equal(finish(stage), 0);
    assert_non_null(strstr(stage->error.text, "65535"));
}

static void test_a_daemon_that_finds_no_memory_ends_in_words(void **state)
{
    net_stage *stage = *state;
    char listen_url[AQ_URL_MAX];
    unsigned port;
    /* The port before the learner's, so that what comes next fails even with all memory. */
    assert_int_equal(sscanf(stage->options.learner_url, "tcp://127.0.0.1:%u", &port), 1);
    snprintf(listen_url, sizeof(listen_url), "tcp://127.0.0.1:%u", port - 1);
    stage->options.listen_url = listen_url;
    uint64_t nth = 1;
    for (int rc = AQ_E_NOMEM; rc == AQ_E_NOMEM; nth++) {
        aq_memory_fail_at(nth, 0);
        rc = aq_replay_run(&stage->options, &stage->error);
        aq_memory_fail_at(0, 0);
        assert_true(rc == AQ_E_NOMEM || rc == AQ_E_IN_USE);
        assert_int_not_equal(stage->error.text[0], '\0');
    }
    assert_true(nth > 10);
}

static void test_an_advertised_host_stands_before_the_bound_ports(void **state)
{
    net_stage *stage = *state;
    char host[AQ_URL_MAX];
    stage->options.listen_url = "tcp://*:0";
    stage->options.advertise_url = "tcp://localhost:0";
    start(stage);
    join(stage);
    snprintf(host, sizeof(host), "%.16s", stage->rpc_url);
    assert_string_equal(host, "tcp://localhost:");
    snprintf(host, sizeof(host), "%.16s", stage->push_url);
    assert_string_equal(host, "tcp://localhost:");
    assert_string_not_equal(stage->rpc_url, "tcp://localhost:0");
    send_steps(stage, 1, 24);
    await_acknowledgement(stage, 1);
    stop_by_call(stage);
    assert_int_equal(finish(stage), 0);
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_STAGE(test_steps_are_taken_acknowledged_and_sampled),
        ON_STAGE(test_the_daemon_ends_with_the_run),
        ON_STAGE(test_heartbeats_carry_statistics),
        ON_STAGE(test_a_learner_that_forgot_the_shard_finds_its_store_as_it_was),
        ON_STAGE(test_another_run_begins_with_an_empty_store),
        ON_STAGE(test_other_settings_begin_with_an_empty_store),
        ON_STAGE(test_a_refusal_ends_the_daemon_in_words),
        ON_STAGE(test_settings_that_cannot_work_end_the_daemon_in_words),
        ON_STAGE(test_an_address_in_use_is_named),
        ON_STAGE(test_an_address_without_a_next_port_is_refused),
        ON_STAGE(test_a_daemon_that_finds_no_memory_ends_in_words),
        ON_STAGE(test_an_advertised_host_stands_before_the_bound_ports),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    aq_net_fini();
    return failures;
}
