/*
 * SIGTERM loses nothing: what an actor stepped before it was asked to end is in the shard, once.
 */
#include "tests/integration/cluster/cluster_account.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { ENV_STEPS = 3000, LEARNER_STEPS = 300, TRIES = 10 };

/* A machine may stand still for longer than an actor waits; so of a few one has to drain
 * completely. The accounts of all go into the sum. */
static cluster_account drain_completely(test_cluster *cluster, cluster_account *sum)
{
    for (int i = 0; i < TRIES; i++) {
        const cluster_account account = cluster_drain(cluster, SEAT_ACTOR);
        cluster_account_add(sum, &account);
        if (account.acknowledged_steps == account.env_steps) {
            return account;
        }
        cluster_start(cluster, SEAT_ACTOR);
    }
    fail_msg("none of %d actors has drained completely", TRIES);
    return *sum;
}

CLUSTER_TEST(an_actor_that_ends_under_load_leaves_each_step_in_the_shard_once, both)
{
    cluster_set(cluster, "learner.n_step=1");
    cluster_start_three(cluster);
    cluster_start(cluster, SEAT_ACTOR_2);
    cluster_wait_member(cluster, SEAT_ACTOR_2);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);

    cluster_account sum = {0};
    const cluster_account first = drain_completely(cluster, &sum);
    assert_int_equal(cluster_received(cluster, first.incarnation), first.env_steps);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    assert_int_equal(cluster_received(cluster, first.incarnation), first.env_steps);

    const cluster_account second = cluster_drain(cluster, SEAT_ACTOR_2);
    cluster_check_account(&second, cluster_received(cluster, second.incarnation));
    cluster_account_add(&sum, &second);
    cluster_check_account(&sum, cluster_inserted(cluster, SEAT_REPLAY));
    cluster_check_counted(cluster, &sum);
}

/* As a terminal that is closed says it. */
CLUSTER_TEST(a_hangup_ends_all_daemons_in_good_order, ipc)
{
    static const enum cluster_seat seats[] = {SEAT_ACTOR, SEAT_REPLAY, SEAT_LEARNER};
    static const char *const last_words[] = {"event=drained", "event=stopping signal=1",
                                             "event=checkpoint_written"};
    /* Under nohup daemons would rightly ignore it. */
    void (*before)(int) = signal(SIGHUP, SIG_DFL);
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    (void)signal(SIGHUP, before);
    cluster->may_end = true;
    EACH_ROW(i, seats) {
        const daemon_process *process = &cluster->processes[seats[i]];
        const int64_t asked_ns = aq_clock_monotonic_ns();
        daemon_process_signal(process, SIGHUP);
        assert_int_equal(cluster_wait_end(cluster, seats[i]), 0);
        assert_true(daemon_process_said(process, last_words[i]));
        if (seats[i] == SEAT_ACTOR) {
            (void)cluster_account_of(process, asked_ns);
        }
    }
}

CLUSTER_TEST(an_actor_can_end_while_the_learner_is_away, ipc)
{
    cluster_set(cluster, "learner.n_step=1");
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_kill(cluster, SEAT_LEARNER);
    const int64_t asked_ns = aq_clock_monotonic_ns();
    assert_int_equal(cluster_terminate(cluster, SEAT_ACTOR), 0);
    (void)cluster_account_of(&cluster->processes[SEAT_ACTOR], asked_ns);
}
