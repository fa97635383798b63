/*
 * The checkpoint store: what is written is read back, newest first; damaged and foreign files are
 * passed over; old ones go, and only those.
 */
#include "common/sys/file.h"
#include "learner/run/checkpoint_store.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

typedef struct skipped {
    unsigned count;
    char path[FIXTURE_PATH_MAX]; /* of the last one */
} skipped;

static void on_skipped(void *user, const char *path, const aq_error *error)
{
    skipped *s = user;
    s->count++;
    snprintf(s->path, sizeof(s->path), "%s", path);
    assert_true(error->code != 0 && error->text[0] != '\0');
}

typedef struct store_desk {
    run_dir dir;
    aq_checkpoint_store *store; /* keeps three */
    skipped skipped;            /* by the reading before */
} store_desk;

static void open_store(store_desk *desk, unsigned kept)
{
    aq_checkpoint_store_close(desk->store);
    assert_succeeds(aq_checkpoint_store_open(desk->dir.path, kept, &desk->store, &refusal));
}

static void store_desk_setup(store_desk *desk)
{
    run_dir_setup(&desk->dir);
    open_store(desk, 3);
}

static void store_desk_teardown(store_desk *desk)
{
    aq_checkpoint_store_close(desk->store);
    run_dir_teardown(&desk->dir);
}

static const char *path_of(const store_desk *desk, uint64_t step)
{
    return run_dir_checkpoint_path(&desk->dir, step);
}

static void write_step(store_desk *desk, uint64_t step)
{
    aq_checkpoint checkpoint;
    const char *path = NULL;
    fixture_checkpoint(step, &checkpoint);
    assert_succeeds(aq_checkpoint_store_write(desk->store, &checkpoint, &path, &refusal));
    assert_string_equal(path, path_of(desk, step));
    assert_true(aq_path_exists(path));
}

static int read_newest(store_desk *desk, aq_checkpoint *ret_checkpoint, aq_error *error)
{
    desk->skipped = (skipped){.count = 0};
    return aq_checkpoint_store_read_newest(desk->store, on_skipped, &desk->skipped, ret_checkpoint,
                                           error);
}

/* What is read is of this step, and so many newer ones were passed over. */
static void assert_newest(store_desk *desk, uint64_t step, unsigned skipped_count)
{
    aq_checkpoint checkpoint;
    assert_succeeds(read_newest(desk, &checkpoint, &refusal));
    fixture_assert_checkpoint(&checkpoint, step);
    assert_int_equal(desk->skipped.count, skipped_count);
    aq_checkpoint_fini(&checkpoint);
}

static void assert_files(const store_desk *desk, unsigned count)
{
    assert_int_equal(run_dir_checkpoint_files(&desk->dir), count);
}

TEST_IN(store_desk, desk, a_written_checkpoint_is_read_back)
{
    write_step(desk, 1234);
    assert_newest(desk, 1234, 0);
}

TEST_IN(store_desk, desk, an_empty_folder_has_no_checkpoint)
{
    aq_checkpoint checkpoint;
    assert_refused(read_newest(desk, &checkpoint, &refusal), AQ_E_NOT_FOUND, "checkpoints");
}

TEST_IN(store_desk, desk, the_newest_step_is_read_whatever_was_written_last)
{
    open_store(desk, 9);
    write_step(desk, 900);
    write_step(desk, 1000000000000); /* one digit more than the name is padded to */
    write_step(desk, 20);
    assert_newest(desk, 1000000000000, 0);
}

TEST_IN(store_desk, desk, step_0_is_a_step)
{
    open_store(desk, 1);
    write_step(desk, 0);
    assert_newest(desk, 0, 0);
}

TEST_IN(store_desk, desk, the_same_step_is_replaced)
{
    write_step(desk, 5);
    write_step(desk, 5);
    assert_files(desk, 1);
    assert_newest(desk, 5, 0);
}

TEST_IN(store_desk, desk, only_the_newest_are_kept)
{
    for (uint64_t step = 100; step <= 700; step += 100) {
        write_step(desk, step);
        assert_files(desk, step < 300 ? (unsigned)step / 100 : 3);
    }
    assert_true(aq_path_exists(path_of(desk, 500)));
    assert_true(aq_path_exists(path_of(desk, 600)));
    assert_true(aq_path_exists(path_of(desk, 700)));
}

TEST_IN(store_desk, desk, a_given_up_future_goes_before_the_past)
{
    write_step(desk, 400);
    write_step(desk, 500);
    write_step(desk, 450); /* as if 400 had been resumed */
    write_step(desk, 460);
    assert_false(aq_path_exists(path_of(desk, 500)));
    assert_newest(desk, 460, 0);
}

TEST_IN(store_desk, desk, what_was_passed_over_is_never_removed)
{
    write_step(desk, 400);
    write_step(desk, 500);
    const aq_buffer *bytes = file_bytes(path_of(desk, 500));
    file_put(path_of(desk, 500), "no", 2); /* as if it could not be read just now */
    assert_newest(desk, 400, 1);
    for (uint64_t step = 401; step <= 407; step++) {
        write_step(desk, step);
    }
    assert_files(desk, 1 + 3);
    file_put(path_of(desk, 500), bytes->data, bytes->size);
    assert_newest(desk, 500, 0);
}

/* Steps 10 and 20; the bytes of the latter. */
static const aq_buffer *write_two(store_desk *desk)
{
    write_step(desk, 10);
    write_step(desk, 20);
    return file_bytes(path_of(desk, 20));
}

TEST_IN(store_desk, desk, a_damaged_newest_falls_back_to_the_older_and_is_named)
{
    const aq_buffer *bytes = write_two(desk);
    for (size_t at = 0; at < bytes->size; at += 16) {
        file_put(path_of(desk, 20), bytes->data, bytes->size);
        file_flip(path_of(desk, 20), (long)at);
        assert_newest(desk, 10, 1);
        assert_string_equal(desk->skipped.path, path_of(desk, 20));
    }
}

TEST_IN(store_desk, desk, a_truncated_newest_falls_back_to_the_older_and_is_named)
{
    const aq_buffer *bytes = write_two(desk);
    assert_true(bytes->size > 64);
    for (size_t cut = 0; cut < bytes->size; cut += 64) {
        file_put(path_of(desk, 20), bytes->data, cut);
        assert_newest(desk, 10, 1);
        assert_string_equal(desk->skipped.path, path_of(desk, 20));
    }
    file_put(path_of(desk, 20), bytes->data, bytes->size);
    assert_newest(desk, 20, 0);
}

TEST_IN(store_desk, desk, when_all_are_damaged_none_is_taken_for_a_start)
{
    aq_checkpoint checkpoint;
    for (uint64_t step = 0; step < 3; step++) {
        file_put(path_of(desk, step), "", 0);
    }
    assert_refused(read_newest(desk, &checkpoint, &refusal), AQ_E_CORRUPT,
                   "none of its 3 checkpoints");
    assert_says(refusal.text, "or take another folder to begin from nothing");
    assert_int_equal(desk->skipped.count, 3);
}

TEST_IN(store_desk, desk, files_of_other_names_are_left_alone)
{
    static const char *const names[] = {"checkpoints/step-99.aqc",
                                        "checkpoints/step-000000000099.aqc.bak",
                                        "checkpoints/step-0000000000099.aqc",
                                        "checkpoints/step-+00000000099.aqc",
                                        "checkpoints/step-99999999999999999999.aqc",
                                        "checkpoints/step-.aqc",
                                        "checkpoints/step-000000000099.aqc.tmp-0123",
                                        "checkpoints/notes"};
    open_store(desk, 1);
    EACH_ROW(i, names) {
        file_put(run_dir_path(&desk->dir, names[i]), "x", 1);
    }
    write_step(desk, 1);
    write_step(desk, 2);
    assert_newest(desk, 2, 0);
    EACH_ROW(i, names) {
        assert_true(aq_path_exists(run_dir_path(&desk->dir, names[i])));
    }
    assert_files(desk, sizeof(names) / sizeof(names[0]) + 1);
}

TEST_IN(store_desk, desk, what_a_crash_left_is_ignored_and_removed_at_the_next_start)
{
    const char *left = "checkpoints/step-000000000099.aqc.tmp-0123456789abcdef";
    write_step(desk, 1);
    file_put(run_dir_path(&desk->dir, left), "x", 1);
    assert_newest(desk, 1, 0);
    open_store(desk, 3);
    assert_false(aq_path_exists(run_dir_path(&desk->dir, left)));
    assert_files(desk, 1);
}

TEST_IN(run_dir, dir, open_below_a_file_is_refused_in_words)
{
    aq_checkpoint_store *store = NULL;
    file_put(run_dir_path(dir, "file"), "x", 1);
    assert_true(aq_checkpoint_store_open(run_dir_path(dir, "file"), 3, &store, &refusal) < 0);
    assert_null(store);
    assert_says(refusal.text, "file");
}

TEST(open_of_too_long_a_path_is_refused)
{
    static char path[8192];
    aq_checkpoint_store *store = NULL;
    memset(path, 'a', sizeof(path) - 1);
    assert_int_equal(aq_checkpoint_store_open(path, 3, &store, NULL), AQ_E_TOO_BIG);
    assert_null(store);
}

TEST_IN(run_dir, dir, open_without_memory_fails)
{
    aq_checkpoint_store *store = NULL;
    assert_fails_without_memory(aq_checkpoint_store_open(dir->path, 3, &store, NULL));
    assert_null(store);
    aq_checkpoint_store_close(NULL);
}

TEST_IN(store_desk, desk, a_write_without_memory_leaves_the_older_ones)
{
    aq_checkpoint checkpoint;
    const char *path;
    int rc;
    open_store(desk, 1);
    write_step(desk, 1);
    open_store(desk, 1); /* without memory of its own */
    fixture_checkpoint(2, &checkpoint);
    EACH_ALLOCATION_FAILS(rc) {
        rc = aq_checkpoint_store_write(desk->store, &checkpoint, &path, NULL);
        aq_memory_fail_at(0, 0);
        if (rc != 0) {
            assert_files(desk, 1);
            assert_newest(desk, 1, 0);
            open_store(desk, 1);
        }
    }
}

TEST_IN(store_desk, desk, a_read_without_memory_does_not_pass_the_file_over)
{
    aq_checkpoint checkpoint;
    int rc;
    write_step(desk, 1);
    open_store(desk, 3);
    EACH_ALLOCATION_FAILS(rc) {
        rc = read_newest(desk, &checkpoint, NULL);
        aq_memory_fail_at(0, 0);
        assert_int_equal(desk->skipped.count, 0);
        open_store(desk, 3);
    }
    aq_checkpoint_fini(&checkpoint);
}
