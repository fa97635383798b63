/*
 * A disk without room: the older checkpoints stay whole, nothing else stays behind.
 *
 * Once by a limit on the size of files, which needs no rights, and once on a real file system that
 * is too small, where this process may mount one in a namespace of its own.
 */
#include "learner/publish/policy_versions.h"
#include "learner/run/checkpoint_store.h"
#include "tests/support/file_kit.h"
#include "tests/support/small_disk.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

enum { DISK_BYTES = 1 << 20 };

static aq_checkpoint_store *store_with_two(const run_dir *dir)
{
    aq_checkpoint_store *store = NULL;
    assert_int_equal(aq_checkpoint_store_open(dir->path, 3, &store, NULL), 0);
    for (uint64_t step = 1; step <= 2; step++) {
        aq_checkpoint checkpoint;
        const char *path;
        fixture_checkpoint(step, &checkpoint);
        assert_int_equal(aq_checkpoint_store_write(store, &checkpoint, &path, NULL), 0);
    }
    return store;
}

/* The first one once the second is gone. */
static void assert_two_are_whole(const run_dir *dir, aq_checkpoint_store *store)
{
    assert_int_equal(run_dir_checkpoint_files(dir), 2);
    for (uint64_t step = 2; step >= 1; step--) {
        aq_checkpoint checkpoint;
        assert_int_equal(aq_checkpoint_store_read_newest(store, NULL, NULL, &checkpoint, NULL), 0);
        fixture_assert_checkpoint(&checkpoint, step);
        aq_checkpoint_fini(&checkpoint);
        assert_int_equal(unlink(run_dir_checkpoint_path(dir, step)), 0);
    }
}

TEST_IN(run_dir, dir, a_limit_on_file_size_leaves_the_older_ones_and_nothing_else)
{
    aq_checkpoint_store *store = store_with_two(dir);
    const size_t size = file_bytes(run_dir_checkpoint_path(dir, 2))->size;
    for (size_t limit = 1; limit < size; limit += size / 7) {
        aq_checkpoint checkpoint;
        const char *path = NULL;
        fixture_checkpoint(3, &checkpoint);
        fixture_limit_file_size(limit);
        int rc = aq_checkpoint_store_write(store, &checkpoint, &path, &refusal);
        fixture_limit_file_size(0);
        assert_true(rc < 0);
        assert_null(path);
        assert_says(refusal.text, "step-000000000003.aqc");
        assert_int_equal(run_dir_checkpoint_files(dir), 2);
    }
    assert_two_are_whole(dir, store);
    aq_checkpoint_store_close(store);
}

TEST_IN(run_dir, dir, versions_are_not_lost_on_a_limit_on_file_size)
{
    uint64_t first = 0;
    assert_int_equal(aq_version_reserve(dir->path, 0, 100, &first, NULL), 0);
    assert_int_equal(first, 1);
    fixture_limit_file_size(1);
    assert_true(aq_version_reserve(dir->path, 0, 100, &first, NULL) < 0);
    fixture_limit_file_size(0);
    assert_int_equal(first, 1);
    assert_int_equal(aq_version_reserve(dir->path, 0, 100, &first, NULL), 0);
    assert_int_equal(first, 101);
}

TEST_IN(run_dir, dir, a_full_disk_leaves_the_older_ones_and_nothing_else)
{
    aq_checkpoint checkpoint;
    const char *path = NULL;
    uint64_t first = 0;
    if (!small_disk_mount(dir->path, DISK_BYTES)) {
        skip(); /* not allowed to mount here */
    }
    aq_checkpoint_store *store = store_with_two(dir);
    assert_int_equal(aq_version_reserve(dir->path, 0, 10, &first, NULL), 0);
    small_disk_fill(run_dir_path(dir, "filler"));

    fixture_checkpoint(3, &checkpoint);
    assert_int_equal(aq_checkpoint_store_write(store, &checkpoint, &path, &refusal), AQ_E_NO_SPACE);
    assert_int_equal(aq_version_reserve(dir->path, 0, 10, &first, NULL), AQ_E_NO_SPACE);
    assert_int_equal(run_dir_checkpoint_files(dir), 2);

    assert_int_equal(unlink(run_dir_path(dir, "filler")), 0);
    assert_int_equal(aq_version_reserve(dir->path, 0, 10, &first, NULL), 0);
    assert_int_equal(first, 11);
    assert_two_are_whole(dir, store);
    aq_checkpoint_store_close(store);
}
