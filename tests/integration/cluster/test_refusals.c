/*
 * What a learner refuses at its start: an address that is taken, a folder that holds a run, a run
 * of another network. Each in a sentence that says what to do, and nobody who runs is harmed.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/net/nng_mend/nng_close.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { ENV_STEPS = 1000, LEARNER_STEPS = 100, FAILURE = 1 };

/* The program in SEAT_OTHER has failed with these words on its last line. */
static void check_failed(test_cluster *cluster, const char *words, const char *more_words)
{
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), FAILURE);
    char *log = daemon_process_log(&cluster->processes[SEAT_OTHER], false);
    const char *last = log;
    for (const char *at = log; (at = strchr(at, '\n')) != NULL && at[1] != '\0'; at++) {
        last = at + 1;
    }
    bool is_there = strstr(last, words) != NULL && strstr(last, more_words) != NULL;
    if (!is_there) {
        print_error("looked for '%s' and '%s' in: %s\n", words, more_words, last);
    }
    aq_free(log);
    assert_true(is_there);
}

static void test_a_second_learner_at_an_address_in_use_is_refused(void **state)
{
    test_cluster *cluster = *state;
    char second_run[128];
    cluster_start_three(cluster);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    (void)snprintf(second_run, sizeof(second_run), "%s/second", cluster->folder);
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", second_run, NULL);
    check_failed(cluster, "in use", cluster->learner_url);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_finish(cluster);
}

static void test_a_second_shard_at_an_address_in_use_is_refused(void **state)
{
    test_cluster *cluster = *state;
    cluster_start_three(cluster);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_run_other(cluster, cluster_program("actorq-replay"), "--listen", cluster->replay_url,
                      "--learner", cluster->learner_url, NULL);
    check_failed(cluster, "in use", cluster->replay_url);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_finish(cluster);
}

/* A run folder with a checkpoint, and nobody in it. */
static void leave_a_run(test_cluster *cluster)
{
    cluster_start_three(cluster);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    assert_int_equal(cluster_terminate(cluster, SEAT_ACTOR), 0);
    assert_int_equal(cluster_terminate(cluster, SEAT_REPLAY), 0);
    assert_int_equal(cluster_terminate(cluster, SEAT_LEARNER), 0);
}

static void test_a_folder_that_holds_a_run_is_not_begun_anew(void **state)
{
    test_cluster *cluster = *state;
    leave_a_run(cluster);
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", cluster->run_dir, NULL);
    check_failed(cluster, "--resume", cluster->run_dir);
    cluster_start_three(cluster); /* which resumes: the folder is as it was */
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_finish(cluster);
}

static void test_a_run_is_not_resumed_with_another_network(void **state)
{
    test_cluster *cluster = *state;
    leave_a_run(cluster);
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", cluster->run_dir, "--resume", "--set", "learner.hidden=32", NULL);
    check_failed(cluster, "4-16r-2", "4-32r-2");
    cluster_start_three(cluster);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_finish(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(test_a_second_learner_at_an_address_in_use_is_refused, ipc),
        CLUSTER_TEST(test_a_second_learner_at_an_address_in_use_is_refused, tcp),
        CLUSTER_TEST(test_a_second_shard_at_an_address_in_use_is_refused, ipc),
        CLUSTER_TEST(test_a_second_shard_at_an_address_in_use_is_refused, tcp),
        CLUSTER_TEST(test_a_folder_that_holds_a_run_is_not_begun_anew, ipc),
        CLUSTER_TEST(test_a_run_is_not_resumed_with_another_network, ipc),
    };
    int failed = cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
    aq_net_fini();
    return failed;
}
