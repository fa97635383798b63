/*
 * Members that lie, with all the rights of their roles: any call with anything in it, in sequences,
 * beside honest members. The learner answers each, and what the honest have said stands. A failure
 * is repeated with the seed that was printed last: AQ_SEED=… AQ_HOSTILE_SEEDS=1.
 */
#include <inttypes.h>

#include "tests/support/hostile_message.h"
#include "tests/support/test.h"
#include "tests/unit/learner/service_desk.h"

enum { SEEDS = 50, CALLS = 400, SHARD = 9001, ACTOR = 9002, EVALUATOR = 9003 };

#define HONEST_STEPS UINT64_C(500)

static const ProtobufCMessageDescriptor *const requests[] = {
    &actorq__v1__join_request__descriptor,
    &actorq__v1__join_request__descriptor, /* without whom the others have no effect */
    &actorq__v1__heartbeat_request__descriptor,
    &actorq__v1__leave_request__descriptor,
    &actorq__v1__evaluation_report__descriptor,
    &actorq__v1__fetch_policy_request__descriptor,
    &actorq__v1__status_request__descriptor,
};

static const void *beat_of_shard(service_desk *desk, uint64_t member)
{
    Actorq__V1__HeartbeatRequest beat = desk_heartbeat(member, SHARD);
    Actorq__V1__ReplayStats stats = ACTORQ__V1__REPLAY_STATS__INIT;
    stats.inserted = HONEST_STEPS;
    beat.replay = &stats;
    return loopback_ask(&desk->loop, &beat.base);
}

/* What its store has brought, as a checkpoint would keep it. */
static uint64_t steps_of_shard(const service_desk *desk)
{
    aq_shard_count counts[AQ_SHARDS_MAX];
    uint64_t base;
    size_t count = aq_coordinator_shard_counts(desk->coordinator, counts, &base);
    for (size_t i = 0; i < count; i++) {
        if (counts[i].store == SHARD) {
            return counts[i].inserted;
        }
    }
    return 0;
}

static void lie(service_desk *desk, hostile *source)
{
    size_t which = aq_rng_below(&source->rng, sizeof(requests) / sizeof(requests[0]));
    const ProtobufCMessage *request = hostile_message(source, requests[which]);
    assert_true(loopback_call(&desk->loop, request)->done);
    desk->now_ns += (int64_t)aq_rng_below(&source->rng, 1000);
}

TEST(liars_neither_end_a_learner_nor_speak_for_others)
{
    uint64_t first = test_seed_or(1);
    uint64_t seeds = test_number("AQ_HOSTILE_SEEDS", SEEDS);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        static service_desk desk;
        static hostile source;
        printf("AQ_SEED=%" PRIu64 "\n", seed);
        (void)fflush(stdout);
        memset(&desk, 0, sizeof(desk));
        service_desk_setup(&desk);
        source = (hostile){.rng = rng_of(seed, 0), .run_id = KIT_RUN_ID};
        Actorq__V1__JoinRequest join = desk_join_request(AQ_ROLE_REPLAY, SHARD);
        join.store = SHARD;
        uint64_t shard = desk_join_as(&desk, &join)->member;
        uint64_t actor = desk_join(&desk, AQ_ROLE_ACTOR, ACTOR);
        (void)desk_join(&desk, AQ_ROLE_EVALUATOR, EVALUATOR);
        (void)beat_of_shard(&desk, shard);
        for (int i = 0; i < CALLS; i++) {
            lie(&desk, &source);
        }
        assert_true(desk_beat(&desk, actor, ACTOR)->known);
        assert_true(((const Actorq__V1__HeartbeatReply *)beat_of_shard(&desk, shard))->known);
        assert_int_equal(steps_of_shard(&desk), HONEST_STEPS);
        service_desk_teardown(&desk);
    }
}
