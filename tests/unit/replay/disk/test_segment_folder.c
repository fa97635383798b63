/*
 * Folders that must not be used are refused in words, and nothing in them is changed.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/base/crc32c.h"
#include "replay/disk/segment_folder.h"
#include "replay/disk/segment_format.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/replay/segment_kit.h"

static void refuse(segment_kit *kit, int code, const char *words)
{
    assert_refused(segment_kit_try_open(kit, NULL, &refusal), code, words);
    assert_non_null(strstr(refusal.text, kit->config.folder));
}

/* A header that says another version, and is right otherwise. */
static void make_newer(const char *path)
{
    aq_buffer *bytes = file_bytes(path);
    bytes->data[8] = AQ_SEGMENT_VERSION + 8;
    const uint32_t crc = aq_crc32c(0, bytes->data, 36);
    for (int i = 0; i < 4; i++) {
        bytes->data[36 + i] = (uint8_t)(crc >> (8 * i));
    }
    file_put(path, bytes->data, bytes->size);
}

TEST_IN(segment_kit, kit, a_folder_in_use_is_refused)
{
    int status;
    segment_kit_open(kit, NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        aq_replay_log *log;
        segment_harvest harvest = {0};
        const aq_replay_log_recovery into = segment_harvest_into(&harvest);
        const int rc = aq_segment_log_open(&kit->config, &into, &kit->found, &log, &refusal);
        const bool said = strstr(refusal.text, "in use by pid ") != NULL;
        _exit(rc == AQ_E_EXISTS && said ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    segment_kit_write(kit, 1);
}

TEST_IN(segment_kit, kit, a_store_of_another_run_or_schema_is_refused)
{
    segment_kit_live(kit, 3);
    kit->config.run_id++;
    refuse(kit, AQ_E_SCHEMA, "another run");
    kit->config.run_id--;
    kit->config.schema_hash++;
    refuse(kit, AQ_E_SCHEMA, "lists: 000000000000000b (task cartpole)");
    kit->config.schema_hash--;
    segment_kit_open(kit, NULL);
}

TEST_IN(segment_kit, kit, files_of_a_newer_version_are_refused)
{
    segment_kit_live(kit, 3);
    make_newer(segment_kit_segment(kit, 1));
    refuse(kit, AQ_E_VERSION, "segment-00000000000001.aqrs: of format version 9; this program");
    make_newer(segment_kit_path(kit, "store.aqrs"));
    refuse(kit, AQ_E_VERSION, "store.aqrs: of format version 9");
}

TEST_IN(segment_kit, kit, foreign_files_under_our_names_are_refused_and_left)
{
    static const char words[] = "These are my notes, and they are longer than a header of a file.";
    static const char *const names[] = {"segment-00000000000002.aqrs", "snapshot.aqrs"};
    segment_kit_live(kit, 3);
    EACH_ROW(i, names) {
        file_put(segment_kit_path(kit, names[i]), words, sizeof(words));
        refuse(kit, AQ_E_FOREIGN, names[i]);
        assert_int_equal(segment_kit_file_size(segment_kit_path(kit, names[i])), sizeof(words));
        unlink(segment_kit_path(kit, names[i]));
    }
    file_put(segment_kit_path(kit, "store.aqrs"), words, sizeof(words));
    refuse(kit, AQ_E_FOREIGN, "store.aqrs");
    assert_int_equal(segment_kit_file_size(segment_kit_path(kit, "store.aqrs")), sizeof(words));
}

TEST_IN(segment_kit, kit, a_short_foreign_file_and_a_folder_under_our_names_are_refused)
{
    segment_kit_live(kit, 3);
    file_put(segment_kit_segment(kit, 2), "hello", 5);
    refuse(kit, AQ_E_FOREIGN, "not a segment of a replay store");
    unlink(segment_kit_segment(kit, 2));
    assert_int_equal(mkdir(segment_kit_segment(kit, 2), 0777), 0);
    refuse(kit, AQ_E_FOREIGN, "not a file");
}

TEST_IN(segment_kit, kit, a_segment_of_another_store_is_refused)
{
    segment_kit other = {0};
    segment_kit_live(kit, 3);
    segment_kit_setup(&other);
    other.config.store = 1;
    segment_kit_live(&other, 20);
    segment_kit_file_copy(&other, 2, kit, 2);
    segment_kit_teardown(&other);
    refuse(kit, AQ_E_FOREIGN, "of store 0000000000000001, not file 2 of store 0000000000005eed");
}

TEST_IN(segment_kit, kit, a_renamed_segment_is_refused)
{
    segment_kit_live(kit, 3);
    segment_kit_file_copy(kit, 1, kit, 4);
    refuse(kit, AQ_E_FOREIGN, "it is file 1 of store 0000000000005eed, not file 4 of store");
}

TEST_IN(segment_kit, kit, what_crashes_left_goes_at_the_next_start)
{
    segment_kit_live(kit, 3);
    file_put(segment_kit_path(kit, "slot.tmp-0123456789abcdef"), "x", 1);
    segment_kit_assert_recovers(kit, 3);
    assert_int_equal(segment_kit_file_size(segment_kit_path(kit, "slot.tmp-0123456789abcdef")), -1);
}

TEST_IN(segment_kit, kit, segments_without_the_file_that_names_the_store_are_refused)
{
    segment_kit_live(kit, 3);
    assert_int_equal(unlink(segment_kit_path(kit, "store.aqrs")), 0);
    refuse(kit, AQ_E_FOREIGN, "no store.aqrs");
    assert_true(segment_kit_file_size(segment_kit_segment(kit, 1)) > 0);
}

TEST_IN(segment_kit, kit, a_damaged_name_of_the_store_is_refused)
{
    segment_kit_live(kit, 3);
    aq_buffer *bytes = file_bytes(segment_kit_path(kit, "store.aqrs"));
    for (size_t i = 0; i < bytes->size; i++) {
        bytes->data[i] ^= 1;
        file_put(segment_kit_path(kit, "store.aqrs"), bytes->data, bytes->size);
        refuse(kit, AQ_E_CORRUPT, "store.aqrs: damaged");
        bytes->data[i] ^= 1;
    }
    for (size_t cut = AQ_FILE_HEADER_BYTES; cut < bytes->size; cut++) {
        file_put(segment_kit_path(kit, "store.aqrs"), bytes->data, cut);
        refuse(kit, AQ_E_CORRUPT, "store.aqrs: damaged");
    }
}

TEST_IN(segment_kit, kit, other_files_in_the_folder_are_none_of_our_business)
{
    static const char *const names[] = {"notes.txt", "segment-1.aqrs",
                                        "segment-000000000000x1.aqrs",
                                        "segment-00000000000001.aqrs.bak"};
    segment_kit_live(kit, 3);
    EACH_ROW(i, names) {
        file_put(segment_kit_path(kit, names[i]), "mine", 4);
    }
    segment_kit_open(kit, NULL);
    assert_int_equal(kit->found.last_number, 3);
    segment_kit_close(kit);
    EACH_ROW(i, names) {
        assert_int_equal(segment_kit_file_size(segment_kit_path(kit, names[i])), 4);
    }
}

TEST_IN(segment_kit, kit, a_file_in_the_folders_place_is_refused)
{
    file_put(kit->folder, "x", 1);
    refuse(kit, AQ_E_IO, "");
    unlink(kit->folder);
    kit->config.folder = "/proc/nothing/can/be/made/here";
    assert_int_equal(segment_kit_try_open(kit, NULL, &refusal), AQ_E_IO);
    assert_true(refusal.text[0] != '\0');
}

TEST_IN(segment_kit, kit, a_path_that_is_too_long_is_refused)
{
    char path[PATH_MAX + 10];
    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    kit->config.folder = path;
    assert_refused(segment_kit_try_open(kit, NULL, &refusal), AQ_E_IO, "too long");
}

/* Opens the store as somebody who may look into it, and not write there; the superuser may write
 * anywhere. */
static int open_as_nobody(segment_kit *kit)
{
    aq_replay_log *log;
    segment_harvest harvest = {0};
    const aq_replay_log_recovery into = segment_harvest_into(&harvest);
    if ((getuid() == 0 && setuid(65534) != 0) || access(kit->folder, R_OK | X_OK) != 0) {
        return 2;
    }
    const int rc = aq_segment_log_open(&kit->config, &into, &kit->found, &log, &refusal);
    return rc == AQ_E_IO && strstr(refusal.text, kit->folder) != NULL &&
                   strstr(refusal.text, "Permission denied") != NULL
               ? 0
               : 1;
}

TEST_IN(segment_kit, kit, a_folder_that_cannot_be_written_is_refused)
{
    int status;
    segment_kit_live(kit, 3);
    assert_int_equal(chmod(kit->folder, 0555), 0);
    assert_int_equal(chmod(segment_kit_path(kit, ".."), 0755), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(open_as_nobody(kit));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(kit->folder, 0755), 0);
    assert_int_equal(status, 0);
}

TEST_IN(segment_kit, kit, any_store_can_be_opened_to_look_at)
{
    aq_segment_folder folder;
    uint64_t *numbers;
    size_t count;
    segment_kit_live(kit, 20);
    assert_int_equal(aq_segment_folder_open_any(kit->folder, &folder, NULL), 0);
    assert_int_equal(folder.identity.run_id, 7);
    assert_int_equal(folder.identity.schema_hash, 11);
    assert_int_equal(folder.identity.store, SEGMENT_KIT_STORE);
    assert_string_equal(folder.identity.task, "cartpole");
    assert_int_equal(aq_segment_folder_list(&folder, &numbers, &count, NULL), 0);
    assert_int_equal(count, 3);
    assert_int_equal(numbers[2], 3);
    aq_free(numbers);
    aq_segment_folder_close(&folder);
}

TEST_IN(segment_kit, kit, a_copy_without_the_file_that_is_locked_can_be_opened_to_look_at)
{
    aq_segment_folder folder;
    segment_kit_live(kit, 1);
    segment_kit_close(kit);
    assert_int_equal(unlink(segment_kit_path(kit, "lock")), 0);
    assert_succeeds(aq_segment_folder_open_any(kit->folder, &folder, &refusal));
    assert_int_equal(folder.identity.store, SEGMENT_KIT_STORE);
    aq_segment_folder_close(&folder);
    assert_int_equal(segment_kit_file_size(segment_kit_path(kit, "lock")), -1);
}
