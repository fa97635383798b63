/*
 * Two shards of one run: actors send to both alike, and what one of them holds outlives it while
 * the run goes on with the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/net/net.h"
#include "tests/integration/cluster/cluster_watch.h"

enum { ENV_STEPS = 20000, LEARNER_STEPS = 500 };

static const enum cluster_seat shards[2] = {SEAT_REPLAY, SEAT_REPLAY_2};

static uint64_t inserted(test_cluster *cluster, enum cluster_seat shard)
{
    return cluster_look_surely(cluster, shard)->replay->inserted;
}

static void start_both(test_cluster *cluster)
{
    cluster_set(cluster, "replay.shards=2");
    cluster_set(cluster, "replay.tolerance=20000");
    cluster_start(cluster, SEAT_LEARNER);
    for (int i = 0; i < 2; i++) {
        cluster_start(cluster, shards[i]);
        cluster_wait_member(cluster, shards[i]);
    }
    cluster_start(cluster, SEAT_ACTOR);
    cluster_start(cluster, SEAT_ACTOR_2);
}

/* Whatever the one shard had before the other was known to the actors is left out. */
static void test_actors_send_to_both_alike(void **state)
{
    test_cluster *cluster = *state;
    uint64_t before[2], since[2];
    start_both(cluster);
    for (int i = 0; i < 2; i++) {
        cluster_wait_said(cluster, SEAT_ACTOR + i, "event=shard_connected shard=1");
        cluster_wait_said(cluster, SEAT_ACTOR + i, "event=shard_connected shard=2");
    }
    cluster_wait_progress(cluster, ENV_STEPS / 4, LEARNER_STEPS);
    for (int i = 0; i < 2; i++) {
        before[i] = inserted(cluster, shards[i]);
    }
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    for (int i = 0; i < 2; i++) {
        since[i] = inserted(cluster, shards[i]) - before[i];
    }
    print_message("%llu and %llu steps\n", (unsigned long long)since[0],
                  (unsigned long long)since[1]);
    assert_in_range(since[0], (since[0] + since[1]) / 3, 2 * (since[0] + since[1]) / 3);
    cluster_finish(cluster);
}

static void test_a_shard_may_die_and_come_back_while_the_run_goes_on(void **state)
{
    test_cluster *cluster = *state;
    start_both(cluster);
    cluster_wait_progress(cluster, ENV_STEPS / 4, LEARNER_STEPS);
    uint64_t held = inserted(cluster, SEAT_REPLAY_2);
    cluster_kill(cluster, SEAT_REPLAY_2);
    cluster_wait_progress(cluster, ENV_STEPS / 4, LEARNER_STEPS);

    cluster_start(cluster, SEAT_REPLAY_2);
    cluster_wait_said(cluster, SEAT_REPLAY_2, "event=store_restored");
    uint64_t restored = inserted(cluster, SEAT_REPLAY_2);
    assert_true(restored >= held);
    cluster_wait_progress(cluster, ENV_STEPS / 4, LEARNER_STEPS);
    assert_true(inserted(cluster, SEAT_REPLAY_2) > restored);
    cluster_finish(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(test_actors_send_to_both_alike, ipc),
        CLUSTER_TEST(test_actors_send_to_both_alike, tcp),
        CLUSTER_TEST(test_a_shard_may_die_and_come_back_while_the_run_goes_on, ipc),
        CLUSTER_TEST(test_a_shard_may_die_and_come_back_while_the_run_goes_on, tcp),
    };
    int failed = cmocka_run_group_tests_name("shards", tests, NULL, NULL);
    aq_net_fini();
    return failed;
}
