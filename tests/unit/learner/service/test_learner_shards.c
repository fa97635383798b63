/*
 * Replay shards as members: the slots that actors find them by, and what they say of themselves.
 */
#include <string.h>

#include "tests/support/test.h"
#include "tests/unit/learner/service_desk.h"

static Actorq__V1__JoinReply *join(service_desk *desk, const Actorq__V1__JoinRequest *request,
                                   desk_answer *answer)
{
    desk_call(desk, &desk->membership, "Join", &request->base, answer);
    assert_int_equal(answer->status.code, AQ_RPC_OK);
    return (Actorq__V1__JoinReply *)(void *)answer->reply;
}

static Actorq__V1__HeartbeatReply *beat(service_desk *desk, uint64_t member, uint64_t incarnation,
                                        Actorq__V1__ReplayStats *replay, desk_answer *answer)
{
    Actorq__V1__HeartbeatRequest request = ACTORQ__V1__HEARTBEAT_REQUEST__INIT;
    request.run_id = KIT_RUN_ID;
    request.member = member;
    request.incarnation = incarnation;
    request.replay = replay;
    desk_call(desk, &desk->membership, "Heartbeat", &request.base, answer);
    assert_int_equal(answer->status.code, AQ_RPC_OK);
    return (Actorq__V1__HeartbeatReply *)(void *)answer->reply;
}

TEST_WITH(shards_keep_their_places_when_others_come_and_go, service_desk_setup,
          service_desk_teardown)
{
    service_desk *desk = *state;
    desk_answer answer;
    uint64_t leaver = desk_join(desk, AQ_ROLE_ACTOR, 40);
    uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 50);
    uint64_t shards[3];
    for (uint64_t i = 0; i < 3; i++) {
        shards[i] = desk_join(desk, AQ_ROLE_REPLAY, 60 + i);
    }
    assert_true(aq_coordinator_leave(desk->coordinator, leaver, 40));
    assert_true(aq_coordinator_leave(desk->coordinator, shards[1], 61));
    Actorq__V1__JoinRequest again = desk_join_request(AQ_ROLE_REPLAY, 70);
    again.store = 61; /* it named none: it was its incarnation */
    shards[1] = ((Actorq__V1__JoinReply *)join(desk, &again, &answer))->member;
    desk_answer_fini(&answer);
    const Actorq__V1__HeartbeatReply *reply = beat(desk, member, 50, NULL, &answer);
    assert_int_equal(reply->n_shards, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reply->shards[i]->member, shards[i]);
        assert_int_equal(reply->shards[i]->slot, i);
        assert_int_equal(reply->shards[i]->store, 60 + i);
    }
    desk_answer_fini(&answer);
}

/* A learner that lost its folder: shards of this run still know which slot their stores had. */
TEST_WITH(a_shard_that_says_its_slot_gets_it_back, service_desk_setup, service_desk_teardown)
{
    service_desk *desk = *state;
    desk_answer answer;
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_REPLAY, 60);
    request.store = 600;
    request.slot = 2;
    assert_int_equal(join(desk, &request, &answer)->slot, 2);
    desk_answer_fini(&answer);
    request = desk_join_request(AQ_ROLE_REPLAY, 61);
    request.store = 610;
    request.slot = 3;
    request.run_id = KIT_RUN_ID + 1; /* it had that one in another run */
    assert_int_equal(join(desk, &request, &answer)->slot, 0);
    desk_answer_fini(&answer);
}

TEST_WITH(a_shard_whose_host_has_another_address_is_listed_there, service_desk_setup,
          service_desk_teardown)
{
    static char rpc_url[] = "tcp://*:5560", push_url[] = "tcp://0.0.0.0:5561";
    service_desk *desk = *state;
    desk_answer answer;
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_REPLAY, 60);
    request.rpc_url = rpc_url;
    request.push_url = push_url;
    strcpy(desk->peer, "tcp://10.0.0.2:40000");
    request.member = join(desk, &request, &answer)->member;
    request.run_id = KIT_RUN_ID;
    desk_answer_fini(&answer);
    strcpy(desk->peer, "tcp://10.0.0.2:40001"); /* another connection */
    assert_true(beat(desk, request.member, 60, NULL, &answer)->known);
    desk_answer_fini(&answer);
    strcpy(desk->peer, "tcp://10.0.0.3:40000");
    assert_false(beat(desk, request.member, 60, NULL, &answer)->known);
    desk_answer_fini(&answer);
    assert_int_equal(join(desk, &request, &answer)->member, request.member);
    desk_answer_fini(&answer);
    const Actorq__V1__HeartbeatReply *reply = beat(desk, request.member, 60, NULL, &answer);
    assert_true(reply->known);
    assert_int_equal(reply->n_shards, 1);
    assert_string_equal(reply->shards[0]->rpc_url, "tcp://10.0.0.3:5560");
    assert_string_equal(reply->shards[0]->push_url, "tcp://10.0.0.3:5561");
    desk_answer_fini(&answer);
}

TEST_WITH(a_shard_that_says_where_it_is_may_be_seen_anywhere, service_desk_setup,
          service_desk_teardown)
{
    service_desk *desk = *state;
    desk_answer answer;
    strcpy(desk->peer, "tcp://10.0.0.2:40000");
    const uint64_t member = desk_join(desk, AQ_ROLE_REPLAY, 60);
    strcpy(desk->peer, "tcp://10.0.0.3:40000");
    assert_true(beat(desk, member, 60, NULL, &answer)->known);
    desk_answer_fini(&answer);
}

/* Every shard holds as many items as its incarnation says. */
static void say_replay(service_desk *desk, uint64_t member, uint64_t incarnation)
{
    static char name[] = "main";
    Actorq__V1__TableStats table = ACTORQ__V1__TABLE_STATS__INIT;
    Actorq__V1__TableStats *tables[] = {&table};
    uint64_t staleness[] = {5, 0, incarnation};
    Actorq__V1__ReplayStats replay = ACTORQ__V1__REPLAY_STATS__INIT;
    desk_answer answer;
    replay.stored = 77;
    replay.n_tables = 1;
    replay.tables = tables;
    table.name = name;
    table.items = incarnation;
    replay.n_staleness = 3;
    replay.staleness = staleness;
    beat(desk, member, incarnation, &replay, &answer);
    desk_answer_fini(&answer);
}

TEST_WITH(what_shards_said_is_told_and_summed, service_desk_setup, service_desk_teardown)
{
    service_desk *desk = *state;
    aq_replay_said sum;
    aq_learner_service_replay(desk->service, &sum);
    assert_int_equal(sum.stats.stored, 0);
    for (uint64_t i = 60; i < 63; i++) {
        say_replay(desk, desk_join(desk, AQ_ROLE_REPLAY, i), i);
        assert_int_equal(desk->replay_said, i - 59);
        assert_int_equal(desk->replay_items, i);
    }
    say_replay(desk, desk_join(desk, AQ_ROLE_ACTOR, 50), 50); /* an actor is no shard */
    assert_int_equal(desk->replay_said, 3);
    aq_learner_service_replay(desk->service, &sum);
    assert_int_equal(sum.stats.stored, 3 * 77);
    assert_int_equal(sum.stats.tables[0]->items, 60 + 61 + 62);
    assert_int_equal(sum.stats.staleness[0], 15);
}
