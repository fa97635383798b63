/*
 * See service_desk.h.
 */
#include "tests/unit/learner/service_desk.h"

#include "common/config/run_config.h"
#include "learner/run/run_plan.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

/* ---- the owner ----------------------------------------------------------------------------- */

static int64_t on_now(void *user)
{
    const service_desk *desk = user;
    return desk->now_ns;
}

static void on_joined(void *user, const aq_member_record *record, bool again)
{
    service_desk *desk = user;
    desk->joined++;
    desk->again = again;
    desk->record = *record;
}

static void on_left(void *user, const aq_member_record *record, const char *reason)
{
    service_desk *desk = user;
    desk->left++;
    desk->record = *record;
    snprintf(desk->reason, sizeof(desk->reason), "%s", reason);
}

static void on_energy_anew(void *user, const aq_member_record *record)
{
    service_desk *desk = user;
    desk->energy_anew++;
    desk->record = *record;
}

static void on_energy_said(void *user, const aq_member_record *record,
                           const Actorq__V1__EnergyStats *stats)
{
    service_desk *desk = user;
    desk->energy_said++;
    desk->energy_cpu_s = stats->cpu_s;
    desk->record = *record;
}

static void on_replay_said(void *user, const aq_member_record *record,
                           const Actorq__V1__ReplayStats *stats)
{
    service_desk *desk = user;
    assert_int_equal(record->role, AQ_ROLE_REPLAY);
    desk->replay_said++;
    desk->replay_items = stats->n_tables > 0 ? stats->tables[0]->items : 0;
}

static void on_evaluated(void *user, const aq_evaluation_result *result, bool best)
{
    service_desk *desk = user;
    desk->evaluated++;
    desk->result = *result;
    desk->best = best;
}

static void on_stop_asked(void *user, const char *peer, const char *reason)
{
    service_desk *desk = user;
    desk->stops++;
    snprintf(desk->stop_peer, sizeof(desk->stop_peer), "%s", peer);
    snprintf(desk->reason, sizeof(desk->reason), "%s", reason);
}

static void on_checkpoint_asked(void *user)
{
    service_desk *desk = user;
    desk->checkpoints++;
    if (desk->checkpoint_at_once != NULL) {
        aq_learner_service_checkpointed(desk->service, desk->checkpoint_at_once, 5, NULL);
    }
}

static void on_status(void *user, Actorq__V1__StatusReply *reply,
                      Actorq__V1__LearnerStatus *learner)
{
    static char run_dir[] = "/runs/one";
    service_desk *desk = user;
    desk->statuses++;
    reply->run_dir = run_dir;
    learner->learner_steps = 1234;
}

/* ---- the desk ------------------------------------------------------------------------------ */

static void create_service(service_desk *desk)
{
    aq_learner_identity identity = {.run_id = KIT_RUN_ID,
                                    .settings = &desk->settings,
                                    .policy_url = "tcp://*:5551",
                                    .algorithm = "dqn",
                                    .precision = "int8",
                                    .quantizes = true};
    aq_learner_service_owner owner = {.user = desk,
                                      .now_ns = on_now,
                                      .joined = on_joined,
                                      .energy_anew = on_energy_anew,
                                      .left = on_left,
                                      .replay_said = on_replay_said,
                                      .energy_said = on_energy_said,
                                      .evaluated = on_evaluated,
                                      .stop_asked = on_stop_asked,
                                      .checkpoint_asked = on_checkpoint_asked,
                                      .status = on_status};
    assert_succeeds(aq_learner_service_create(&identity, desk->coordinator, desk->shelf, &owner,
                                              &desk->service));
    assert_int_equal(aq_rpc_dispatcher_create(64, LOOPBACK_FRAME_BYTES_MAX, 0, &desk->dispatcher),
                     0);
    assert_int_equal(aq_learner_service_offer(desk->service, desk->dispatcher), 0);
}

void service_desk_setup(service_desk *desk)
{
    static aq_run_plan plan;
    learner_kit_init(&desk->kit, 9);
    aq_run_config config = config_defaults();
    config.seed = 321;
    assert_int_equal(aq_run_plan_make(&config, &plan, NULL), 0);
    desk->settings = plan.settings;
    desk->now_ns = AQ_NS_PER_S;
    aq_coordinator_config coordinator = {
        .member_timeout_ns = 3 * AQ_NS_PER_S, .env_steps_limit = 1000, .threshold = 475};
    assert_int_equal(aq_coordinator_create(&coordinator, desk->now_ns, &desk->coordinator), 0);
    assert_int_equal(aq_policy_shelf_create(&desk->shelf), 0);
    create_service(desk);
    loopback_init(&desk->loop, desk->dispatcher);
    snprintf(desk->loop.peer, sizeof(desk->loop.peer), "10.0.0.9:4711");
}

void service_desk_teardown(service_desk *desk)
{
    aq_learner_service_checkpointed(desk->service, NULL, 0, "the test is over");
    loopback_pump(&desk->loop);
    loopback_fini(&desk->loop);
    aq_rpc_dispatcher_destroy(desk->dispatcher);
    aq_learner_service_destroy(desk->service);
    aq_policy_shelf_destroy(desk->shelf);
    aq_coordinator_destroy(desk->coordinator);
    learner_kit_fini(&desk->kit);
}

/* ---- calls --------------------------------------------------------------------------------- */

void desk_survives_failed_allocations(service_desk *desk, const ProtobufCMessage *request)
{
    const loopback_answer *answer;
    uint64_t nth = 0;
    do {
        assert_true(nth < 1000);
        aq_memory_fail_at(++nth, 0);
        answer = loopback_call(&desk->loop, request);
        aq_memory_fail_at(0, 0);
        assert_true(answer->done);
        assert_true((answer->status.code == AQ_RPC_OK) == (answer->reply != NULL));
    } while (answer->status.code != AQ_RPC_OK);
    assert_true(nth > 3);
}

Actorq__V1__JoinRequest desk_join_request(enum aq_role role, uint64_t incarnation)
{
    static char host[] = "ant", rpc_url[64], push_url[64];
    Actorq__V1__JoinRequest request = ACTORQ__V1__JOIN_REQUEST__INIT;
    request.role = (Actorq__V1__Role)role;
    request.incarnation = incarnation;
    request.pid = 77;
    request.host = host;
    if (role == AQ_ROLE_REPLAY) {
        snprintf(rpc_url, sizeof(rpc_url), "tcp://10.0.0.7:%u", (unsigned)(1000 + incarnation));
        snprintf(push_url, sizeof(push_url), "tcp://10.0.0.7:%u", (unsigned)(20000 + incarnation));
        request.rpc_url = rpc_url;
        request.push_url = push_url;
    }
    return request;
}

Actorq__V1__HeartbeatRequest desk_heartbeat(uint64_t member, uint64_t incarnation)
{
    Actorq__V1__HeartbeatRequest request = ACTORQ__V1__HEARTBEAT_REQUEST__INIT;
    request.run_id = KIT_RUN_ID;
    request.member = member;
    request.incarnation = incarnation;
    return request;
}

Actorq__V1__LeaveRequest desk_leave(uint64_t member, uint64_t incarnation)
{
    static char reason[] = "told to";
    Actorq__V1__LeaveRequest request = ACTORQ__V1__LEAVE_REQUEST__INIT;
    request.run_id = KIT_RUN_ID;
    request.member = member;
    request.incarnation = incarnation;
    request.reason = reason;
    return request;
}

const Actorq__V1__JoinReply *desk_join_as(service_desk *desk,
                                          const Actorq__V1__JoinRequest *request)
{
    return loopback_ask(&desk->loop, &request->base);
}

uint64_t desk_join(service_desk *desk, enum aq_role role, uint64_t incarnation)
{
    const Actorq__V1__JoinRequest request = desk_join_request(role, incarnation);
    return desk_join_as(desk, &request)->member;
}

const Actorq__V1__HeartbeatReply *desk_beat(service_desk *desk, uint64_t member,
                                            uint64_t incarnation)
{
    const Actorq__V1__HeartbeatRequest request = desk_heartbeat(member, incarnation);
    return loopback_ask(&desk->loop, &request.base);
}

void desk_say_replay(service_desk *desk, uint64_t member, uint64_t incarnation)
{
    static char waiting[] = "for actors", name[] = "main";
    Actorq__V1__TableStats table = ACTORQ__V1__TABLE_STATS__INIT;
    Actorq__V1__TableStats *tables[] = {&table};
    uint64_t staleness[] = {5, 0, incarnation};
    Actorq__V1__ReplayStats replay = ACTORQ__V1__REPLAY_STATS__INIT;
    Actorq__V1__HeartbeatRequest request = desk_heartbeat(member, incarnation);
    request.replay = &replay;
    replay.stored = 77;
    replay.waiting = waiting;
    replay.n_tables = 1;
    replay.tables = tables;
    table.name = name;
    table.items = incarnation;
    replay.n_staleness = 3;
    replay.staleness = staleness;
    loopback_ask(&desk->loop, &request.base);
}

void desk_publish(service_desk *desk, uint64_t version, uint32_t format)
{
    aq_publication publication;
    learner_kit_publication(&desk->kit, version, format, &publication);
    aq_policy_shelf_put(desk->shelf, &publication);
}
