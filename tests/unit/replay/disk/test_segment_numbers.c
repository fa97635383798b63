/*
 * Numbers of records are given once, and what they show to be missing is said.
 */
#include <errno.h>

#include "tests/support/test.h"
#include "tests/unit/replay/segment_kit.h"

/* Bytes of a segment that the disk gives before it fails; -1: all. */
static long readable_bytes = -1;

static bool is_segment(int file)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    const ssize_t size = readlink(link, path, sizeof(path) - 1);
    path[size > 0 ? size : 0] = '\0';
    return strstr(path, "/segment-") != NULL;
}

ssize_t __real_read(int file, void *bytes, size_t size); /* NOLINT: the linker's names */
ssize_t __wrap_read(int file, void *bytes, size_t size); /* NOLINT */

ssize_t __wrap_read(int file, void *bytes, size_t size) /* NOLINT */
{
    if (readable_bytes < 0 || !is_segment(file)) {
        return __real_read(file, bytes, size);
    }
    const size_t left = (size_t)(readable_bytes - lseek(file, 0, SEEK_CUR));
    if (left == 0) {
        errno = EIO;
        return -1;
    }
    return __real_read(file, bytes, size < left ? size : left);
}

/* Records 1 to `count`, which the snapshot names. */
static void live_with_snapshot(segment_kit *kit, uint64_t count)
{
    segment_kit_write(kit, count);
    assert_int_equal(segment_kit_snapshot(kit, 100, 1), 0);
    (void)segment_kit_wait(kit, segment_kit_has_snapshots, 1);
    segment_kit_close(kit);
}

/* Takes the last records off a segment, at their border. */
static void cut_off(segment_kit *kit, uint64_t segment, long records)
{
    const char *path = segment_kit_segment(kit, segment);
    const long size = segment_kit_file_size(path);
    assert_int_equal(truncate(path, size - records * RECORD_BYTES), 0);
}

/* ---- numbers are not given again ------------------------------------------------------------- */

/* What nobody can read just now is not gone: its numbers would be given again. */
TEST_IN(small_store, kit, a_segment_that_cannot_be_read_is_refused_and_read_later)
{
    const long readable[] = {0, 3 * RECORD_BYTES};
    segment_kit_live(kit, 4);
    EACH_ROW(i, readable) {
        readable_bytes = readable[i];
        const int rc = segment_kit_try_open(kit, NULL, &refusal);
        readable_bytes = -1;
        assert_refused(rc, AQ_E_IO, "segment-00000000000001.aqrs: it can't be read");
    }
    segment_kit_assert_recovers(kit, 4);
}

TEST_IN(small_store, kit, numbers_go_on_after_those_that_the_snapshot_names)
{
    live_with_snapshot(kit, 5);
    cut_off(kit, 1, 3); /* as the end of the machine may */
    segment_kit_reopen(kit);
    assert_true(segment_harvest_says(&kit->harvest, "records 3 to 5, which it names, are missing"));
    assert_int_equal(kit->found.last_number, 5);
    segment_kit_write(kit, 1);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.numbers[kit->harvest.count - 1], 6);
}

/* ---- what is missing is said ----------------------------------------------------------------- */

TEST_IN(small_store, kit, a_newest_segment_that_is_gone_is_missed)
{
    live_with_snapshot(kit, PER_SEGMENT + 2);
    assert_int_equal(unlink(segment_kit_segment(kit, 2)), 0);
    segment_kit_reopen(kit);
    assert_true(segment_harvest_says(&kit->harvest, "records 7 to 8, which it names, are missing"));
}

TEST_IN(small_store, kit, a_newest_segment_that_is_empty_is_missed)
{
    live_with_snapshot(kit, PER_SEGMENT + 2);
    assert_int_equal(truncate(segment_kit_segment(kit, 2), 0), 0);
    segment_kit_reopen(kit);
    assert_true(segment_harvest_says(&kit->harvest, "records 7 to 8, which it names, are missing"));
}

TEST_IN(small_store, kit, records_that_an_older_segment_has_lost_are_missed)
{
    segment_kit_live(kit, PER_SEGMENT + 2);
    cut_off(kit, 1, 2);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.damages, 1);
    assert_true(
        segment_harvest_says(&kit->harvest, "records 5 to 6, which came before, are missing"));
    assert_int_equal(kit->found.last_number, PER_SEGMENT + 2);
}

TEST_IN(small_store, kit, segments_that_were_dropped_are_not_missed)
{
    segment_kit_write(kit, 3 * PER_SEGMENT + 1);
    for (uint64_t segment = 1; segment <= 2; segment++) {
        kit->log->class->drop(kit->log, segment);
    }
    segment_kit_write(kit, PER_SEGMENT);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.damages, 0);
    assert_int_equal(kit->harvest.numbers[0], 2 * PER_SEGMENT + 1);
}
