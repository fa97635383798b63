/*
 * One loop, turned by whoever waits for something.
 */
#include "tests/unit/replay/net_stage.h"

#include "common/sys/log.h"
#include "common/sys/loop.h"
#include "common/wire/wire_experience.h"
#include "common/wire/wire_run.h"
#include "tests/support/loopback.h"
#include "tests/support/test.h"
#include "tests/unit/replay/replay_kit.h"

enum { FRAME_BYTES_MAX = 1 << 20 };

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
    stage->store = input->store;
    stage->slot = input->slot;
    if (stage->refuse) {
        aq_rpc_fail(closure_data, AQ_RPC_FAILED_PRECONDITION, "no room for shards");
        return;
    }
    snprintf(stage->rpc_url, sizeof(stage->rpc_url), "%s", input->rpc_url);
    snprintf(stage->push_url, sizeof(stage->push_url), "%s", input->push_url);
    aq_wire_settings_to(&stage->settings, &view);
    reply.run_id = stage->run_id;
    reply.member = 9;
    reply.slot = stage->slot_given;
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

static aq_net_limits limits_of(const net_stage *stage)
{
    return (aq_net_limits){.message_bytes_max = FRAME_BYTES_MAX,
                           .reconnect_min_ms = 10,
                           .reconnect_max_ms = 100,
                           .security = stage->security};
}

void net_stage_setup(net_stage *stage)
{
    static const Actorq__V1__Membership_Service membership = {
        .base = ACTORQ__V1__MEMBERSHIP__BASE_INIT,
        .join = on_join,
        .heartbeat = on_heartbeat,
        .leave = on_leave,
    };
    const aq_net_limits limits = limits_of(stage);
    aq_log_set_level(AQ_LOG_OFF);
    stage->membership = membership;
    stage->settings = kit_settings();
    stage->slot_given = NET_STAGE_SLOT;
    stage->settings.config.net.heartbeat_ms = 10;
    stage->run_id = KIT_RUN_ID;
    stage->state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    assert_int_equal(uv_loop_init(&stage->loop), 0);
    uv_timer_init(&stage->loop, &stage->heartbeat);
    uv_timer_start(&stage->heartbeat, on_timer, 5, 5);
    assert_int_equal(aq_rpc_dispatcher_create(64, FRAME_BYTES_MAX, 0, &stage->dispatcher), 0);
    assert_int_equal(aq_rpc_dispatcher_add(stage->dispatcher, &stage->membership.base), 0);
    aq_rpc_dispatcher_name(stage->dispatcher, AQ_ACCESS_LEARNER, 0);
    assert_succeeds(aq_rpc_server_create(&stage->loop, "tcp://127.0.0.1:0", &limits,
                                         stage->dispatcher, &stage->server, NULL));
    stage->options = (aq_replay_options){
        .learner_url = aq_rpc_server_url(stage->server),
        .listen_url = "tcp://127.0.0.1:0",
    };
}

void net_stage_teardown(net_stage *stage)
{
    if (stage->report != NULL) {
        actorq__v1__status_reply__free_unpacked(stage->report, NULL);
    }
    aq_rpc_client_close(stage->client);
    aq_push_close(stage->push);
    aq_rpc_server_close(stage->server);
    aq_rpc_dispatcher_destroy(stage->dispatcher);
    assert_true(aq_loop_close(&stage->loop));
    aq_security_destroy(stage->security);
}

/* ---- the daemon and its callers ------------------------------------------------------------ */

static void *run_daemon(void *user)
{
    net_stage *stage = user;
    stage->result = aq_replay_run(&stage->options, &stage->error);
    atomic_store(&stage->is_over, true);
    return NULL;
}

void net_stage_start(net_stage *stage)
{
    atomic_store(&stage->is_over, false);
    assert_int_equal(pthread_create(&stage->thread, NULL, run_daemon, stage), 0);
}

int net_stage_finish(net_stage *stage)
{
    while (!atomic_load(&stage->is_over)) {
        uv_run(&stage->loop, UV_RUN_ONCE);
    }
    assert_int_equal(pthread_join(stage->thread, NULL), 0);
    return stage->result;
}

void net_stage_await(net_stage *stage, const int *counter, int count)
{
    int64_t deadline_ns = aq_clock_monotonic_ns() + NET_STAGE_DEADLINE_S * AQ_NS_PER_S;
    while (*counter < count) {
        if (aq_clock_monotonic_ns() > deadline_ns) {
            fail_msg("it did not come to pass; what the daemon said last: %s", stage->error.text);
        }
        uv_run(&stage->loop, UV_RUN_ONCE);
    }
}

void net_stage_join(net_stage *stage)
{
    const aq_net_limits limits = limits_of(stage);
    const aq_push_events events = {0};
    stage->heartbeats = 0;
    net_stage_await(stage, &stage->heartbeats, 2); /* the first may be of an earlier life */
    aq_rpc_client_close(stage->client);
    aq_push_close(stage->push);
    stage->acknowledged = 0;
    assert_int_equal(
        aq_rpc_client_create(&stage->loop, stage->rpc_url, &limits, 8, &stage->client, NULL), 0);
    assert_int_equal(
        aq_push_create(&stage->loop, stage->push_url, &limits, &events, &stage->push, NULL), 0);
}

aq_rpc_stub net_stage_stub(const net_stage *stage, const ProtobufCServiceDescriptor *descriptor)
{
    aq_rpc_stub stub;
    aq_rpc_stub_init(&stub, aq_rpc_client_channel(stage->client), descriptor,
                     NET_STAGE_DEADLINE_S * 1000);
    return stub;
}

void net_stage_send(net_stage *stage, uint64_t seq, uint32_t steps)
{
    aq_layout layout = kit_layout();
    aq_experience message = kit_message(1, seq, 0, 100 * seq, steps);
    message.is_sealed = aq_security_token(stage->security) != NULL;
    aq_buffer frame;
    aq_buffer_init(&frame, FRAME_BYTES_MAX);
    assert_int_equal(aq_wire_experience_pack(&message, &layout, &frame), 0);
    while (!aq_push_connected(stage->push)) {
        uv_run(&stage->loop, UV_RUN_ONCE);
    }
    int rc;
    while ((rc = aq_push_send(stage->push, frame.data, frame.size)) == AQ_E_AGAIN) {
        uv_run(&stage->loop, UV_RUN_ONCE);
    }
    assert_int_equal(rc, 0);
    aq_buffer_fini(&frame);
    experience_fini(&message);
}

static void on_credit(const Actorq__V1__CreditReply *reply, void *user)
{
    net_stage *stage = user;
    assert_non_null(reply);
    stage->acknowledged = reply->acknowledged;
    stage->replies++;
}

void net_stage_ask_credit(net_stage *stage)
{
    aq_rpc_stub flow = net_stage_stub(stage, &actorq__v1__flow__descriptor);
    Actorq__V1__CreditRequest request = ACTORQ__V1__CREDIT_REQUEST__INIT;
    request.run_id = stage->run_id;
    request.actor = 1;
    request.incarnation = 1001;
    request.wait_ms = 100;
    stage->replies = 0;
    actorq__v1__flow__credit(&flow.base, &request, on_credit, stage);
    net_stage_await(stage, &stage->replies, 1);
}

void net_stage_await_acknowledgement(net_stage *stage, uint64_t seq)
{
    do {
        net_stage_ask_credit(stage);
    } while (stage->acknowledged < seq);
}

static void on_status(const Actorq__V1__StatusReply *reply, void *user)
{
    net_stage *stage = user;
    assert_non_null(reply);
    if (stage->report != NULL) {
        actorq__v1__status_reply__free_unpacked(stage->report, NULL);
    }
    stage->report = (Actorq__V1__StatusReply *)loopback_copy(&reply->base);
    stage->replies++;
}

uint64_t net_stage_ask_stored(net_stage *stage)
{
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    aq_rpc_stub operations = net_stage_stub(stage, &actorq__v1__operations__descriptor);
    stage->replies = 0;
    actorq__v1__operations__status(&operations.base, &request, on_status, stage);
    net_stage_await(stage, &stage->replies, 1);
    return stage->report->replay->stored;
}

void net_stage_live(net_stage *stage, uint64_t first_seq, uint64_t last_seq)
{
    net_stage_start(stage);
    net_stage_join(stage);
    for (uint64_t seq = first_seq; seq <= last_seq; seq++) {
        net_stage_send(stage, seq, 24);
    }
    if (last_seq > 0) {
        net_stage_await_acknowledgement(stage, last_seq);
    }
}

static void on_stop(const Actorq__V1__StopReply *reply, void *user)
{
    net_stage *stage = user;
    assert_non_null(reply);
    stage->replies++;
}

void net_stage_end(net_stage *stage)
{
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    aq_rpc_stub operations = net_stage_stub(stage, &actorq__v1__operations__descriptor);
    stage->leaves = stage->replies = 0;
    actorq__v1__operations__stop(&operations.base, &request, on_stop, stage);
    net_stage_await(stage, &stage->replies, 1);
    net_stage_await(stage, &stage->leaves, 1);
    assert_int_equal(net_stage_finish(stage), 0);
}
