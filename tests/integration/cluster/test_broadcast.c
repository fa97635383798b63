/*
 * The broadcast of a real run: most versions go out as changes of the one before, and whoever
 * joins, or comes back, is soon at the newest.
 */
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { VERSIONS = 60, FULL_PERIOD = 8 };

static void start_publishing(test_cluster *cluster, const char *full_period)
{
    cluster_set(cluster, "learner.hidden=64,64");
    cluster_set(cluster, "quantizer.publish_period=5");
    cluster_set(cluster, full_period);
    cluster_start_three(cluster);
}

static bool has_published(test_cluster *cluster, void *user)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    return status != NULL && status->learner->policy_versions >= *(const uint64_t *)user;
}

static void wait_for_more_versions(test_cluster *cluster)
{
    uint64_t wanted =
        cluster_look_surely(cluster, SEAT_LEARNER)->learner->policy_versions + VERSIONS;
    cluster_wait(cluster, "more versions", has_published, &wanted);
}

static uint64_t fulls_of(test_cluster *cluster)
{
    const Actorq__V1__LearnerStatus *learner = cluster_look_surely(cluster, SEAT_LEARNER)->learner;
    return learner->policy_versions - learner->policy_deltas;
}

/* Of what there is now, the actor soon has a later version; and it refused nothing on the way. */
static void assert_follows(test_cluster *cluster, enum cluster_seat seat)
{
    cluster_wait_newer(cluster, seat,
                       cluster_look_surely(cluster, SEAT_LEARNER)->learner->policy_version);
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    const Actorq__V1__MemberStatus *member = cluster_member(cluster, status, seat);
    assert_non_null(member);
    assert_int_equal(member->actor->rejected_policies, 0);
}

CLUSTER_TEST(most_versions_go_out_as_changes, ipc)
{
    start_publishing(cluster, "quantizer.full_period=8");
    cluster_wait_member(cluster, SEAT_ACTOR);
    wait_for_more_versions(cluster);
    const Actorq__V1__LearnerStatus *learner = cluster_look_surely(cluster, SEAT_LEARNER)->learner;
    uint64_t fulls = learner->policy_versions - learner->policy_deltas;
    assert_true(fulls >= learner->policy_versions / FULL_PERIOD);
    assert_true(learner->policy_deltas > learner->policy_versions / 2);
    assert_true(learner->broadcast_bytes * 4 < learner->broadcast_bytes_fp32);
    assert_follows(cluster, SEAT_ACTOR);
}

CLUSTER_TEST(an_actor_that_joins_or_comes_back_catches_up, tcp)
{
    start_publishing(cluster, "quantizer.full_period=8");
    cluster_wait_member(cluster, SEAT_ACTOR);
    wait_for_more_versions(cluster);
    cluster_start(cluster, SEAT_ACTOR_2);
    cluster_wait_member(cluster, SEAT_ACTOR_2);
    assert_follows(cluster, SEAT_ACTOR_2);
    cluster_kill(cluster, SEAT_ACTOR);
    cluster_start(cluster, SEAT_ACTOR);
    cluster_wait_member(cluster, SEAT_ACTOR);
    assert_follows(cluster, SEAT_ACTOR);
    assert_follows(cluster, SEAT_ACTOR_2);
}

/* No other one is due within the test. */
CLUSTER_TEST(a_learner_that_comes_back_begins_with_a_full_version, tcp)
{
    start_publishing(cluster, "quantizer.full_period=1000000");
    cluster_wait_member(cluster, SEAT_ACTOR);
    wait_for_more_versions(cluster);
    cluster_wait_checkpoint(cluster);
    const uint64_t before = fulls_of(cluster);
    cluster_kill(cluster, SEAT_LEARNER);
    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_member(cluster, SEAT_ACTOR);
    wait_for_more_versions(cluster);
    assert_true(fulls_of(cluster) > before);
    assert_follows(cluster, SEAT_ACTOR);
}
