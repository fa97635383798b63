/*
 * Nobody has to start first: a learner, a shard and an actor find each other in every order, over
 * both transports.
 */
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
}

#define IN_ORDER(name, first, second, third)                                                       \
    CLUSTER_TEST(name, both)                                                                       \
    {                                                                                              \
        start_in_order(cluster, SEAT_##first, SEAT_##second, SEAT_##third);                        \
    }

IN_ORDER(learner_replay_actor, LEARNER, REPLAY, ACTOR)
IN_ORDER(learner_actor_replay, LEARNER, ACTOR, REPLAY)
IN_ORDER(replay_learner_actor, REPLAY, LEARNER, ACTOR)
IN_ORDER(replay_actor_learner, REPLAY, ACTOR, LEARNER)
IN_ORDER(actor_learner_replay, ACTOR, LEARNER, REPLAY)
IN_ORDER(actor_replay_learner, ACTOR, REPLAY, LEARNER)
