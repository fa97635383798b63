/*
 * Replay shards as members: the slots that actors find them by, and what they say of themselves.
 */
#include "common/net/security/incarnation.h"
#include "tests/support/test.h"
#include "tests/unit/learner/service_desk.h"

TEST_IN(service_desk, desk, shards_keep_their_places_when_others_come_and_go)
{
    uint64_t leaver = desk_join(desk, AQ_ROLE_ACTOR, 40);
    uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 50);
    uint64_t shards[3];
    for (uint64_t i = 0; i < 3; i++) {
        shards[i] = desk_join(desk, AQ_ROLE_REPLAY, 60 + i);
    }
    assert_true(aq_coordinator_leave(desk->coordinator, leaver, 40));
    assert_true(aq_coordinator_leave(desk->coordinator, shards[1], 61));
    Actorq__V1__JoinRequest again = desk_join_request(AQ_ROLE_REPLAY, 70);
    again.store = aq_incarnation_name(61); /* it named none */
    shards[1] = desk_join_as(desk, &again)->member;
    const Actorq__V1__HeartbeatReply *reply = desk_beat(desk, member, 50);
    assert_int_equal(reply->n_shards, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reply->shards[i]->member, shards[i]);
        assert_int_equal(reply->shards[i]->slot, i);
        assert_true(reply->shards[i]->store == aq_incarnation_name(60 + (uint64_t)i));
    }
}

/* A learner that lost its folder: shards of this run still know which slot their stores had. */
TEST_IN(service_desk, desk, a_shard_that_says_its_slot_gets_it_back)
{
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_REPLAY, 60);
    request.store = 600;
    request.slot = 2;
    assert_int_equal(desk_join_as(desk, &request)->slot, 2);
    request = desk_join_request(AQ_ROLE_REPLAY, 61);
    request.store = 610;
    request.slot = 3;
    request.run_id = KIT_RUN_ID + 1; /* it had that one in another run */
    assert_int_equal(desk_join_as(desk, &request)->slot, 0);
}

TEST_IN(service_desk, desk, a_shard_whose_host_has_another_address_is_listed_there)
{
    static char rpc_url[] = "tcp://*:5560", push_url[] = "tcp://0.0.0.0:5561";
    Actorq__V1__JoinRequest request = desk_join_request(AQ_ROLE_REPLAY, 60);
    request.rpc_url = rpc_url;
    request.push_url = push_url;
    strcpy(desk->loop.peer, "tcp://10.0.0.2:40000");
    request.member = desk_join_as(desk, &request)->member;
    request.run_id = KIT_RUN_ID;
    strcpy(desk->loop.peer, "tcp://10.0.0.2:40001"); /* another connection */
    assert_true(desk_beat(desk, request.member, 60)->known);
    strcpy(desk->loop.peer, "tcp://10.0.0.3:40000");
    assert_false(desk_beat(desk, request.member, 60)->known);
    assert_int_equal(desk_join_as(desk, &request)->member, request.member);
    const Actorq__V1__HeartbeatReply *reply = desk_beat(desk, request.member, 60);
    assert_true(reply->known);
    assert_int_equal(reply->n_shards, 1);
    assert_string_equal(reply->shards[0]->rpc_url, "tcp://10.0.0.3:5560");
    assert_string_equal(reply->shards[0]->push_url, "tcp://10.0.0.3:5561");
}

TEST_IN(service_desk, desk, a_shard_that_says_where_it_is_may_be_seen_anywhere)
{
    strcpy(desk->loop.peer, "tcp://10.0.0.2:40000");
    const uint64_t member = desk_join(desk, AQ_ROLE_REPLAY, 60);
    strcpy(desk->loop.peer, "tcp://10.0.0.3:40000");
    assert_true(desk_beat(desk, member, 60)->known);
}

TEST_IN(service_desk, desk, what_shards_said_is_told_and_summed)
{
    aq_replay_said sum;
    aq_learner_service_replay(desk->service, &sum);
    assert_int_equal(sum.stats.stored, 0);
    for (uint64_t i = 60; i < 63; i++) {
        desk_say_replay(desk, desk_join(desk, AQ_ROLE_REPLAY, i), i);
        assert_int_equal(desk->replay_said, i - 59);
        assert_int_equal(desk->replay_items, i);
    }
    desk_say_replay(desk, desk_join(desk, AQ_ROLE_ACTOR, 50), 50); /* an actor is no shard */
    assert_int_equal(desk->replay_said, 3);
    aq_learner_service_replay(desk->service, &sum);
    assert_int_equal(sum.stats.stored, 3 * 77);
    assert_int_equal(sum.stats.tables[0]->items, 60 + 61 + 62);
    assert_int_equal(sum.stats.staleness[0], 15);
}
