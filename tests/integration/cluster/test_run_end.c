/*
 * A run that reaches its limit: everybody finishes and exits with 0, and the policy that is left
 * plays.
 */
#include "common/sys/file.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

static void check_left(const test_cluster *cluster, const char *name)
{
    assert_true(aq_path_exists(file_in(cluster->run_dir, name)));
}

static void start_member(test_cluster *cluster, enum cluster_seat seat)
{
    cluster_start(cluster, seat);
    cluster_wait_member(cluster, seat);
}

static void run_to_the_end(test_cluster *cluster, bool with_evaluator)
{
    cluster_set(cluster, "limits.env_steps=20000");
    cluster->may_end = true;
    cluster_start(cluster, SEAT_LEARNER);
    start_member(cluster, SEAT_ACTOR);
    start_member(cluster, SEAT_ACTOR_2);
    if (with_evaluator) {
        start_member(cluster, SEAT_EVALUATOR);
    }
    cluster_start(cluster, SEAT_REPLAY); /* now it begins: who is late misses so short a run */
    if (with_evaluator) {
        assert_int_equal(cluster_wait_end(cluster, SEAT_EVALUATOR), 0);
    }
    assert_int_equal(cluster_wait_end(cluster, SEAT_ACTOR), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_ACTOR_2), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_REPLAY), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_LEARNER), 0);
    char line[1024];
    assert_true(daemon_process_line(&cluster->processes[SEAT_LEARNER], "event=run_ended", line,
                                    sizeof(line)));
    assert_non_null(strstr(line, "state=budget"));
    assert_true(daemon_line_number(line, "env_steps") >= 20000);
    check_left(cluster, "policy.aq");
    check_left(cluster, "policy.fp32.aq");
    cluster_run_other(cluster, cluster_program("actorq"), "eval", cluster->run_dir, "--episodes",
                      "5", "--json", NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 0);
    assert_true(daemon_process_said(&cluster->processes[SEAT_OTHER], "\"return_mean\":"));
}

CLUSTER_TEST(a_run_ends_by_itself_with_a_policy_that_plays, both)
{
    run_to_the_end(cluster, true);
}

CLUSTER_TEST(a_run_without_an_evaluator_leaves_its_newest_policy, ipc)
{
    run_to_the_end(cluster, false);
}
