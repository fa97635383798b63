/*
 * The checkpoint store: what is written is read back, newest first; damaged and foreign files are
 * passed over; old ones go, and only those.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/sys/file.h"
#include "learner/run/checkpoint_store.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

enum { FILE_MAX = 65536 };

typedef struct skipped {
    unsigned count;
    char path[FIXTURE_PATH_MAX]; /* of the last one */
    aq_error error;
} skipped;

static void on_skipped(void *user, const char *path, const aq_error *error)
{
    skipped *s = user;

    s->count++;
    snprintf(s->path, sizeof(s->path), "%s", path);
    s->error = *error;
    assert_true(error->code != 0 && error->text[0] != '\0');
}

static aq_checkpoint_store *open_store(void **state, unsigned kept)
{
    aq_checkpoint_store *store = NULL;
    aq_error error = {0};

    if (aq_checkpoint_store_open(*state, kept, &store, &error) != 0) {
        fail_msg("%s", error.text);
    }
    return store;
}

static void write_step(void **state, aq_checkpoint_store *store, uint64_t step)
{
    aq_checkpoint checkpoint;
    const char *path = NULL;
    aq_error error = {0};

    fixture_checkpoint(step, &checkpoint);
    if (aq_checkpoint_store_write(store, &checkpoint, &path, &error) != 0) {
        fail_msg("%s", error.text);
    }
    assert_string_equal(path, run_dir_checkpoint_path(state, step));
    assert_true(aq_path_exists(path));
}

/* What is read must be of this step. */
static void assert_newest(aq_checkpoint_store *store, uint64_t step, skipped *ret_skipped)
{
    aq_checkpoint checkpoint;
    aq_error error = {0};

    memset(ret_skipped, 0, sizeof(*ret_skipped));
    if (aq_checkpoint_store_read_newest(store, NULL, on_skipped, ret_skipped, &checkpoint,
                                        &error) != 0) {
        fail_msg("%s", error.text);
    }
    fixture_assert_checkpoint(&checkpoint, step);
    aq_checkpoint_fini(&checkpoint);
}

TEST_WITH(a_written_checkpoint_is_read_back, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint_store *store = open_store(state, 3);
    skipped s;

    write_step(state, store, 1234);
    assert_newest(store, 1234, &s);
    assert_int_equal(s.count, 0);
    aq_checkpoint_store_close(store);
}

TEST_WITH(an_empty_folder_has_no_checkpoint, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint_store *store = open_store(state, 3);
    aq_checkpoint checkpoint;
    aq_error error = {0};

    assert_int_equal(aq_checkpoint_store_read_newest(store, NULL, NULL, NULL, &checkpoint, &error),
                     AQ_E_NOT_FOUND);
    assert_non_null(strstr(error.text, "checkpoints"));
    aq_checkpoint_store_close(store);
}

TEST_WITH(the_newest_step_is_read_whatever_was_written_last, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint_store *store = open_store(state, 9);
    skipped s;

    write_step(state, store, 900);
    write_step(state, store, 1000000000000); /* one digit more than the name is padded to */
    write_step(state, store, 20);
    assert_newest(store, 1000000000000, &s);
    aq_checkpoint_store_close(store);
}

TEST_WITH(step_0_is_a_step, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint_store *store = open_store(state, 1);
    skipped s;

    write_step(state, store, 0);
    assert_newest(store, 0, &s);
    aq_checkpoint_store_close(store);
}

TEST_WITH(the_same_step_is_replaced, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint_store *store = open_store(state, 3);
    skipped s;

    write_step(state, store, 5);
    write_step(state, store, 5);
    assert_int_equal(run_dir_checkpoint_files(state), 1);
    assert_newest(store, 5, &s);
    aq_checkpoint_store_close(store);
}

TEST_WITH(only_the_newest_are_kept, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint_store *store = open_store(state, 3);

    for (uint64_t step = 100; step <= 700; step += 100) {
        write_step(state, store, step);
        assert_int_equal(run_dir_checkpoint_files(state), step < 300 ? step / 100 : 3);
    }
    assert_true(aq_path_exists(run_dir_checkpoint_path(state, 500)));
    assert_true(aq_path_exists(run_dir_checkpoint_path(state, 600)));
    assert_true(aq_path_exists(run_dir_checkpoint_path(state, 700)));
    aq_checkpoint_store_close(store);
}

TEST_WITH(a_given_up_future_goes_before_the_past, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint_store *store = open_store(state, 3);
    skipped s;

    write_step(state, store, 400);
    for (uint64_t step = 500; step <= 510; step += 10) { /* as if damaged */
        fixture_write_bytes(run_dir_checkpoint_path(state, step), "damaged", 7);
    }
    assert_newest(store, 400, &s);
    assert_int_equal(s.count, 2);
    write_step(state, store, 450);
    write_step(state, store, 460);
    assert_int_equal(run_dir_checkpoint_files(state), 3);
    assert_true(aq_path_exists(run_dir_checkpoint_path(state, 400)));
    assert_newest(store, 460, &s);
    assert_int_equal(s.count, 0);
    aq_checkpoint_store_close(store);
}

TEST_WITH(a_damaged_newest_falls_back_to_the_older_and_is_named, run_dir_setup, run_dir_teardown)
{
    static uint8_t bytes[FILE_MAX];
    aq_checkpoint_store *store = open_store(state, 3);
    size_t size;
    skipped s;

    write_step(state, store, 10);
    write_step(state, store, 20);
    size = fixture_read_bytes(run_dir_checkpoint_path(state, 20), bytes, sizeof(bytes));
    for (size_t at = 0; at < size; at += 16) {
        bytes[at] ^= 0x10;
        fixture_write_bytes(run_dir_checkpoint_path(state, 20), bytes, size);
        bytes[at] ^= 0x10;
        assert_newest(store, 10, &s);
        assert_int_equal(s.count, 1);
        assert_string_equal(s.path, run_dir_checkpoint_path(state, 20));
    }
    aq_checkpoint_store_close(store);
}

TEST_WITH(a_truncated_newest_falls_back_to_the_older_and_is_named, run_dir_setup, run_dir_teardown)
{
    static uint8_t bytes[FILE_MAX];
    aq_checkpoint_store *store = open_store(state, 3);
    size_t size;
    skipped s;

    write_step(state, store, 10);
    write_step(state, store, 20);
    size = fixture_read_bytes(run_dir_checkpoint_path(state, 20), bytes, sizeof(bytes));
    assert_true(size > 64);
    for (size_t cut = 0; cut < size; cut += 64) {
        fixture_write_bytes(run_dir_checkpoint_path(state, 20), bytes, cut);
        assert_newest(store, 10, &s);
        assert_int_equal(s.count, 1);
        assert_string_equal(s.path, run_dir_checkpoint_path(state, 20));
    }
    fixture_write_bytes(run_dir_checkpoint_path(state, 20), bytes, size);
    assert_newest(store, 20, &s);
    aq_checkpoint_store_close(store);
}

TEST_WITH(when_all_are_damaged_there_is_none, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint_store *store = open_store(state, 3);
    aq_checkpoint checkpoint;
    aq_error error = {0};
    skipped s = {0};

    for (uint64_t step = 0; step < 3; step++) {
        fixture_write_bytes(run_dir_checkpoint_path(state, step), "", 0);
    }
    assert_int_equal(
        aq_checkpoint_store_read_newest(store, NULL, on_skipped, &s, &checkpoint, &error),
        AQ_E_NOT_FOUND);
    assert_int_equal(s.count, 3);
    assert_non_null(strstr(error.text, "3 passed over"));
    aq_checkpoint_store_close(store);
}

TEST_WITH(a_checkpoint_of_another_network_is_passed_over_and_named, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint_store *store = open_store(state, 3);
    aq_checkpoint checkpoint;
    aq_net_spec spec;
    skipped s = {0};

    write_step(state, store, 10);
    fixture_checkpoint(10, &checkpoint);
    spec = checkpoint.spec;
    assert_int_equal(
        aq_checkpoint_store_read_newest(store, &spec, on_skipped, &s, &checkpoint, NULL), 0);
    aq_checkpoint_fini(&checkpoint);
    assert_int_equal(s.count, 0);
    spec.layers[0].activation = AQ_ACTIVATION_TANH;
    assert_int_equal(
        aq_checkpoint_store_read_newest(store, &spec, on_skipped, &s, &checkpoint, NULL),
        AQ_E_NOT_FOUND);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.error.code, AQ_E_FOREIGN);
    assert_non_null(strstr(s.error.text, "4-8r-2"));
    assert_non_null(strstr(s.error.text, "4-8t-2"));
    aq_checkpoint_store_close(store);
}

TEST_WITH(files_of_other_names_are_left_alone, run_dir_setup, run_dir_teardown)
{
    static const char *const names[] = {"checkpoints/step-99.aqc",
                                        "checkpoints/step-000000000099.aqc.bak",
                                        "checkpoints/step-0000000000099.aqc",
                                        "checkpoints/step-+00000000099.aqc",
                                        "checkpoints/step-99999999999999999999.aqc",
                                        "checkpoints/step-.aqc",
                                        "checkpoints/notes.tmp-0123456789abcdef",
                                        "checkpoints/step-000000000099.aqc.tmp-0123",
                                        "checkpoints/notes"};
    enum { NAMES = sizeof(names) / sizeof(names[0]) };
    aq_checkpoint_store *store = open_store(state, 1);
    skipped s;

    for (size_t i = 0; i < NAMES; i++) {
        fixture_write_bytes(run_dir_path(state, names[i]), "x", 1);
    }
    write_step(state, store, 1);
    write_step(state, store, 2);
    assert_newest(store, 2, &s);
    assert_int_equal(s.count, 0);
    for (size_t i = 0; i < NAMES; i++) {
        assert_true(aq_path_exists(run_dir_path(state, names[i])));
    }
    assert_int_equal(run_dir_checkpoint_files(state), NAMES + 1);
    aq_checkpoint_store_close(store);
}

TEST_WITH(what_a_crash_left_is_ignored_and_removed_by_the_next_write, run_dir_setup,
          run_dir_teardown)
{
    const char *left = "checkpoints/step-000000000099.aqc.tmp-0123456789abcdef";
    aq_checkpoint_store *store = open_store(state, 3);
    skipped s;

    write_step(state, store, 1);
    fixture_write_bytes(run_dir_path(state, left), "x", 1);
    assert_newest(store, 1, &s);
    assert_int_equal(s.count, 0);
    assert_true(aq_path_exists(run_dir_path(state, left)));
    write_step(state, store, 2);
    assert_false(aq_path_exists(run_dir_path(state, left)));
    assert_int_equal(run_dir_checkpoint_files(state), 2);
    aq_checkpoint_store_close(store);
}

TEST_WITH(open_below_a_file_is_refused_in_words, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint_store *store = NULL;
    aq_error error = {0};

    fixture_write_bytes(run_dir_path(state, "file"), "x", 1);
    assert_true(aq_checkpoint_store_open(run_dir_path(state, "file"), 3, &store, &error) < 0);
    assert_null(store);
    assert_non_null(strstr(error.text, "file"));
}

TEST_WITH(open_of_too_long_a_path_is_refused, run_dir_setup, run_dir_teardown)
{
    static char path[8192];
    aq_checkpoint_store *store = NULL;

    memset(path, 'a', sizeof(path) - 1);
    assert_int_equal(aq_checkpoint_store_open(path, 3, &store, NULL), AQ_E_TOO_BIG);
    assert_null(store);
}

TEST_WITH(open_without_memory_fails, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint_store *store = NULL;

    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_checkpoint_store_open(*state, 3, &store, NULL), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    assert_null(store);
    aq_checkpoint_store_close(NULL);
}

TEST_WITH(a_write_without_memory_leaves_the_older_ones, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint checkpoint;
    const char *path;
    int rc = AQ_E_NOMEM;

    for (uint64_t n = 1; rc != 0; n++) {
        aq_checkpoint_store *store = open_store(state, 1);
        skipped s;

        write_step(state, store, 1);
        aq_checkpoint_store_close(store);
        store = open_store(state, 1); /* without memory of its own */
        fixture_checkpoint(2, &checkpoint);
        aq_memory_fail_at(n, 0);
        rc = aq_checkpoint_store_write(store, &checkpoint, &path, NULL);
        aq_memory_fail_at(0, 0);
        if (rc != 0) {
            assert_int_equal(rc, AQ_E_NOMEM);
            assert_int_equal(run_dir_checkpoint_files(state), 1);
            assert_newest(store, 1, &s);
        }
        aq_checkpoint_store_close(store);
    }
}

TEST_WITH(a_read_without_memory_does_not_pass_the_file_over, run_dir_setup, run_dir_teardown)
{
    aq_checkpoint checkpoint;
    int rc = AQ_E_NOMEM, failures = -1;

    for (uint64_t n = 1; rc != 0; n++) {
        aq_checkpoint_store *store = open_store(state, 3);
        skipped s = {0};

        write_step(state, store, 1);
        aq_checkpoint_store_close(store);
        store = open_store(state, 3);
        aq_memory_fail_at(n, 0);
        rc = aq_checkpoint_store_read_newest(store, NULL, on_skipped, &s, &checkpoint, NULL);
        aq_memory_fail_at(0, 0);
        assert_true(rc == 0 || rc == AQ_E_NOMEM);
        assert_int_equal(s.count, 0);
        failures++;
        aq_checkpoint_store_close(store);
    }
    assert_true(failures > 0);
    aq_checkpoint_fini(&checkpoint);
}
