/*
 * Files that are not as they were written: whatever byte is flipped, wherever a file ends,
 * whichever file is missing, the store opens, says what it left out by file and offset, and keeps
 * the rest.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "replay/disk/segment_format.h"
#include "tests/support/test.h"
#include "tests/unit/replay/segment_kit.h"

static segment_kit kit;
static segment_harvest harvest;

static int set_up(void **state)
{
    (void)state;
    segment_kit_init(&kit);
    kit.config.segment_bytes = 400;
    kit.frame_bytes = 40;
    harvest = (segment_harvest){.keeps_frames = true};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    segment_kit_fini(&kit);
    segment_harvest_fini(&harvest);
    return 0;
}

/* Segments of six records of 72 bytes. */
enum { PER_SEGMENT = 6, RECORD_BYTES = 72 };

static void write_records(uint64_t count)
{
    segment_kit_open(&kit, NULL);
    segment_kit_append(&kit, count);
    segment_kit_close(&kit);
}

static void reopen(void)
{
    segment_kit_close(&kit);
    segment_harvest_fini(&harvest);
    harvest.keeps_frames = true;
    segment_kit_open(&kit, &harvest);
}

static void flip(const char *path, size_t offset)
{
    size_t size;
    uint8_t *bytes = segment_kit_file_get(path, &size);
    assert_true(offset < size);
    bytes[offset] ^= 0x40;
    segment_kit_file_put(path, bytes, size);
    aq_free(bytes);
}

/* ---- every byte ------------------------------------------------------------------------------ */

TEST_WITH(any_flipped_byte_costs_one_record_at_most, set_up, tear_down)
{
    size_t size;
    write_records(PER_SEGMENT + 2);
    const char *path = segment_kit_segment(&kit, 1);
    uint8_t *bytes = segment_kit_file_get(path, &size);
    const size_t first = size - PER_SEGMENT * RECORD_BYTES;
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x01;
        segment_kit_file_put(segment_kit_segment(&kit, 1), bytes, size);
        bytes[i] ^= 0x01;
        reopen();
        assert_int_equal(harvest.damages, 1);
        assert_true(segment_harvest_says(&harvest, "segment-00000000000001.aqrs: offset "));
        const uint64_t lost = i < first ? 0 : 1 + (i - first) / RECORD_BYTES;
        for (uint64_t number = 1; number <= PER_SEGMENT + 2; number++) {
            assert_int_equal(segment_harvest_has(&harvest, number), number != lost);
        }
        assert_int_equal(harvest.heads, i >= AQ_FILE_HEADER_BYTES && i < first ? 1 : 2);
        assert_int_equal(kit.found.last_number, PER_SEGMENT + 2);
    }
    aq_free(bytes);
}

TEST_WITH(a_newest_segment_cut_anywhere_keeps_its_whole_records, set_up, tear_down)
{
    size_t size;
    write_records(PER_SEGMENT + 3);
    uint8_t *bytes = segment_kit_file_get(segment_kit_segment(&kit, 2), &size);
    const size_t first = size - 3 * RECORD_BYTES;
    for (size_t cut = 0; cut < size; cut++) {
        segment_kit_file_put(segment_kit_segment(&kit, 2), bytes, cut);
        unlink(segment_kit_segment(&kit, 3)); /* of the life before */
        reopen();
        const uint64_t whole = cut < first ? 0 : (cut - first) / RECORD_BYTES;
        segment_harvest_assert_range(&harvest, 1, PER_SEGMENT + whole);
        assert_int_equal(kit.found.last_number, PER_SEGMENT + whole);
        const bool torn = cut > 0 && cut != AQ_FILE_HEADER_BYTES &&
                          (cut < first || (cut - first) % RECORD_BYTES != 0);
        assert_int_equal(harvest.damages, torn);
        reopen(); /* it has been cut off, or deleted */
        segment_harvest_assert_range(&harvest, 1, PER_SEGMENT + whole);
        assert_int_equal(harvest.damages, 0);
    }
    aq_free(bytes);
}

/* ---- tails ----------------------------------------------------------------------------------- */

TEST_WITH(a_torn_tail_is_cut_off_and_new_records_follow, set_up, tear_down)
{
    write_records(4);
    const long size = segment_kit_file_size(segment_kit_segment(&kit, 1));
    assert_int_equal(truncate(segment_kit_segment(&kit, 1), size - 1), 0);
    reopen();
    assert_true(segment_harvest_says(&harvest, "71 bytes at the end of the file are no whole"));
    assert_int_equal(segment_kit_file_size(segment_kit_segment(&kit, 1)), size - RECORD_BYTES);
    segment_kit_append(&kit, 3);
    reopen();
    segment_harvest_assert_range(&harvest, 1, 6);
    assert_int_equal(harvest.damages, 0);
}

TEST_WITH(zeros_that_the_end_of_a_machine_left_are_a_torn_tail, set_up, tear_down)
{
    static const uint8_t zeros[5000];
    write_records(PER_SEGMENT + 1);
    const long size = segment_kit_file_size(segment_kit_segment(&kit, 1));
    assert_int_equal(truncate(segment_kit_segment(&kit, 2), size + 10000), 0);
    segment_kit_file_put(segment_kit_segment(&kit, 3), zeros, sizeof(zeros));
    reopen();
    segment_harvest_assert_range(&harvest, 1, PER_SEGMENT + 1);
    assert_int_equal(harvest.damages, 2);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(&kit, 3)), -1);
}

TEST_WITH(an_older_segment_is_left_as_it_is_found, set_up, tear_down)
{
    write_records(PER_SEGMENT + 1);
    const long size = segment_kit_file_size(segment_kit_segment(&kit, 1));
    assert_int_equal(truncate(segment_kit_segment(&kit, 1), size - 1), 0);
    reopen();
    assert_int_equal(harvest.damages, 1);
    assert_int_equal(harvest.count, PER_SEGMENT);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(&kit, 1)), size - 1);
}

/* ---- files ----------------------------------------------------------------------------------- */

TEST_WITH(a_missing_segment_is_told_and_the_rest_is_kept, set_up, tear_down)
{
    write_records(4 * PER_SEGMENT);
    assert_int_equal(unlink(segment_kit_segment(&kit, 2)), 0);
    reopen();
    assert_int_equal(harvest.damages, 1);
    assert_true(segment_harvest_says(&harvest, "segment-00000000000002.aqrs"));
    assert_true(segment_harvest_says(&harvest, "missing"));
    assert_int_equal(harvest.count, 3 * PER_SEGMENT);
    segment_kit_append(&kit, 1);
    reopen(); /* told once: the newest head doesn't know of it any more */
    assert_int_equal(harvest.damages, 0);
}

TEST_WITH(a_damaged_head_is_told_and_its_records_are_kept, set_up, tear_down)
{
    write_records(2 * PER_SEGMENT);
    flip(segment_kit_segment(&kit, 2), AQ_FILE_HEADER_BYTES + AQ_RECORD_HEADER_BYTES);
    reopen();
    assert_int_equal(harvest.damages, 1);
    assert_true(segment_harvest_says(&harvest, "segment-00000000000002.aqrs: offset 40: "));
    assert_int_equal(harvest.heads, 1);
    segment_harvest_assert_range(&harvest, 1, 2 * PER_SEGMENT);
}

TEST_WITH(a_damaged_snapshot_is_told_and_passed_over, set_up, tear_down)
{
    uint8_t *bytes;
    aq_lease *lease;
    segment_kit_open(&kit, NULL);
    segment_kit_append(&kit, 2);
    assert_int_equal(aq_lease_create(100, &bytes, &lease), 0);
    memset(bytes, 1, 100);
    assert_int_equal(kit.log->class->snapshot(kit.log, lease), 0);
    aq_lease_unref(lease);
    segment_kit_close(&kit);
    const long size = segment_kit_file_size(segment_kit_path(&kit, "snapshot.aqrs"));
    for (long i = 0; i < size; i++) {
        flip(segment_kit_path(&kit, "snapshot.aqrs"), (size_t)i);
        reopen();
        assert_int_equal(harvest.damages, 1);
        assert_true(segment_harvest_says(&harvest, "snapshot.aqrs: damaged"));
        assert_int_equal(harvest.snapshot_size, 0);
        segment_harvest_assert_range(&harvest, 1, 2);
        flip(segment_kit_path(&kit, "snapshot.aqrs"), (size_t)i);
    }
    reopen();
    assert_int_equal(harvest.snapshot_size, 100);
}

TEST_WITH(what_a_crash_left_of_a_snapshot_is_removed, set_up, tear_down)
{
    write_records(1);
    segment_kit_file_put(segment_kit_path(&kit, "snapshot.aqrs.tmp"), "half", 4);
    reopen();
    assert_int_equal(harvest.damages, 0);
    assert_int_equal(segment_kit_file_size(segment_kit_path(&kit, "snapshot.aqrs.tmp")), -1);
}

TEST_WITH(a_compressed_record_is_checked_like_any_other, set_up, tear_down)
{
    kit.config.compressed = true;
    kit.config.segment_bytes = 1 << 20;
    kit.frame_bytes = 5000;
    write_records(3);
    const long size = segment_kit_file_size(segment_kit_segment(&kit, 1));
    flip(segment_kit_segment(&kit, 1), (size_t)size / 2);
    reopen();
    assert_int_equal(harvest.damages, 1);
    assert_int_equal(harvest.count, 2);
    assert_true(segment_harvest_has(&harvest, 1));
    assert_true(segment_harvest_has(&harvest, 3));
}
