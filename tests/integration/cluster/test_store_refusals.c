/*
 * What a shard refuses of its folder, as a process: one that it may not write, one that holds
 * something else, a newer format, the steps of another run and task, and one that is in use. Each
 * in a sentence that names the folder, with exit status 1, and not a byte in the folder is changed.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "common/base/crc32c.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum {
    ENV_STEPS = 2000,
    LEARNER_STEPS = 100,
    VERSION_AT = 8,
    HEADER_CRC_AT = 36,
};

/* ---- folders -------------------------------------------------------------------------------- */

/* Of all files, their names and their bytes, but for the lock, which names who had it last. */
static uint32_t digest_of(const char *folder)
{
    uint32_t digest = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "lock") == 0) {
            continue;
        }
        const aq_buffer *bytes = file_bytes(file_in(folder, entry->d_name));
        digest += aq_crc32c(aq_crc32c(0, entry->d_name, strlen(entry->d_name)), bytes->data,
                            bytes->size); /* in no order */
    }
    (void)closedir(entries);
    return digest;
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t size)
{
    file_put(file_in(folder, name), bytes, size);
}

/* ---- refusals ------------------------------------------------------------------------------- */

/* A shard for the learner that runs, if any, fails with these words in its last line. */
static void check_refused(test_cluster *cluster, const char *folder, const char *words)
{
    cluster_run_other(cluster, cluster_program("actorq-replay"), "--learner", cluster->learner_url,
                      "--listen", cluster->replay_url_2, "--data", folder, NULL);
    cluster_check_failed(cluster, words, folder);
}

static void check_refused_unchanged(test_cluster *cluster, const char *folder, const char *words)
{
    const uint32_t before = digest_of(folder);
    check_refused(cluster, folder, words);
    assert_int_equal(digest_of(folder), before);
}

/* A store with steps, and nobody who uses it. */
static void leave_a_store(test_cluster *cluster)
{
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    assert_int_equal(cluster_terminate(cluster, SEAT_ACTOR), 0);
    assert_int_equal(cluster_terminate(cluster, SEAT_REPLAY), 0);
}

CLUSTER_TEST(a_folder_that_may_not_be_written_is_refused, ipc)
{
    cluster_start(cluster, SEAT_LEARNER);
    if (geteuid() == 0) { /* who may write anywhere, but makes no folder here */
        check_refused(cluster, "/proc/1/replay", "can't");
        return;
    }
    const char *folder = file_in(cluster->folder, "closed");
    assert_int_equal(mkdir(folder, 0500), 0);
    check_refused(cluster, folder, "denied");
}

CLUSTER_TEST(a_folder_with_something_else_under_our_names_is_refused, ipc)
{
    static const char text[] = "not a store\n";
    assert_int_equal(mkdir(cluster->data_dir, 0700), 0);
    write_file(cluster->data_dir, "store.aqrs", text, sizeof(text) - 1);
    check_refused_unchanged(cluster, cluster->data_dir, "not a file that names a replay store");
}

CLUSTER_TEST(a_store_of_a_newer_version_is_refused, ipc)
{
    leave_a_store(cluster);
    aq_buffer *bytes = file_bytes(file_in(cluster->data_dir, "store.aqrs"));
    bytes->data[VERSION_AT] = 9;
    const uint32_t crc = aq_crc32c(0, bytes->data, HEADER_CRC_AT);
    for (int i = 0; i < 4; i++) {
        bytes->data[HEADER_CRC_AT + i] = (uint8_t)(crc >> 8 * i);
    }
    write_file(cluster->data_dir, "store.aqrs", bytes->data, bytes->size);
    check_refused_unchanged(cluster, cluster->data_dir, "of format version 9");
}

CLUSTER_TEST(the_store_of_another_run_and_task_is_refused, ipc)
{
    leave_a_store(cluster);
    const uint32_t before = digest_of(cluster->data_dir);
    assert_int_equal(cluster_terminate(cluster, SEAT_LEARNER), 0);
    cluster_watch_close(cluster, SEAT_LEARNER);
    (void)snprintf(cluster->run_dir, sizeof(cluster->run_dir), "%s/another", cluster->folder);
    cluster->processes[SEAT_LEARNER].lives = 0; /* it begins a run */
    cluster_set(cluster, "task=gym:MountainCar-v0");
    cluster_start(cluster, SEAT_LEARNER);
    check_refused(cluster, cluster->data_dir, "a store of another run");
    assert_int_equal(digest_of(cluster->data_dir), before);
}

/* The store's own shard answers where it said it is, and goes on. */
CLUSTER_TEST(a_copy_of_a_store_beside_it_is_not_taken, ipc)
{
    const char *copy = file_in(cluster->folder, "copy");
    leave_a_store(cluster);
    shell_succeeds("cp -r '%s' '%s'", cluster->data_dir, copy);
    cluster_start(cluster, SEAT_REPLAY);
    cluster_start(cluster, SEAT_ACTOR);
    cluster_wait_progress(cluster, 2 * ENV_STEPS, 2 * LEARNER_STEPS);
    cluster_run_other(cluster, cluster_program("actorq-replay"), "--learner", cluster->learner_url,
                      "--listen", cluster->replay_url_2, "--data", copy, NULL);
    cluster_wait_said(cluster, SEAT_OTHER, "one folder is a copy of the other");
    cluster_wait_progress(cluster, 3 * ENV_STEPS, 3 * LEARNER_STEPS);
    cluster_kill(cluster, SEAT_OTHER);
}

CLUSTER_TEST(a_folder_that_another_shard_uses_is_refused, ipc)
{
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    check_refused(cluster, cluster->data_dir, "in use by pid ");
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
}
