/*
 * A running system, operated as people do: settings are changed, a checkpoint is asked for, members
 * are sent home, logs are read, and the run is stopped.
 */
#include "common/sys/file.h"
#include "tests/integration/cluster/cluster_account.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { ENV_STEPS = 2000, LEARNER_STEPS = 200, LINE_BYTES = 1024 };

/* `actorq COMMAND TARGET` with up to two more words asks the learner, and has to end with
 * `exit_code`. */
static void operate(test_cluster *cluster, int exit_code, const char *command, const char *target,
                    const char *word1, const char *word2)
{
    cluster_run_other(cluster, cluster_program("actorq"), command, target, CLUSTER_PATIENT_CALL,
                      word1, word2, NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), exit_code);
}

/* So has `actorq logs`, which reads files and asks nobody. */
static void read_logs(test_cluster *cluster, int exit_code, const char *target, const char *word1,
                      const char *word2)
{
    cluster_run_other(cluster, cluster_program("actorq"), "logs", target, word1, word2, NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), exit_code);
}

static bool it_said(const test_cluster *cluster, const char *words)
{
    return daemon_process_said(&cluster->processes[SEAT_OTHER], words);
}

static void start(test_cluster *cluster)
{
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
}

CLUSTER_TEST(a_setting_is_changed_and_outlives_the_learner, ipc)
{
    const char *learner = cluster->learner_url;
    start(cluster);
    operate(cluster, 0, "set", learner, "learner.learning_rate=0.0005", "actor.epsilon_base=0.3");
    assert_true(it_said(cluster, "learner.learning_rate: 0.002 -> 0.0005"));
    assert_true(it_said(cluster, "actor.epsilon_base: "));
    cluster_wait_said(cluster, SEAT_LEARNER, "event=setting_changed key=learner.learning_rate");
    cluster_kill(cluster, SEAT_LEARNER);
    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    operate(cluster, 0, "set", learner, NULL, NULL);
    assert_true(it_said(cluster, "learner.learning_rate=0.0005"));
    assert_true(it_said(cluster, "actor.epsilon_base=0.3"));
}

CLUSTER_TEST(what_cannot_be_changed_is_refused_with_all_that_came_with_it, tcp)
{
    const char *learner = cluster->learner_url;
    start(cluster);
    operate(cluster, 1, "set", learner, "learner.learning_rate=0.0005", "learner.batch_size=7");
    assert_true(it_said(cluster, "learner.batch_size"));
    operate(cluster, 1, "set", learner, "learner.learning_rate=-3", NULL);
    assert_true(it_said(cluster, "learner.learning_rate"));
    operate(cluster, 1, "set", learner, "learner.learnig_rate=0.0005", NULL);
    assert_true(it_said(cluster, "learner.learning_rate")); /* what was meant */
    operate(cluster, 0, "set", learner, NULL, NULL);
    assert_true(it_said(cluster, "learner.learning_rate=0.002"));
}

CLUSTER_TEST(a_checkpoint_that_was_asked_for_is_on_the_disk, ipc)
{
    char line[LINE_BYTES];
    cluster_set(cluster, "learner.checkpoint_period_s=3600");
    start(cluster);
    operate(cluster, 0, "checkpoint", cluster->learner_url, NULL, NULL);
    assert_true(daemon_process_line(&cluster->processes[SEAT_OTHER], " (learner step ", line,
                                    sizeof(line)));
    *strstr(line, " (learner step ") = '\0';
    assert_true(aq_path_exists(line));
}

CLUSTER_TEST(a_member_that_is_sent_home_leaves_each_step_in_the_shard, tcp)
{
    cluster_set(cluster, "learner.n_step=1");
    cluster->may_end = true;
    start(cluster);
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    const Actorq__V1__MemberStatus *actor = cluster_member(cluster, status, SEAT_ACTOR);
    assert_non_null(actor);
    const uint64_t incarnation = actor->incarnation;
    operate(cluster, 1, "drain", cluster->learner_url, "actor-77", NULL);
    assert_true(it_said(cluster, "actor-77"));
    const int64_t asked_ns = aq_clock_monotonic_ns();
    operate(cluster, 0, "drain", cluster->learner_url, "actor-0", NULL);
    assert_true(it_said(cluster, "actor-0 has left"));
    assert_int_equal(cluster_wait_end(cluster, SEAT_ACTOR), 0);
    const cluster_account account = cluster_account_of(&cluster->processes[SEAT_ACTOR], asked_ns);
    cluster_check_account(&account, cluster_received(cluster, incarnation));
}

CLUSTER_TEST(logs_of_all_daemons_are_read_as_one, ipc)
{
    start(cluster);
    operate(cluster, 0, "set", cluster->learner_url, "learner.learning_rate=0.0005", NULL);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=setting_changed");
    read_logs(cluster, 0, cluster->folder, "--event", "setting_changed");
    assert_true(it_said(cluster, "key=learner.learning_rate"));
    assert_false(it_said(cluster, "ready"));
    read_logs(cluster, 0, cluster->folder, "--event", "ready");
    assert_true(it_said(cluster, "policy_url=")); /* what the learner says, */
    assert_true(it_said(cluster, "push_url="));   /* the shard, */
    assert_true(it_said(cluster, "startup_ms=")); /* and the actor */
    read_logs(cluster, 1, cluster->run_dir, "--level", "loud");
    assert_true(it_said(cluster, "'loud' is not one of debug, info, warn, error"));
    read_logs(cluster, 1, cluster->run_dir, "--role", "boss");
    assert_true(it_said(cluster, "'boss' is not one of learner, replay, actor, evaluator"));
}

CLUSTER_TEST(a_run_that_is_stopped_ends_for_everybody, ipc)
{
    cluster->may_end = true;
    start(cluster);
    cluster_start(cluster, SEAT_EVALUATOR);
    cluster_wait_member(cluster, SEAT_EVALUATOR);
    operate(cluster, 0, "stop", cluster->learner_url, "--reason", "good enough");
    assert_int_equal(cluster_wait_end(cluster, SEAT_EVALUATOR), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_ACTOR), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_REPLAY), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_LEARNER), 0);
    assert_true(daemon_process_said(&cluster->processes[SEAT_LEARNER], "good enough"));
    assert_true(
        daemon_process_said(&cluster->processes[SEAT_LEARNER], "event=run_ended state=stopped"));
}
