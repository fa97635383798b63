/*
 * Two shards of one run: actors send to both, what one of them holds outlives it while the run goes
 * on with the other, and both outlive the learner. How evenly they are fed is for the tests of the
 * spread and for the crowd of the simulation: here it depends on who the machine lets run.
 */
#include "tests/integration/cluster/cluster_account.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { ENV_STEPS = 5000, LEARNER_STEPS = 500 };

static const enum cluster_seat shards[2] = {SEAT_REPLAY, SEAT_REPLAY_2};

typedef struct growth {
    enum cluster_seat shard;
    uint64_t from;
} growth;

static bool has_got(test_cluster *cluster, void *user)
{
    const growth *seen = user;
    return cluster_inserted(cluster, seen->shard) >= seen->from + test_rounds(ENV_STEPS);
}

static void wait_fed(test_cluster *cluster, enum cluster_seat shard)
{
    growth seen = {.shard = shard, .from = cluster_inserted(cluster, shard)};
    cluster_wait(cluster, "steps in a shard", has_got, &seen);
}

static void start_both(test_cluster *cluster)
{
    cluster_set(cluster, "replay.shards=2");
    cluster_set(cluster, "learner.n_step=1");
    cluster_start(cluster, SEAT_LEARNER);
    for (int i = 0; i < 2; i++) {
        cluster_start(cluster, shards[i]);
        cluster_wait_member(cluster, shards[i]);
    }
    cluster_start(cluster, SEAT_ACTOR);
    cluster_start(cluster, SEAT_ACTOR_2);
}

/* Every step that was acknowledged is in one of them, and in no more than one. */
static void check_accounts(test_cluster *cluster)
{
    cluster_account sum = cluster_drain(cluster, SEAT_ACTOR);
    const cluster_account second = cluster_drain(cluster, SEAT_ACTOR_2);
    cluster_account_add(&sum, &second);
    cluster_check_account(&sum, cluster_inserted(cluster, shards[0]) +
                                    cluster_inserted(cluster, shards[1]));
    cluster_check_counted(cluster, &sum);
}

CLUSTER_TEST(actors_send_to_both, both)
{
    start_both(cluster);
    for (int i = 0; i < 2; i++) {
        wait_fed(cluster, shards[i]);
    }
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    check_accounts(cluster);
}

CLUSTER_TEST(a_shard_may_die_and_come_back_while_the_run_goes_on, both)
{
    start_both(cluster);
    wait_fed(cluster, SEAT_REPLAY_2);
    cluster_kill(cluster, SEAT_REPLAY_2);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);

    cluster_start(cluster, SEAT_REPLAY_2);
    cluster_wait_said(cluster, SEAT_REPLAY_2, "event=store_restored");
    wait_fed(cluster, SEAT_REPLAY_2);
    check_accounts(cluster);
}

/* Both are begun anew in the process that they are in. */
CLUSTER_TEST(a_learner_with_other_settings_goes_on_with_shards_that_live, ipc)
{
    start_both(cluster);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    assert_int_equal(cluster_terminate(cluster, SEAT_LEARNER), 0);
    cluster_set(cluster, "learner.batches_per_request=2");
    cluster_start(cluster, SEAT_LEARNER);
    for (int i = 0; i < 2; i++) {
        cluster_wait_said(cluster, shards[i], "event=store_reopened");
        wait_fed(cluster, shards[i]);
    }
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
}
