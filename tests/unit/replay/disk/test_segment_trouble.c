/*
 * Disks that fail: what waits is kept and tried again, nothing is told to be durable that isn't, no
 * part of a record stays between records, and all of it is said.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "replay/disk/segment_disk.h"
#include "tests/support/test.h"
#include "tests/unit/replay/segment_kit.h"

/* A disk with so many bytes left, that takes at most so many at once, and fails so many calls. */
static struct {
    _Atomic long room;
    _Atomic long bytes_max;
    _Atomic int write_errno; /* of a write that finds no room */
    _Atomic int syncs_failing, opens_failing, truncates_failing, unlinks_failing, renames_failing;
    _Atomic int syncs, folder_syncs;
} disk;

static bool fails(_Atomic int *left, int errno_value)
{
    if (atomic_load(left) <= 0) {
        return false;
    }
    atomic_fetch_sub(left, 1);
    errno = errno_value;
    return true;
}

static int bad_open(const char *path, int flags, mode_t mode)
{
    return fails(&disk.opens_failing, EIO) ? -1 : open(path, flags, mode);
}

static ssize_t bad_writev(int fd, const struct iovec *parts, int count)
{
    const long room = atomic_load(&disk.room);
    const long bytes_max = atomic_load(&disk.bytes_max);
    struct iovec part = {0};
    for (int i = 0; i < count && part.iov_len == 0; i++) {
        part = parts[i];
    }
    if (room == 0) {
        errno = atomic_load(&disk.write_errno);
        return -1;
    }
    long size = (long)part.iov_len < room ? (long)part.iov_len : room;
    size = size < bytes_max ? size : bytes_max;
    const ssize_t written = write(fd, part.iov_base, (size_t)size);
    if (written > 0) {
        atomic_fetch_sub(&disk.room, written);
    }
    return written;
}

static int bad_sync(int fd)
{
    struct stat its;
    const bool is_folder = fstat(fd, &its) == 0 && S_ISDIR(its.st_mode);
    atomic_fetch_add(is_folder ? &disk.folder_syncs : &disk.syncs, 1);
    return fails(&disk.syncs_failing, EIO) ? -1 : fdatasync(fd);
}

static int bad_truncate(int fd, off_t size)
{
    return fails(&disk.truncates_failing, EIO) ? -1 : ftruncate(fd, size);
}

static int bad_rename(const char *from, const char *to)
{
    return fails(&disk.renames_failing, EACCES) ? -1 : rename(from, to);
}

static int bad_unlink(const char *path)
{
    return fails(&disk.unlinks_failing, EROFS) ? -1 : unlink(path);
}

static const aq_segment_disk bad_disk = {
    .open = bad_open,
    .writev = bad_writev,
    .sync = bad_sync,
    .truncate = bad_truncate,
    .rename = bad_rename,
    .unlink = bad_unlink,
    .retry_ms = 10,
};

typedef segment_kit bad_store;
#define bad_store_teardown segment_kit_teardown

static void bad_store_setup(bad_store *kit)
{
    segment_kit_setup(kit);
    kit->config.disk = &bad_disk;
    kit->config.segment_bytes = 1 << 20;
    memset(&disk, 0, sizeof(disk));
    atomic_store(&disk.room, 1L << 40);
    atomic_store(&disk.bytes_max, 1L << 40);
    atomic_store(&disk.write_errno, ENOSPC);
}

static bool is_durable_or_stuck(const aq_log_progress *progress, uint64_t number)
{
    return progress->durable >= number || progress->stuck;
}

static bool has_reason(const aq_log_progress *progress, uint64_t has)
{
    return (progress->reason[0] != '\0') == (has != 0);
}

static bool has_failed_to_sync(const aq_log_progress *progress, uint64_t times)
{
    return progress->sync_failures >= times;
}

/* ---- full disks ------------------------------------------------------------------------------ */

/* No byte more: the log with so many more records is stuck. */
static aq_log_progress fill_up(segment_kit *kit, uint64_t count)
{
    atomic_store(&disk.room, 0);
    segment_kit_append(kit, count);
    return segment_kit_wait(kit, segment_kit_is_stuck, true);
}

TEST_IN(bad_store, kit, a_full_disk_stops_the_log_until_there_is_room)
{
    segment_kit_write(kit, 5);
    atomic_store(&disk.room, 200); /* one record of 132 bytes, and a part of the next */
    segment_kit_append(kit, 5);
    aq_log_progress progress = segment_kit_wait(kit, segment_kit_is_stuck, true);
    progress = segment_kit_wait(kit, segment_kit_is_durable, 6);
    assert_true(progress.stuck);
    assert_int_equal(progress.durable, 6);
    assert_int_equal(progress.backlog_bytes, 400);
    assert_says(progress.reason, "segment-00000000000001.aqrs: can't write: No space");
    const long whole = segment_kit_file_size(segment_kit_segment(kit, 1));
    assert_int_equal((whole - 64 - 32) % 132, 0); /* no part of a record has stayed */
    segment_kit_append(kit, 5);
    atomic_store(&disk.room, 1L << 40);
    progress = segment_kit_wait(kit, segment_kit_is_loose, 15);
    assert_string_equal(progress.reason, "");
    segment_kit_assert_recovers(kit, 15);
}

TEST_IN(bad_store, kit, a_full_disk_at_every_byte_leaves_whole_records)
{
    for (long room = 0; room < 700; room += 7) {
        segment_kit_open(kit, NULL);
        const uint64_t before = kit->last_number;
        atomic_store(&disk.room, room);
        segment_kit_append(kit, 3);
        const aq_log_progress progress =
            segment_kit_wait(kit, is_durable_or_stuck, kit->last_number);
        segment_kit_close(kit); /* the last attempt fails as well */
        atomic_store(&disk.room, 1L << 40);
        segment_kit_reopen(kit);
        assert_in_range(kit->found.last_number, progress.durable, before + 3);
        segment_harvest_assert_recovered(&kit->harvest, kit->found.last_number);
        segment_kit_close(kit);
    }
}

/* Three segments on a full disk, of which the first is dropped. */
static void drop_on_a_full_disk(segment_kit *kit)
{
    kit->config.segment_bytes = 1000;
    segment_kit_write(kit, 20);
    fill_up(kit, 1);
    kit->log->class->drop(kit->log, 1);
    segment_kit_wait(kit, segment_kit_is_small, 2000);
}

TEST_IN(bad_store, kit, dropping_segments_makes_room)
{
    drop_on_a_full_disk(kit);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 1)), 0);
    atomic_store(&disk.room, 1L << 40);
    segment_kit_settle(kit);
    segment_kit_append(kit, 1);
    segment_kit_reopen(kit);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 1)), -1);
    assert_int_equal(kit->harvest.damages, 0);
    assert_int_equal(kit->harvest.count, 22 - 8);
}

TEST_IN(bad_store, kit, what_was_dropped_on_a_full_disk_is_not_missed)
{
    drop_on_a_full_disk(kit);
    segment_kit_close(kit);
    atomic_store(&disk.room, 1L << 40);
    for (int life = 0; life < 2; life++) {
        segment_kit_reopen(kit);
        assert_int_equal(kit->harvest.damages, 0);
        assert_int_equal(kit->harvest.count, 12 + (life == 1 ? 1 : 0));
        segment_kit_append(kit, 1);
    }
    segment_kit_close(kit);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 1)), -1);
}

TEST_IN(bad_store, kit, a_backlog_behind_a_full_disk_is_bounded)
{
    kit->config.backlog_bytes = 1000;
    segment_kit_write(kit, 1);
    fill_up(kit, 10);
    assert_int_equal(segment_kit_try_append(kit), AQ_E_FULL);
    atomic_store(&disk.room, 1L << 40);
    segment_kit_settle(kit);
    segment_kit_append(kit, 1);
    segment_kit_assert_recovers(kit, 12);
}

TEST_IN(bad_store, kit, every_kind_of_failure_is_told_by_its_name)
{
    static const struct {
        int errno_value;
        const char *words;
    } kinds[] = {{EIO, "Input/output error"},
                 {EDQUOT, "Disk quota exceeded"},
                 {EFBIG, "File too large"},
                 {EROFS, "Read-only file system"}};
    segment_kit_write(kit, 1);
    EACH_ROW(i, kinds) {
        atomic_store(&disk.write_errno, kinds[i].errno_value);
        const aq_log_progress progress = fill_up(kit, 1);
        assert_says(progress.reason, kinds[i].words);
        atomic_store(&disk.room, 1L << 40);
        segment_kit_wait(kit, segment_kit_is_stuck, false);
    }
    segment_kit_assert_recovers(kit, 5);
}

TEST_IN(bad_store, kit, a_disk_that_takes_little_at_once_gets_it_all)
{
    atomic_store(&disk.bytes_max, 7);
    segment_kit_write(kit, 50);
    segment_kit_assert_recovers(kit, 50);
}

TEST_IN(bad_store, kit, a_file_that_cannot_be_cut_is_not_written_on)
{
    segment_kit_write(kit, 1);
    atomic_store(&disk.truncates_failing, 3);
    atomic_store(&disk.room, 50);
    segment_kit_append(kit, 2);
    segment_kit_wait(kit, segment_kit_is_stuck, true);
    atomic_store(&disk.room, 1L << 40);
    segment_kit_wait(kit, segment_kit_is_loose, 3);
    segment_kit_assert_recovers(kit, 3);
}

TEST_IN(bad_store, kit, a_segment_that_cannot_be_made_is_tried_again)
{
    atomic_store(&disk.opens_failing, 2);
    segment_kit_append(kit, 2);
    segment_kit_wait(kit, segment_kit_is_loose, 2);
    assert_int_equal(atomic_load(&disk.opens_failing), 0);
    segment_kit_assert_recovers(kit, 2);
}

/* ---- syncs ----------------------------------------------------------------------------------- */

TEST_IN(bad_store, kit, nothing_is_durable_before_its_sync_where_each_is_synced)
{
    kit->config.fsync_ms = 0;
    segment_kit_write(kit, 3);
    assert_true(atomic_load(&disk.syncs) >= 1);
    assert_int_equal(atomic_load(&disk.folder_syncs), 1); /* else the file may be in none */
    atomic_store(&disk.syncs_failing, 1 << 30);
    segment_kit_append(kit, 3);
    aq_log_progress progress = segment_kit_wait(kit, has_failed_to_sync, 2);
    assert_true(progress.stuck);
    assert_int_equal(progress.durable, 3);
    assert_says(progress.reason, "can't sync: Input/output error");
    assert_true(kit->log->class->wants_head(kit->log));
    atomic_store(&disk.syncs_failing, 0);
    segment_kit_wait(kit, segment_kit_is_loose, 6);
    segment_kit_append(kit, 1); /* in a new segment */
    segment_kit_assert_recovers(kit, 7);
    assert_int_equal(kit->harvest.segments[3], 1);
    assert_true(kit->harvest.segments[6] > 1);
}

TEST_IN(bad_store, kit, a_sync_that_fails_later_stops_the_log_and_is_counted)
{
    kit->config.fsync_ms = 1;
    atomic_store(&disk.syncs_failing, 1);
    segment_kit_append(kit, 3);
    segment_kit_wait(kit, has_failed_to_sync, 1);
    segment_kit_wait(kit, segment_kit_is_loose, 3);
    aq_log_progress progress = segment_kit_progress(kit);
    assert_int_equal(progress.sync_failures, 1);
    assert_true(kit->log->class->wants_head(kit->log));
    segment_kit_append(kit, 1);
    segment_kit_assert_recovers(kit, 4);
}

static bool has_synced(const aq_log_progress *progress, uint64_t times)
{
    (void)progress;
    return (uint64_t)atomic_load(&disk.syncs) >= times;
}

/* Its pages are clean for the kernel then, whatever came to the disk. */
TEST_IN(bad_store, kit, frames_whose_sync_failed_are_not_read_from_the_file)
{
    aq_lease *frame = NULL;
    kit->config.fsync_ms = 1;
    while (atomic_load(&disk.syncs) == 0) { /* the folder comes before */
        segment_kit_write(kit, 1);
    }
    atomic_store(&disk.syncs_failing, 1);
    segment_kit_append(kit, 1);
    segment_kit_wait(kit, has_failed_to_sync, 1);
    segment_kit_wait(kit, segment_kit_is_loose, kit->last_number);
    assert_int_equal(kit->log->class->map(kit->log, kit->last_number, 1, &frame), AQ_E_UNSUPPORTED);
    segment_kit_write(kit, 1); /* in a new segment */
    assert_int_equal(kit->log->class->map(kit->log, kit->last_number, 2, &frame), 0);
    aq_lease_unref(frame);
}

TEST_IN(bad_store, kit, what_is_written_is_synced_also_while_the_disk_is_full)
{
    kit->config.fsync_ms = 500;
    segment_kit_write(kit, 5);
    fill_up(kit, 1);
    assert_true(segment_kit_wait(kit, has_synced, 1).stuck);
    atomic_store(&disk.room, 1L << 40);
    segment_kit_wait(kit, segment_kit_is_loose, 6);
    segment_kit_assert_recovers(kit, 6);
}

/* ---- besides --------------------------------------------------------------------------------- */

TEST_IN(bad_store, kit, a_snapshot_that_fails_stops_no_record_and_is_tried_again)
{
    segment_kit_open(kit, NULL);
    atomic_store(&disk.renames_failing, 1 << 30);
    assert_int_equal(segment_kit_snapshot(kit, 1000, 1), 0);
    aq_log_progress progress = segment_kit_wait(kit, has_reason, true);
    assert_false(progress.stuck);
    assert_says(progress.reason, "snapshot.aqrs: can't rename");
    segment_kit_write(kit, 2);
    atomic_store(&disk.renames_failing, 0);
    segment_kit_wait(kit, segment_kit_has_snapshots, 1);
    segment_kit_wait(kit, has_reason, false);
    segment_kit_assert_recovers(kit, 2);
    assert_int_equal(kit->harvest.snapshot_size, 1000);
}

TEST_IN(bad_store, kit, a_segment_that_cannot_be_deleted_is_tried_again)
{
    kit->config.segment_bytes = 1000;
    segment_kit_write(kit, 17);
    atomic_store(&disk.unlinks_failing, 1 << 30);
    kit->log->class->drop(kit->log, 1);
    aq_log_progress progress = segment_kit_wait(kit, has_reason, true);
    assert_false(progress.stuck);
    assert_says(progress.reason, "can't delete: Read-only file system");
    atomic_store(&disk.unlinks_failing, 0);
    segment_kit_wait(kit, has_reason, false);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 1)), -1);
}

TEST_IN(bad_store, kit, a_segment_stays_until_the_note_that_it_is_dropped_is_synced)
{
    kit->config.segment_bytes = 1000;
    kit->config.fsync_ms = 1 << 30;
    segment_kit_write(kit, 17);
    kit->log->class->drop(kit->log, 1);
    segment_kit_write(kit, 1); /* with the note */
    segment_kit_write(kit, 1); /* in another round of the writer */
    assert_int_not_equal(segment_kit_file_size(segment_kit_segment(kit, 1)), -1);
    segment_kit_reopen(kit);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 1)), -1);
    assert_int_equal(kit->harvest.damages, 0);
}

TEST_IN(bad_store, kit, what_was_noted_is_not_missed_when_its_note_is_deleted_too)
{
    kit->config.segment_bytes = 1000;
    kit->config.fsync_ms = 0;
    segment_kit_write(kit, 9);
    atomic_store(&disk.unlinks_failing, 1 << 30);
    kit->log->class->drop(kit->log, 1);
    segment_kit_write(kit, 1); /* with the note, in segment 2 */
    segment_kit_write(kit, 8); /* up to segment 3 */
    atomic_store(&disk.unlinks_failing, 0);
    kit->log->class->drop(kit->log, 2);
    segment_kit_reopen(kit);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 2)), -1);
    assert_int_equal(kit->harvest.damages, 0);
}

TEST_IN(bad_store, kit, as_many_segments_as_may_be_stop_the_log_until_one_is_dropped)
{
    uint64_t segment;
    kit->config.segment_bytes = 1000;
    kit->config.segments_full = 3;
    kit->config.fsync_ms = 0;
    segment_kit_write(kit, 24);
    segment_kit_reopen(kit);
    assert_false(segment_kit_progress(kit).stuck); /* else what is dropped would be noted nowhere */
    segment_kit_write(kit, 8);
    const aq_log_progress progress = segment_kit_progress(kit);
    assert_true(progress.stuck);
    assert_says(progress.reason, "as many segments as it may");
    assert_int_equal(kit->log->class->begin(kit->log, &kit->head, &segment), AQ_E_FULL);
    kit->log->class->drop(kit->log, 1);
    kit->log->class->drop(kit->log, 2);
    segment_kit_wait(kit, segment_kit_is_loose, 32);
    segment_kit_write(kit, 8);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Closes the log; the disk refuses what is written last, in these words. */
static void assert_close_says(segment_kit *kit, const char *words)
{
    aq_replay_log *log = kit->log;
    aq_error refused = {0};
    kit->log = NULL;
    log->class->close(log, &refused);
    assert_true(refused.code < 0);
    assert_says(refused.text, words);
}

TEST_IN(bad_store, kit, what_cannot_be_written_at_the_end_is_told)
{
    segment_kit_write(kit, 2);
    assert_int_equal(segment_kit_snapshot(kit, 1000, 1), 0);
    segment_kit_wait(kit, segment_kit_has_snapshots, 1);
    atomic_store(&disk.renames_failing, 1 << 30);
    assert_int_equal(segment_kit_snapshot(kit, 2000, 2), 0);
    assert_close_says(kit, "snapshot.aqrs: can't rename");

    segment_kit_open(kit, NULL);
    atomic_store(&disk.room, 0);
    segment_kit_append(kit, 1);
    assert_close_says(kit, "can't write: No space");

    atomic_store(&disk.room, 1L << 40);
    atomic_store(&disk.renames_failing, 0);
    segment_kit_assert_recovers(kit, 2);
    assert_int_equal(kit->harvest.snapshot_size, 1000);
}
