/*
 * What a learner refuses at its start: an address that is taken, a folder that holds a run, a run
 * of another network. Each in a sentence that says what to do, and nobody who runs is harmed.
 */
#include <sys/stat.h>

#include "common/sys/file.h"
#include "common/sys/folder_lock.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum { ENV_STEPS = 1000, LEARNER_STEPS = 100 };

CLUSTER_TEST(a_second_learner_at_an_address_in_use_is_refused, both)
{
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", file_in(cluster->folder, "second"), NULL);
    cluster_check_failed(cluster, "in use", cluster->learner_url);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
}

/* The mended command is refused no more: what was refused has left no run. */
CLUSTER_TEST(a_learner_that_was_refused_begins_in_the_same_folder, ipc)
{
    static const char *const mistakes[] = {"nowhere", "127.0.0.1:99999"};
    EACH_ROW(i, mistakes) {
        cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen",
                          cluster->learner_url, "--run", cluster->run_dir, "--http", mistakes[i],
                          NULL);
        cluster_check_failed(cluster, mistakes[i], "actorq-learner:");
    }
    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=ready");
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", cluster->data_dir, NULL);
    cluster_check_failed(cluster, "in use", cluster->learner_url);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"run.json", "config.yaml", "metrics.csv"};
        assert_false(aq_path_exists(file_in(cluster->data_dir, names[i])));
    }
}

CLUSTER_TEST(a_second_shard_at_an_address_in_use_is_refused, both)
{
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_run_other(cluster, cluster_program("actorq-replay"), "--listen", cluster->replay_url,
                      "--learner", cluster->learner_url, NULL);
    cluster_check_failed(cluster, "in use", cluster->replay_url);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
}

/* A run folder with a checkpoint, and nobody in it. */
static void leave_a_run(test_cluster *cluster)
{
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    assert_int_equal(cluster_terminate(cluster, SEAT_ACTOR), 0);
    assert_int_equal(cluster_terminate(cluster, SEAT_REPLAY), 0);
    assert_int_equal(cluster_terminate(cluster, SEAT_LEARNER), 0);
}

CLUSTER_TEST(a_folder_that_holds_a_run_is_not_begun_anew, ipc)
{
    leave_a_run(cluster);
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", cluster->run_dir, NULL);
    cluster_check_failed(cluster, "--resume", cluster->run_dir);
    cluster_start_three(cluster); /* which resumes: the folder is as it was */
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
}

CLUSTER_TEST(a_run_is_not_resumed_with_another_network, ipc)
{
    leave_a_run(cluster);
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", cluster->run_dir, "--resume", "--set", "learner.hidden=32", NULL);
    cluster_check_failed(cluster, "4-16r-2", "4-32r-2");
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
}

/* Nor is what the run goes on under afterwards. */
CLUSTER_TEST(a_resume_that_is_refused_leaves_the_settings, ipc)
{
    leave_a_run(cluster);
    const char *path = file_in(cluster->run_dir, "config.yaml");
    const char *before = file_text(path);
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", cluster->run_dir, "--resume", "--set", "limits.env_steps=123456",
                      "--http", "nowhere", NULL);
    cluster_check_failed(cluster, "nowhere", "actorq-learner:");
    const char *after = file_text(path);
    assert_string_equal(after, before);
}

/* They are its own, whatever preset is named beside them, and whether there is one of that name. */
CLUSTER_TEST(a_preset_beside_a_resumed_runs_settings_is_passed_over, ipc)
{
    static const char *const names[] = {"any-ppo", "gone-since"};
    leave_a_run(cluster);
    EACH_ROW(i, names) {
        char said[64];
        (void)snprintf(said, sizeof(said),
                       "event=preset_passed_over given=\"%s\" preset=", names[i]);
        cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen",
                          cluster->learner_url, "--run", cluster->run_dir, "--resume", "--preset",
                          names[i], NULL);
        cluster_wait_said(cluster, SEAT_OTHER, said);
        cluster_wait_said(cluster, SEAT_OTHER, "event=ready");
        assert_int_equal(cluster_terminate(cluster, SEAT_OTHER), 0);
    }
}

/* As a service is started after an upgrade, whose presets are others. */
CLUSTER_TEST(beside_a_file_of_settings_a_run_keeps_what_that_does_not_say, ipc)
{
    leave_a_run(cluster);
    const char *own = file_in(cluster->run_dir, "config.yaml");
    const char *given = file_in(cluster->folder, "given.yaml");
    const char *before = file_text(own);
    file_put_text(given, "task: gym:CartPole-v1\n");
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", cluster->run_dir, "--resume", "--config", given, NULL);
    cluster_wait_said(cluster, SEAT_OTHER, "event=ready");
    assert_int_equal(cluster_terminate(cluster, SEAT_OTHER), 0);
    const char *after = file_text(own);
    assert_string_equal(after, before);
    file_put_text(own, "{");
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", cluster->run_dir, "--resume", "--config", given, NULL);
    cluster_wait_said(cluster, SEAT_OTHER, "event=settings_unread");
    cluster_check_failed(cluster, "4-16r-2", "4-64r-64r-2");
}

/* Under the defaults it would be another run. */
CLUSTER_TEST(a_run_without_its_settings_is_not_resumed_under_others, ipc)
{
    leave_a_run(cluster);
    const char *path = file_in(cluster->run_dir, "config.yaml");
    const char *aside = file_in(cluster->folder, "aside.yaml");
    assert_int_equal(rename(path, aside), 0);
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", cluster->run_dir, "--resume", NULL);
    cluster_check_failed(cluster, "no config.yaml", cluster->run_dir);
    assert_false(aq_path_exists(path));
    assert_int_equal(rename(aside, path), 0);
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
}

/* Somebody has the folder, and has written nothing there yet. */
CLUSTER_TEST(a_folder_that_another_learner_just_begins_is_left_alone, ipc)
{
    aq_folder_lock *lock = NULL;
    assert_int_equal(mkdir(cluster->run_dir, 0700), 0);
    assert_int_equal(aq_folder_lock_take(cluster->run_dir, &lock, NULL), 0);
    cluster_run_other(cluster, cluster_program("actorq-learner"), "--listen", cluster->learner_url,
                      "--run", cluster->run_dir, "--resume", NULL);
    cluster_check_failed(cluster, "in use by pid", cluster->run_dir);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"run.json", "config.yaml", "checkpoints"};
        assert_false(aq_path_exists(file_in(cluster->run_dir, names[i])));
    }
    aq_folder_lock_release(lock);
}
