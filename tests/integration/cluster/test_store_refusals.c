/*
 * What a shard refuses of its folder, as a process: one that it may not write, one that holds
 * something else, a newer format or steps in one, those of another run and task, and one that is in
 * use. Each
 * in a sentence that names the folder, with exit status 1, and not a byte in the folder is changed.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "common/base/crc32c.h"
#include "common/base/little_endian.h"
#include "common/sys/file.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum {
    ENV_STEPS = 2000,
    LEARNER_STEPS = 100,
    VERSION_AT = 8,
    HEADER_CRC_AT = 36,
    HEADER_BYTES = 40,
    RECORD_BYTES = 32, /* what stands before a payload */
    RECORD_FRAME = 3,
    FRAME_VERSION_AT = 6,
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
    aq_u32_put(bytes->data + HEADER_CRC_AT, aq_crc32c(0, bytes->data, HEADER_CRC_AT));
    write_file(cluster->data_dir, "store.aqrs", bytes->data, bytes->size);
    check_refused_unchanged(cluster, cluster->data_dir, "of format version 9");
}

/* Of the first message in a segment, under check sums that hold (segment_format.h). */
static void make_message_newer(const char *path)
{
    aq_buffer *bytes = file_bytes(path);
    const uint32_t salt = aq_crc32c(0, bytes->data + 16, 16);
    uint8_t *record = bytes->data + HEADER_BYTES;
    while (record[4] != RECORD_FRAME) {
        record += RECORD_BYTES + aq_u32_get(record + 8);
        assert_true(record < bytes->data + bytes->size);
    }
    assert_int_equal(record[5], 0); /* not packed */
    record[RECORD_BYTES + FRAME_VERSION_AT] = 9;
    aq_u32_put(record + 24, aq_crc32c(0, record + RECORD_BYTES, aq_u32_get(record + 8)));
    aq_u32_put(record + 28, aq_crc32c(salt, record, 28));
    file_put(path, bytes->data, bytes->size);
}

CLUSTER_TEST(a_store_with_messages_of_a_newer_version_is_refused, ipc)
{
    leave_a_store(cluster);
    make_message_newer(file_in(cluster->data_dir, "segment-00000000000001.aqrs"));
    check_refused_unchanged(cluster, cluster->data_dir,
                            "aqrs: record 1: of protocol version 9; this program speaks version 1");
    const char *out = file_in(cluster->folder, "out.aqds");
    cluster_run_other(cluster, cluster_program("actorq"), "replay", "export", cluster->data_dir,
                      out, NULL);
    cluster_check_failed(cluster, "of protocol version 9", cluster->data_dir);
    assert_false(aq_path_exists(out));
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
