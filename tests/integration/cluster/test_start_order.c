/*
 * Nobody has to start first: a learner, a shard and an actor find each other in every order, over
 * both transports.
 */
#include "common/net/nng_mend/nng_close.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

static void start_in_order(test_cluster *cluster, enum cluster_seat first, enum cluster_seat second,
                           enum cluster_seat third)
{
    cluster_start(cluster, first);
    cluster_wait_awake(cluster, first);
    cluster_start(cluster, second);
    cluster_wait_awake(cluster, second);
    cluster_start(cluster, third);
    cluster_wait_progress(cluster, 1000, 100);
    cluster_finish(cluster);
}

static void test_learner_replay_actor(void **state)
{
    start_in_order(*state, SEAT_LEARNER, SEAT_REPLAY, SEAT_ACTOR);
}

static void test_learner_actor_replay(void **state)
{
    start_in_order(*state, SEAT_LEARNER, SEAT_ACTOR, SEAT_REPLAY);
}

static void test_replay_learner_actor(void **state)
{
    start_in_order(*state, SEAT_REPLAY, SEAT_LEARNER, SEAT_ACTOR);
}

static void test_replay_actor_learner(void **state)
{
    start_in_order(*state, SEAT_REPLAY, SEAT_ACTOR, SEAT_LEARNER);
}

static void test_actor_learner_replay(void **state)
{
    start_in_order(*state, SEAT_ACTOR, SEAT_LEARNER, SEAT_REPLAY);
}

static void test_actor_replay_learner(void **state)
{
    start_in_order(*state, SEAT_ACTOR, SEAT_REPLAY, SEAT_LEARNER);
}

#define CLUSTER_TEST(name, transport)                                                              \
    {                                                                                              \
#name "_over_" #transport, name, cluster_set_up_##transport, cluster_tear_down, NULL       \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(test_learner_replay_actor, ipc), CLUSTER_TEST(test_learner_actor_replay, ipc),
        CLUSTER_TEST(test_replay_learner_actor, ipc), CLUSTER_TEST(test_replay_actor_learner, ipc),
        CLUSTER_TEST(test_actor_learner_replay, ipc), CLUSTER_TEST(test_actor_replay_learner, ipc),
        CLUSTER_TEST(test_learner_replay_actor, tcp), CLUSTER_TEST(test_learner_actor_replay, tcp),
        CLUSTER_TEST(test_replay_learner_actor, tcp), CLUSTER_TEST(test_replay_actor_learner, tcp),
        CLUSTER_TEST(test_actor_learner_replay, tcp), CLUSTER_TEST(test_actor_replay_learner, tcp),
    };
    int failed = cmocka_run_group_tests_name("start_order", tests, NULL, NULL);
    aq_net_fini();
    return failed;
}
