/*
 * Frames are read from the files as they were written: mapped for as long as anybody looks at them,
 * or compressed.
 */
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/replay/segment_kit.h"

/* ---- mapping -------------------------------------------------------------------------------- */

static aq_lease *map(segment_kit *kit, uint64_t number, uint64_t segment)
{
    aq_lease *mapped = NULL;
    assert_int_equal(kit->log->class->map(kit->log, number, segment, &mapped), 0);
    return mapped;
}

/* It is the frame of this number, and nobody's afterwards. */
static void assert_is(aq_lease *mapped, const segment_kit *kit, uint64_t number)
{
    aq_lease *expected = segment_kit_frame(number, kit->frame_bytes);
    assert_int_equal(mapped->size, expected->size);
    assert_memory_equal(mapped->bytes, expected->bytes, expected->size);
    aq_lease_unref(mapped);
    aq_lease_unref(expected);
}

static void assert_mapped(segment_kit *kit, uint64_t number, uint64_t segment)
{
    assert_is(map(kit, number, segment), kit, number);
}

TEST_IN(segment_kit, kit, a_durable_record_is_mapped_as_it_was_written)
{
    segment_kit_open(kit, NULL);
    for (uint64_t number = 1; number <= 20; number++) {
        segment_kit_append(kit, 1);
        segment_kit_settle(kit);
        assert_mapped(kit, number, (number - 1) / 8 + 1); /* also in a file that still grows */
    }
    segment_kit_reopen(kit);
    for (uint64_t number = 1; number <= 20; number++) {
        assert_mapped(kit, number, (number - 1) / 8 + 1);
    }
}

TEST_IN(segment_kit, kit, a_mapped_frame_outlives_its_segment_and_the_log)
{
    segment_kit_write(kit, 20);
    aq_lease *first = map(kit, 1, 1);
    aq_lease *second = map(kit, 9, 2);
    kit->log->class->drop(kit->log, 1);
    segment_kit_append(kit, 10);
    segment_kit_close(kit);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 1)), -1);
    assert_is(first, kit, 1);
    assert_is(second, kit, 9);
}

TEST_IN(segment_kit, kit, what_is_not_there_is_not_mapped)
{
    aq_lease *frame = NULL;
    segment_kit_write(kit, 3);
    assert_int_equal(kit->log->class->map(kit->log, 4, 1, &frame), AQ_E_NOT_FOUND);
    assert_int_equal(kit->log->class->map(kit->log, 1, 2, &frame), AQ_E_NOT_FOUND);
}

TEST_IN(segment_kit, kit, a_frame_that_has_changed_on_the_disk_is_not_mapped)
{
    aq_lease *frame = NULL;
    segment_kit_write(kit, 3);
    const char *path = segment_kit_segment(kit, 1);
    file_flip(path, segment_kit_file_size(path) - 1);
    assert_int_equal(kit->log->class->map(kit->log, 3, 1, &frame), AQ_E_CORRUPT);
    assert_mapped(kit, 2, 1);
}

/* ---- compression ---------------------------------------------------------------------------- */

TEST_IN(segment_kit, kit, compressed_records_are_smaller_and_the_same)
{
    aq_lease *frame = NULL;
    kit->config.compressed = true;
    kit->config.segment_bytes = 1 << 20;
    kit->frame_bytes = 50000;
    segment_kit_write(kit, 30);
    assert_int_equal(kit->log->class->map(kit->log, 1, 1, &frame), AQ_E_UNSUPPORTED);
    aq_log_progress progress = segment_kit_progress(kit);
    assert_true(progress.disk_bytes < 30 * 50000 * 9 / 10);
    kit->config.compressed = false; /* what is there is read whatever is wanted now */
    segment_kit_assert_recovers(kit, 30);
}

TEST_IN(segment_kit, kit, a_frame_that_compression_makes_no_smaller_is_written_as_it_is)
{
    kit->config.compressed = true;
    kit->frame_bytes = 20;
    segment_kit_write(kit, 5);
    assert_mapped(kit, 5, 1);
    segment_kit_assert_recovers(kit, 5);
}
