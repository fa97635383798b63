/*
 * SIGTERM loses nothing: what an actor stepped before it was asked to end is in the shard, once.
 */
#include "tests/integration/cluster/cluster_account.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { ENV_STEPS = 3000, LEARNER_STEPS = 300 };

CLUSTER_TEST(an_actor_that_ends_under_load_leaves_each_step_in_the_shard_once, both)
{
    cluster_set(cluster, "learner.n_step=1");
    cluster_start_three(cluster);
    cluster_start(cluster, SEAT_ACTOR_2);
    cluster_wait_member(cluster, SEAT_ACTOR_2);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);

    cluster_account first = cluster_drain(cluster, SEAT_ACTOR);
    assert_int_equal(cluster_received(cluster, first.incarnation), first.env_steps);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    assert_int_equal(cluster_received(cluster, first.incarnation), first.env_steps);

    cluster_account second = cluster_drain(cluster, SEAT_ACTOR_2);
    assert_int_equal(cluster_received(cluster, second.incarnation), second.env_steps);
    assert_int_equal(cluster_inserted(cluster, SEAT_REPLAY), first.env_steps + second.env_steps);
    cluster_check_counted(cluster, first.env_steps + second.env_steps);
}

/* As a terminal that is closed says it. */
CLUSTER_TEST(a_hangup_ends_all_daemons_in_good_order, ipc)
{
    static const enum cluster_seat seats[] = {SEAT_ACTOR, SEAT_REPLAY, SEAT_LEARNER};
    static const char *const last_words[] = {"event=drained complete=true",
                                             "event=stopping signal=1", "event=checkpoint_written"};
    /* Under nohup daemons would rightly ignore it. */
    void (*before)(int) = signal(SIGHUP, SIG_DFL);
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    (void)signal(SIGHUP, before);
    cluster->may_end = true;
    EACH_ROW(i, seats) {
        const daemon_process *process = &cluster->processes[seats[i]];
        daemon_process_signal(process, SIGHUP);
        assert_int_equal(cluster_wait_end(cluster, seats[i]), 0);
        assert_true(daemon_process_said(process, last_words[i]));
    }
}

CLUSTER_TEST(an_actor_can_end_while_the_learner_is_away, ipc)
{
    cluster_set(cluster, "learner.n_step=1");
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_kill(cluster, SEAT_LEARNER);
    assert_int_equal(cluster_terminate(cluster, SEAT_ACTOR), 0);
    assert_true(
        daemon_process_said(&cluster->processes[SEAT_ACTOR], "event=drained complete=true"));
}
