/*
 * Files that are not as they were written: whatever byte is flipped, wherever a file ends,
 * whichever file is missing, the store opens, says what it left out by file and offset, and keeps
 * the rest.
 */
#include "replay/disk/segment_format.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/replay/segment_kit.h"

/* ---- every byte ------------------------------------------------------------------------------ */

TEST_IN(small_store, kit, any_flipped_byte_costs_one_record_at_most)
{
    segment_kit_live(kit, PER_SEGMENT + 2);
    const char *path = segment_kit_segment(kit, 1);
    aq_buffer *bytes = file_bytes(path);
    const size_t first = bytes->size - PER_SEGMENT * RECORD_BYTES;
    for (size_t i = 0; i < bytes->size; i++) {
        bytes->data[i] ^= 0x01;
        file_put(segment_kit_segment(kit, 1), bytes->data, bytes->size);
        bytes->data[i] ^= 0x01;
        segment_kit_reopen(kit);
        assert_int_equal(kit->harvest.damages, 1);
        assert_true(segment_harvest_says(&kit->harvest, "segment-00000000000001.aqrs: offset "));
        const uint64_t lost = i < first ? 0 : 1 + (i - first) / RECORD_BYTES;
        for (uint64_t number = 1; number <= PER_SEGMENT + 2; number++) {
            assert_int_equal(segment_harvest_has(&kit->harvest, number), number != lost);
        }
        assert_int_equal(kit->harvest.heads, i >= AQ_FILE_HEADER_BYTES && i < first ? 1 : 2);
        assert_int_equal(kit->found.last_number, PER_SEGMENT + 2);
    }
}

TEST_IN(small_store, kit, a_newest_segment_cut_anywhere_keeps_its_whole_records)
{
    segment_kit_live(kit, PER_SEGMENT + 3);
    aq_buffer *bytes = file_bytes(segment_kit_segment(kit, 2));
    const size_t first = bytes->size - 3 * RECORD_BYTES;
    for (size_t cut = 0; cut < bytes->size; cut++) {
        file_put(segment_kit_segment(kit, 2), bytes->data, cut);
        unlink(segment_kit_segment(kit, 3)); /* of the life before */
        segment_kit_reopen(kit);
        const uint64_t whole = cut < first ? 0 : (cut - first) / RECORD_BYTES;
        segment_harvest_assert_range(&kit->harvest, 1, PER_SEGMENT + whole);
        assert_int_equal(kit->found.last_number, PER_SEGMENT + whole);
        const bool torn = cut > 0 && cut != AQ_FILE_HEADER_BYTES &&
                          (cut < first || (cut - first) % RECORD_BYTES != 0);
        assert_int_equal(kit->harvest.damages, torn);
        segment_kit_reopen(kit); /* it has been cut off, or deleted */
        segment_harvest_assert_range(&kit->harvest, 1, PER_SEGMENT + whole);
        assert_int_equal(kit->harvest.damages, 0);
    }
}

/* ---- tails ----------------------------------------------------------------------------------- */

TEST_IN(small_store, kit, a_torn_tail_is_cut_off_and_new_records_follow)
{
    segment_kit_live(kit, 4);
    const long size = segment_kit_file_size(segment_kit_segment(kit, 1));
    assert_int_equal(truncate(segment_kit_segment(kit, 1), size - 1), 0);
    segment_kit_reopen(kit);
    assert_true(
        segment_harvest_says(&kit->harvest, "71 bytes at the end of the file are no whole"));
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 1)), size - RECORD_BYTES);
    segment_kit_append(kit, 3);
    segment_kit_assert_recovers(kit, 6);
}

TEST_IN(small_store, kit, zeros_that_the_end_of_a_machine_left_are_a_torn_tail)
{
    static const uint8_t zeros[5000];
    segment_kit_live(kit, PER_SEGMENT + 1);
    const long size = segment_kit_file_size(segment_kit_segment(kit, 1));
    assert_int_equal(truncate(segment_kit_segment(kit, 2), size + 10000), 0);
    file_put(segment_kit_segment(kit, 3), zeros, sizeof(zeros));
    segment_kit_reopen(kit);
    segment_harvest_assert_range(&kit->harvest, 1, PER_SEGMENT + 1);
    assert_int_equal(kit->harvest.damages, 2);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 3)), -1);
}

TEST_IN(small_store, kit, an_older_segment_is_left_as_it_is_found)
{
    segment_kit_live(kit, PER_SEGMENT + 1);
    const long size = segment_kit_file_size(segment_kit_segment(kit, 1));
    assert_int_equal(truncate(segment_kit_segment(kit, 1), size - 1), 0);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.damages, 1);
    assert_int_equal(kit->harvest.count, PER_SEGMENT);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 1)), size - 1);
}

/* ---- files ----------------------------------------------------------------------------------- */

TEST_IN(small_store, kit, a_missing_segment_is_told_and_the_rest_is_kept)
{
    segment_kit_live(kit, 4 * PER_SEGMENT);
    assert_int_equal(unlink(segment_kit_segment(kit, 2)), 0);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.damages, 1);
    assert_true(segment_harvest_says(&kit->harvest, "segment-00000000000002.aqrs"));
    assert_true(segment_harvest_says(&kit->harvest, "missing"));
    assert_int_equal(kit->harvest.count, 3 * PER_SEGMENT);
    segment_kit_append(kit, 1);
    segment_kit_reopen(kit); /* told once: the newest head doesn't know of it any more */
    assert_int_equal(kit->harvest.damages, 0);
}

TEST_IN(small_store, kit, a_damaged_head_is_told_and_its_records_are_kept)
{
    segment_kit_live(kit, 2 * PER_SEGMENT);
    file_flip(segment_kit_segment(kit, 2), AQ_FILE_HEADER_BYTES + AQ_RECORD_HEADER_BYTES);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.damages, 1);
    assert_true(segment_harvest_says(&kit->harvest, "segment-00000000000002.aqrs: offset 40: "));
    assert_int_equal(kit->harvest.heads, 1);
    segment_harvest_assert_range(&kit->harvest, 1, 2 * PER_SEGMENT);
}

TEST_IN(small_store, kit, a_damaged_snapshot_is_told_and_passed_over)
{
    segment_kit_append(kit, 2);
    assert_int_equal(segment_kit_snapshot(kit, 100, 1), 0);
    segment_kit_close(kit);
    const long size = segment_kit_file_size(segment_kit_path(kit, "snapshot.aqrs"));
    for (long i = 0; i < size; i++) {
        file_flip(segment_kit_path(kit, "snapshot.aqrs"), (long)i);
        segment_kit_reopen(kit);
        assert_int_equal(kit->harvest.damages, 1);
        assert_true(segment_harvest_says(&kit->harvest, "snapshot.aqrs: damaged"));
        assert_int_equal(kit->harvest.snapshot_size, 0);
        segment_harvest_assert_range(&kit->harvest, 1, 2);
        file_flip(segment_kit_path(kit, "snapshot.aqrs"), (long)i);
    }
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.snapshot_size, 100);
}

TEST_IN(small_store, kit, a_snapshot_that_cannot_be_read_is_told_and_passed_over)
{
    segment_kit_live(kit, 2);
    assert_int_equal(symlink("/proc/self/mem", segment_kit_path(kit, "snapshot.aqrs")), 0);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.damages, 1);
    assert_true(segment_harvest_says(&kit->harvest, "snapshot.aqrs: can't read: Input/output"));
    segment_harvest_assert_range(&kit->harvest, 1, 2);
}

TEST_IN(small_store, kit, what_a_crash_left_of_a_snapshot_is_removed)
{
    segment_kit_live(kit, 1);
    file_put(segment_kit_path(kit, "snapshot.aqrs.tmp"), "half", 4);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.damages, 0);
    assert_int_equal(segment_kit_file_size(segment_kit_path(kit, "snapshot.aqrs.tmp")), -1);
}

TEST_IN(small_store, kit, a_compressed_record_is_checked_like_any_other)
{
    kit->config.compressed = true;
    kit->config.segment_bytes = 1 << 20;
    kit->frame_bytes = 5000;
    segment_kit_live(kit, 3);
    const long size = segment_kit_file_size(segment_kit_segment(kit, 1));
    file_flip(segment_kit_segment(kit, 1), size / 2);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.damages, 1);
    assert_int_equal(kit->harvest.count, 2);
    assert_true(segment_harvest_has(&kit->harvest, 1));
    assert_true(segment_harvest_has(&kit->harvest, 3));
}

TEST_IN(small_store, kit, a_record_that_was_read_is_not_taken_again)
{
    segment_kit_live(kit, 3);
    aq_buffer *bytes = file_bytes(segment_kit_segment(kit, 1));
    uint8_t *twice = aq_alloc(1, bytes->size + RECORD_BYTES);
    memcpy(twice, bytes->data, bytes->size);
    memcpy(twice + bytes->size, bytes->data + bytes->size - RECORD_BYTES, RECORD_BYTES);
    file_put(segment_kit_segment(kit, 1), twice, bytes->size + RECORD_BYTES);
    segment_kit_reopen(kit);
    segment_harvest_assert_range(&kit->harvest, 1, 3);
    assert_true(segment_harvest_says(&kit->harvest, "record 3 after 3 is left out"));
    aq_free(twice);
}

TEST_IN(small_store, kit, a_record_with_flags_that_nobody_knows_is_left_out)
{
    aq_scan_step step = {.offset = AQ_FILE_HEADER_BYTES};
    const uint32_t salt = aq_record_salt(SEGMENT_KIT_STORE, 1);
    kit->config.compressed = true;
    kit->frame_bytes = 5000;
    segment_kit_live(kit, 1);
    aq_buffer *bytes = file_bytes(segment_kit_segment(kit, 1));
    do {
        step = aq_segment_scan(bytes->data, bytes->size, salt, step.offset + step.size);
        assert_int_equal(step.kind, AQ_SCAN_RECORD);
    } while (step.record.kind != AQ_RECORD_FRAME);
    assert_int_equal(step.record.flags, AQ_RECORD_ZSTD);
    step.record.flags |= 0x80; /* and it is good otherwise */
    aq_record_encode(&step.record, salt, bytes->data + step.offset);
    file_put(segment_kit_segment(kit, 1), bytes->data, bytes->size);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.count, 0);
    assert_true(segment_harvest_says(&kit->harvest, "record 1 can't be unpacked"));
}
