/*
 * The broadcast of a real run: most versions go out as changes of the one before, and whoever
 * joins, or comes back, is soon at the newest.
 */
#include "common/net/nng_mend/nng_close.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { VERSIONS = 60, FULL_PERIOD = 8 };

static void start_publishing(test_cluster *cluster)
{
    cluster_set(cluster, "learner.hidden=64,64");
    cluster_set(cluster, "quantizer.publish_period=5");
    cluster_set(cluster, "quantizer.full_period=8");
    cluster_start_three(cluster);
}

typedef struct deltas_wanted {
    uint64_t versions; /* in all */
} deltas_wanted;

static bool has_published(test_cluster *cluster, void *user)
{
    const deltas_wanted *wanted = user;
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    return status != NULL && status->learner->policy_versions >= wanted->versions;
}

static void wait_for_more_versions(test_cluster *cluster)
{
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    deltas_wanted wanted = {status->learner->policy_versions + VERSIONS};
    cluster_wait(cluster, "more versions", has_published, &wanted);
}

typedef struct follower {
    enum cluster_seat seat;
    uint64_t version;
} follower;

static bool follows(test_cluster *cluster, void *user)
{
    const follower *it = user;
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    const Actorq__V1__MemberStatus *member =
        status != NULL ? cluster_member(cluster, status, it->seat) : NULL;
    return member != NULL && member->actor != NULL && member->actor->policy_version > it->version;
}

/* Of what there is now, the actor soon has a later version; and it refused nothing on the way. */
static void assert_follows(test_cluster *cluster, enum cluster_seat seat)
{
    follower it = {seat, cluster_look_surely(cluster, SEAT_LEARNER)->learner->policy_version};
    cluster_wait(cluster, "an actor to follow the broadcast", follows, &it);
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    const Actorq__V1__MemberStatus *member = cluster_member(cluster, status, seat);
    assert_non_null(member);
    assert_int_equal(member->actor->rejected_policies, 0);
}

static void test_most_versions_go_out_as_changes(void **state)
{
    test_cluster *cluster = *state;
    start_publishing(cluster);
    cluster_wait_member(cluster, SEAT_ACTOR);
    wait_for_more_versions(cluster);
    const Actorq__V1__LearnerStatus *learner = cluster_look_surely(cluster, SEAT_LEARNER)->learner;
    uint64_t fulls = learner->policy_versions - learner->policy_deltas;
    assert_true(fulls >= learner->policy_versions / FULL_PERIOD);
    assert_true(learner->policy_deltas > learner->policy_versions / 2);
    assert_true(learner->broadcast_bytes * 4 < learner->broadcast_bytes_fp32);
    assert_follows(cluster, SEAT_ACTOR);
    cluster_finish(cluster);
}

static void test_an_actor_that_joins_or_comes_back_catches_up(void **state)
{
    test_cluster *cluster = *state;
    start_publishing(cluster);
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
    cluster_finish(cluster);
}

static void test_a_learner_that_comes_back_begins_with_a_full_version(void **state)
{
    test_cluster *cluster = *state;
    start_publishing(cluster);
    cluster_wait_member(cluster, SEAT_ACTOR);
    wait_for_more_versions(cluster);
    cluster_wait_checkpoint(cluster);
    cluster_kill(cluster, SEAT_LEARNER);
    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_member(cluster, SEAT_ACTOR);
    wait_for_more_versions(cluster);
    const Actorq__V1__LearnerStatus *learner = cluster_look_surely(cluster, SEAT_LEARNER)->learner;
    assert_true(learner->policy_deltas > 0);
    assert_true(learner->policy_deltas < learner->policy_versions);
    assert_follows(cluster, SEAT_ACTOR);
    cluster_finish(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(test_most_versions_go_out_as_changes, ipc),
        CLUSTER_TEST(test_an_actor_that_joins_or_comes_back_catches_up, tcp),
        CLUSTER_TEST(test_a_learner_that_comes_back_begins_with_a_full_version, tcp),
    };
    int failed = cmocka_run_group_tests_name("broadcast", tests, NULL, NULL);
    aq_net_fini();
    return failed;
}
