/*
 * Membership as callers see it: Join, Heartbeat and Leave, honest and hostile.
 */
#include "common/wire/wire_run.h"
#include "learner/service/learner_service_priv.h"
#include "tests/support/test.h"
#include "tests/unit/learner/service_desk.h"

/* ---- Join ---------------------------------------------------------------------------------- */

TEST_IN(service_desk, desk, who_joins_is_told_everything)
{
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_ACTOR, 50);
    aq_run_settings told;
    const Actorq__V1__JoinReply *reply = desk_join_as(desk, &request);
    assert_true(reply->run_id == KIT_RUN_ID);
    assert_int_equal(reply->member, 1);
    assert_int_equal(reply->slot, 0);
    assert_string_equal(reply->policy_url, "tcp://*:5551");
    assert_int_equal(reply->state, AQ_RUN_RUNNING);
    assert_int_equal(aq_wire_settings_from(reply->settings, &told, NULL), 0);
    assert_string_equal(told.task, desk->settings.task);
    assert_int_equal(told.seed, 321);
    assert_int_equal(told.schema_hash, desk->settings.schema_hash);
    assert_int_equal(told.sample_rows, desk->settings.sample_rows);
    assert_int_equal(desk->joined, 1);
    assert_false(desk->again);
    assert_string_equal(desk->record.host, "ant");
    assert_string_equal(desk->record.address, "10.0.0.9:4711");
    assert_int_equal(desk->record.pid, 77);
    assert_false(IN6_IS_ADDR_UNSPECIFIED(&desk->record.neighbours));
}

TEST_IN(service_desk, desk, a_join_that_comes_again_gets_the_same_answer)
{
    assert_int_equal(desk_join(desk, AQ_ROLE_ACTOR, 50), 1);
    assert_int_equal(desk_join(desk, AQ_ROLE_ACTOR, 50), 1);
    assert_int_equal(desk->joined, 2);
    assert_true(desk->again);
    assert_int_equal(aq_coordinator_member_count(desk->coordinator), 1);
}

TEST_IN(service_desk, desk, a_number_counts_only_in_its_own_run)
{
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_ACTOR, 50);
    request.member = 40;
    request.slot = 3;
    request.run_id = KIT_RUN_ID + 1;
    const Actorq__V1__JoinReply *reply = desk_join_as(desk, &request);
    assert_int_equal(reply->member, 1);
    assert_int_equal(reply->slot, 0);

    request.incarnation = 51;
    request.run_id = KIT_RUN_ID;
    reply = desk_join_as(desk, &request);
    assert_int_equal(reply->member, 40);
    assert_int_equal(reply->slot, 3);
}

TEST_IN(service_desk, desk, only_roles_that_there_are_can_join)
{
    static const int roles[] = {0, 4, 99, -1, INT32_MAX, INT32_MIN};
    EACH_ROW(i, roles) {
        Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_ACTOR, 50);
        request.role = (Actorq__V1__Role)roles[i];
        loopback_refuses(&desk->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "role");
    }
    assert_int_equal(desk->joined, 0);
    assert_int_equal(aq_coordinator_member_count(desk->coordinator), 0);
}

TEST_IN(service_desk, desk, an_incarnation_of_nothing_can_not_join)
{
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_ACTOR, 0);
    loopback_refuses(&desk->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "incarnation");
}

TEST_IN(service_desk, desk, one_incarnation_can_not_join_in_two_roles)
{
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_EVALUATOR, 50);
    desk_join(desk, AQ_ROLE_ACTOR, 50);
    loopback_refuses(&desk->loop, &request.base, AQ_RPC_ALREADY_EXISTS, "another role");
}

TEST_IN(service_desk, desk, a_shard_must_say_where_it_listens)
{
    static char urls[7][400] = {"",           "nowhere",      "tcp://host", "tcp://ho st:1",
                                "http://a:1", "tcp://a:70000"};
    char *long_url = urls[6];
    memset(long_url, 'a', sizeof(urls[6]) - 1);
    memcpy(long_url, "tcp://", 6);
    EACH_ROW(i, urls) {
        Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_REPLAY, 50);
        char *good = request.rpc_url;
        request.rpc_url = urls[i];
        loopback_refuses(&desk->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "where it listens");
        request.rpc_url = good;
        request.push_url = urls[i];
        loopback_refuses(&desk->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "where it listens");
    }
    assert_int_equal(aq_coordinator_member_count(desk->coordinator), 0);
}

TEST_IN(service_desk, desk, a_shard_that_listens_everywhere_is_reached_where_it_was_seen)
{
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_REPLAY, 50);
    static char rpc_url[] = "tcp://0.0.0.0:6000", push_url[] = "tcp://127.0.0.1:6001";
    request.rpc_url = rpc_url;
    request.push_url = push_url;
    desk_join_as(desk, &request);
    assert_string_equal(desk->record.rpc_url, "tcp://10.0.0.9:6000");
    assert_string_equal(desk->record.push_url, "tcp://10.0.0.9:6001");
}

TEST_IN(service_desk, desk, a_long_host_name_is_cut)
{
    static char host[1000];
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_ACTOR, 50);
    memset(host, 'h', sizeof(host) - 1);
    request.host = host;
    desk_join_as(desk, &request);
    assert_int_equal(strlen(desk->record.host), AQ_HOST_MAX - 1);
}

TEST_IN(service_desk, desk, one_shard_too_many_is_refused)
{
    for (uint64_t i = 1; i <= AQ_SHARDS_MAX; i++) {
        desk_join(desk, AQ_ROLE_REPLAY, i);
        aq_coordinator_reached(desk->coordinator, i, true);
    }
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_REPLAY, 100);
    loopback_refuses(&desk->loop, &request.base, AQ_RPC_RESOURCE_EXHAUSTED, "64 replay shards");
}

TEST_IN(service_desk, desk, who_joins_an_ended_run_is_told_so)
{
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_ACTOR, 50);
    aq_coordinator_stop(desk->coordinator);
    assert_int_equal(desk_join_as(desk, &request)->state, AQ_RUN_STOPPED);
}

TEST_IN(service_desk, desk, a_join_survives_every_failed_allocation)
{
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_ACTOR, 50);
    desk_survives_failed_allocations(desk, &request.base);
    assert_int_equal(aq_coordinator_member_count(desk->coordinator), 1);
}

/* ---- Heartbeat ----------------------------------------------------------------------------- */

TEST_IN(service_desk, desk, a_heartbeat_is_told_the_shards_and_the_newest_version)
{
    uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 50);
    const Actorq__V1__HeartbeatReply *reply = desk_beat(desk, member, 50);
    assert_true(reply->known);
    assert_int_equal(reply->state, AQ_RUN_RUNNING);
    assert_int_equal(reply->version, 0);
    assert_int_equal(reply->n_shards, 0);

    uint64_t shard = desk_join(desk, AQ_ROLE_REPLAY, 60);
    desk_join(desk, AQ_ROLE_REPLAY, 61);
    desk_publish(desk, 9, AQ_FORMAT_INT8_CHANNEL);
    reply = desk_beat(desk, member, 50);
    assert_int_equal(reply->version, 9);
    assert_int_equal(reply->n_shards, 2);
    assert_int_equal(reply->shards[0]->member, shard);
    assert_string_equal(reply->shards[0]->rpc_url, "tcp://10.0.0.7:1060");
    assert_string_equal(reply->shards[0]->push_url, "tcp://10.0.0.7:20060");
}

TEST_IN(service_desk, desk, a_heartbeat_keeps_a_member)
{
    aq_member_record lost;
    const uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 50);
    for (int i = 0; i < 5; i++) {
        desk->now_ns += 2 * AQ_NS_PER_S;
        assert_false(aq_coordinator_expire(desk->coordinator, desk->now_ns, &lost));
        assert_true(desk_beat(desk, member, 50)->known);
    }
}

TEST_IN(service_desk, desk, a_member_is_where_it_was_seen_last)
{
    const uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 50);
    const aq_member_record *record = aq_coordinator_member_at(desk->coordinator, 0);
    struct in6_addr before = record->neighbours;
    strcpy(desk->loop.peer, "tcp://10.0.0.10:40000");
    assert_true(desk_beat(desk, member, 50)->known);
    assert_string_equal(record->address, "tcp://10.0.0.10:40000");
    assert_memory_not_equal(&record->neighbours, &before, sizeof(before));
    before = record->neighbours;
    strcpy(desk->loop.peer, "tcp://10.0.0.11:40000");
    assert_int_equal(desk_join(desk, AQ_ROLE_ACTOR, 50), member);
    assert_string_equal(record->address, "tcp://10.0.0.11:40000");
    assert_memory_not_equal(&record->neighbours, &before, sizeof(before));
    strcpy(desk->loop.peer, "ipc");
    assert_true(desk_beat(desk, member, 50)->known);
    assert_true(IN6_IS_ADDR_UNSPECIFIED(&record->neighbours));
}

TEST_IN(service_desk, desk, a_stranger_is_not_known_and_told_nothing_but_the_state)
{
    uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 50);
    desk_join(desk, AQ_ROLE_REPLAY, 60);
    desk_publish(desk, 9, AQ_FORMAT_INT8_CHANNEL);
    Actorq__V1__HeartbeatRequest strangers[] = {
        desk_heartbeat(member + 7, 50), desk_heartbeat(member, 51), desk_heartbeat(member, 50)};
    strangers[2].run_id = KIT_RUN_ID + 1;
    for (size_t i = 0; i < 3; i++) {
        const Actorq__V1__HeartbeatReply *reply = loopback_ask(&desk->loop, &strangers[i].base);
        assert_false(reply->known);
        assert_int_equal(reply->state, AQ_RUN_RUNNING);
        assert_int_equal(reply->version, 0);
        assert_int_equal(reply->n_shards, 0);
    }
}

TEST_IN(service_desk, desk, the_steps_of_a_shard_count_and_those_of_others_do_not)
{
    Actorq__V1__ReplayStats replay = ACTORQ__V1__REPLAY_STATS__INIT;
    Actorq__V1__HeartbeatRequest actor = desk_heartbeat(desk_join(desk, AQ_ROLE_ACTOR, 50), 50);
    Actorq__V1__HeartbeatRequest shard = desk_heartbeat(desk_join(desk, AQ_ROLE_REPLAY, 60), 60);
    actor.replay = shard.replay = &replay;
    replay.inserted = 400;
    loopback_ask(&desk->loop, &actor.base);
    assert_int_equal(aq_coordinator_env_steps(desk->coordinator), 0);
    loopback_ask(&desk->loop, &shard.base);
    assert_int_equal(aq_coordinator_env_steps(desk->coordinator), 400);
    replay.inserted = UINT64_MAX;
    loopback_ask(&desk->loop, &shard.base);
    assert_int_equal(aq_coordinator_env_steps(desk->coordinator), 400);
}

TEST_IN(service_desk, desk, a_heartbeat_hears_of_the_end)
{
    const uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 50);
    aq_coordinator_stop(desk->coordinator);
    assert_int_equal(desk_beat(desk, member, 50)->state, AQ_RUN_STOPPED);
}

/* ---- statistics ---------------------------------------------------------------------------- */

static void say_actor(service_desk *desk, uint64_t member, uint64_t incarnation, double steps_per_s,
                      double return_mean)
{
    Actorq__V1__ActorStats actor = ACTORQ__V1__ACTOR_STATS__INIT;
    Actorq__V1__HeartbeatRequest request = desk_heartbeat(member, incarnation);
    actor.steps_per_s = steps_per_s;
    actor.return_mean = return_mean;
    request.actor = &actor;
    loopback_ask(&desk->loop, &request.base);
}

TEST_IN(service_desk, desk, the_summary_is_over_what_actors_said_last)
{
    aq_actors_summary summary = aq_learner_service_summary(desk->service);
    assert_int_equal(summary.actors + summary.evaluators + summary.shards, 0);
    assert_true(isnan(summary.return_mean));

    for (uint64_t i = 1; i <= 4; i++) {
        desk_join(desk, AQ_ROLE_ACTOR, i);
    }
    desk_join(desk, AQ_ROLE_EVALUATOR, 5);
    desk_join(desk, AQ_ROLE_REPLAY, 6);
    say_actor(desk, 1, 1, 100, 10);
    say_actor(desk, 1, 1, 200, 20);
    say_actor(desk, 2, 2, 300, 40);
    say_actor(desk, 3, 3, 50, NAN);             /* no episode has ended yet */
    say_actor(desk, 4, 4, INFINITY, -INFINITY); /* rubbish */
    say_actor(desk, 5, 5, 1e6, 1e6);            /* an evaluator is no actor */
    summary = aq_learner_service_summary(desk->service);
    assert_int_equal(summary.actors, 4);
    assert_int_equal(summary.evaluators, 1);
    assert_int_equal(summary.shards, 1);
    assert_true(summary.return_mean == 30);
}

TEST_IN(service_desk, desk, what_a_member_said_goes_with_it)
{
    const Actorq__V1__LeaveRequest leave = desk_leave(1, 50);
    aq_member_record lost;
    say_actor(desk, desk_join(desk, AQ_ROLE_ACTOR, 50), 50, 1, 1);
    say_actor(desk, desk_join(desk, AQ_ROLE_ACTOR, 51), 51, 1, 1);
    say_actor(desk, desk_join(desk, AQ_ROLE_REPLAY, 60), 60, 1, 1);
    assert_int_equal(desk->service->stats.count, 3);

    loopback_ask(&desk->loop, &leave.base); /* it leaves */
    assert_int_equal(desk->service->stats.count, 2);

    Actorq__V1__JoinRequest again = desk_join_request(AQ_ROLE_REPLAY, 60);
    again.incarnation = 61;
    desk_join_as(desk, &again); /* it was restarted */
    assert_int_equal(desk->service->stats.count, 1);

    desk->now_ns += 10 * AQ_NS_PER_S;
    while (aq_coordinator_expire(desk->coordinator, desk->now_ns, &lost)) { /* it was lost */
        aq_learner_service_forget(desk->service, &lost);
    }
    assert_int_equal(desk->service->stats.count, 0);
}

/* ---- Leave --------------------------------------------------------------------------------- */

static void leave(service_desk *desk, uint64_t run_id, uint64_t member, uint64_t incarnation)
{
    Actorq__V1__LeaveRequest request = desk_leave(member, incarnation);
    request.run_id = run_id;
    loopback_ask(&desk->loop, &request.base);
}

TEST_IN(service_desk, desk, who_leaves_is_gone_and_said_why)
{
    uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 50);
    leave(desk, KIT_RUN_ID, member, 50);
    assert_int_equal(desk->left, 1);
    assert_int_equal(desk->record.incarnation, 50);
    assert_string_equal(desk->reason, "told to");
    assert_int_equal(aq_coordinator_member_count(desk->coordinator), 0);
    leave(desk, KIT_RUN_ID, member, 50); /* once more is answered, and nothing else */
    assert_int_equal(desk->left, 1);
}

TEST_IN(service_desk, desk, nobody_leaves_for_another)
{
    uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 50);
    leave(desk, KIT_RUN_ID, member, 51);
    leave(desk, KIT_RUN_ID, member + 1, 50);
    leave(desk, KIT_RUN_ID + 1, member, 50);
    leave(desk, 0, member, 50);
    assert_int_equal(desk->left, 0);
    assert_int_equal(aq_coordinator_member_count(desk->coordinator), 1);
}

/* ---- energy -------------------------------------------------------------------------------- */

TEST_IN(service_desk, desk, energy_is_told_by_heartbeats_and_on_leaving)
{
    Actorq__V1__EnergyStats energy = ACTORQ__V1__ENERGY_STATS__INIT;
    Actorq__V1__HeartbeatRequest beat = desk_heartbeat(desk_join(desk, AQ_ROLE_ACTOR, 50), 50);
    loopback_ask(&desk->loop, &beat.base);
    assert_int_equal(desk->energy_said, 0); /* of an actor of an older version */
    beat.energy = &energy;
    energy.cpu_s = 3;
    loopback_ask(&desk->loop, &beat.base);
    assert_int_equal(desk->energy_said, 1);
    beat.incarnation = 51; /* nobody */
    loopback_ask(&desk->loop, &beat.base);
    assert_int_equal(desk->energy_said, 1);
    Actorq__V1__LeaveRequest leave = desk_leave(beat.member, 50);
    leave.energy = &energy;
    energy.cpu_s = 4;
    loopback_ask(&desk->loop, &leave.base);
    assert_int_equal(desk->energy_said, 2);
    assert_true(desk->energy_cpu_s == 4);
    assert_int_equal(desk->record.incarnation, 50);
}

TEST_IN(service_desk, desk, energy_begins_anew_with_who_comes_from_another_run)
{
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_ACTOR, 50);
    request.run_id = KIT_RUN_ID;
    desk_join_as(desk, &request);
    assert_int_equal(desk->energy_anew, 0);
    request.run_id = KIT_RUN_ID + 1;
    desk_join_as(desk, &request);
    assert_int_equal(desk->energy_anew, 1);
    assert_int_equal(desk->record.incarnation, 50);
}

/* ---- who speaks for whom -------------------------------------------------------------------- */

TEST_IN(service_desk, desk, only_an_evaluator_of_the_run_reports_evaluations)
{
    const uint64_t actor = desk_join(desk, AQ_ROLE_ACTOR, 40);
    const uint64_t evaluator = desk_join(desk, AQ_ROLE_EVALUATOR, 50);
    const struct {
        uint64_t member, incarnation;
    } rows[] = {{actor, 40}, {99, 50}, {evaluator, 51}, {evaluator, 40}, {0, 0}};
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    EACH_ROW(i, rows) {
        Actorq__V1__EvaluationReport report = ACTORQ__V1__EVALUATION_REPORT__INIT;
        report.run_id = KIT_RUN_ID;
        report.member = rows[i].member;
        report.incarnation = rows[i].incarnation;
        report.version = 3;
        report.episodes = 100;
        report.return_mean = report.return_max = report.return_min = 500;
        report.confirmed = true;
        loopback_refuses(&desk->loop, &report.base, AQ_RPC_PERMISSION_DENIED, "no evaluator");
    }
    assert_int_equal(desk->evaluated, 0);
    assert_int_equal(aq_coordinator_state(desk->coordinator), AQ_RUN_RUNNING);
}

static aq_token *token_of(enum aq_access_role role)
{
    static const uint8_t master[AQ_TOKEN_KEY_BYTES] = {1};
    aq_buffer *text = buffer_up_to(AQ_TOKEN_TEXT_MAX);
    aq_token *token = NULL;
    assert_int_equal(aq_token_write_role(master, role, text), 0);
    assert_int_equal(aq_token_parse((const char *)text->data, text->size, &token, NULL), 0);
    return token;
}

TEST_ENDING(drop_token, aq_token_destroy);

/* With its incarnation, too, which nobody shows. */
TEST_IN(service_desk, desk, an_actors_token_does_not_speak_for_a_shard)
{
    const uint64_t shard = desk_join(desk, AQ_ROLE_REPLAY, 60);
    aq_token *tokens[] = {token_of(AQ_ACCESS_LEARNER), token_of(AQ_ACCESS_ACTOR),
                          token_of(AQ_ACCESS_REPLAY)};
    for (size_t i = 0; i < 3; i++) {
        at_end(drop_token, tokens[i]);
    }
    aq_rpc_dispatcher_name(desk->dispatcher, AQ_ACCESS_LEARNER, 0);
    assert_int_equal(aq_rpc_dispatcher_guard(desk->dispatcher, tokens[0]), 0);
    desk->loop.channel.token = tokens[1];
    Actorq__V1__HeartbeatRequest beat = desk_heartbeat(shard, 60);
    Actorq__V1__ReplayStats stats = ACTORQ__V1__REPLAY_STATS__INIT;
    Actorq__V1__LeaveRequest leave = desk_leave(shard, 60);
    stats.inserted = UINT64_C(1) << 40;
    beat.replay = &stats;
    loopback_refuses(&desk->loop, &beat.base, AQ_RPC_PERMISSION_DENIED, "other members");
    loopback_refuses(&desk->loop, &leave.base, AQ_RPC_PERMISSION_DENIED, "other members");
    assert_int_equal(aq_coordinator_env_steps(desk->coordinator), 0);
    assert_int_equal(aq_coordinator_member_count(desk->coordinator), 1);
    desk->loop.channel.token = tokens[2];
    assert_true(desk_beat(desk, shard, 60)->known);
}

TEST_IN(service_desk, desk, each_role_joins_with_its_own_token)
{
    static const struct {
        enum aq_role role;
        enum aq_access_role token;
    } rows[] = {{AQ_ROLE_ACTOR, AQ_ACCESS_ACTOR},
                {AQ_ROLE_EVALUATOR, AQ_ACCESS_EVALUATOR},
                {AQ_ROLE_REPLAY, AQ_ACCESS_REPLAY}};
    aq_token *learner = token_of(AQ_ACCESS_LEARNER);
    at_end(drop_token, learner);
    aq_rpc_dispatcher_name(desk->dispatcher, AQ_ACCESS_LEARNER, 0);
    assert_int_equal(aq_rpc_dispatcher_guard(desk->dispatcher, learner), 0);
    for (size_t i = 0; i < 9; i++) {
        const Actorq__V1__JoinRequest join = desk_join_request(rows[i / 3].role, 80 + i);
        aq_token *token = token_of(rows[i % 3].token);
        at_end(drop_token, token);
        desk->loop.channel.token = token;
        if (i / 3 == i % 3) {
            assert_true(desk_join_as(desk, &join)->member != 0);
        } else {
            loopback_refuses(&desk->loop, &join.base, AQ_RPC_PERMISSION_DENIED, "other members");
        }
    }
    assert_int_equal(aq_coordinator_member_count(desk->coordinator), 3);
}

TEST_IN(service_desk, desk, an_incarnation_is_shown_to_nobody)
{
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    (void)desk_join(desk, AQ_ROLE_ACTOR, 40);
    (void)desk_join(desk, AQ_ROLE_ACTOR, 41);
    const Actorq__V1__StatusReply *reply = loopback_ask(&desk->loop, &request.base);
    for (size_t i = 0; i < 2; i++) {
        assert_true(reply->members[i]->incarnation > UINT32_MAX);
    }
    assert_true(reply->members[0]->incarnation != reply->members[1]->incarnation);
}
