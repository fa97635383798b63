/*
 * The log over its lives: what was handed over is there again, byte by byte, in order, with the
 * newest head and snapshot, whatever was dropped, rolled or compressed meanwhile.
 */
#include <sys/stat.h>

#include "common/base/crc32c.h"
#include "replay/disk/segment_folder.h"
#include "tests/support/test.h"
#include "tests/unit/replay/segment_kit.h"

static void assert_snapshot(segment_kit *kit, size_t size, uint8_t filling)
{
    uint8_t *bytes = aq_alloc(1, size);
    memset(bytes, filling, size);
    assert_true(kit->harvest.has_snapshot);
    assert_int_equal(kit->harvest.snapshot_size, size);
    assert_int_equal(kit->harvest.snapshot_crc, aq_crc32c(0, bytes, size));
    aq_free(bytes);
}

/* ---- lives ---------------------------------------------------------------------------------- */

TEST_IN(segment_kit, kit, a_new_folder_is_a_new_store_of_the_name_it_is_given)
{
    aq_store_identity identity;
    assert_int_equal(aq_segment_folder_identify(kit->folder, &identity, NULL), AQ_E_NOT_FOUND);
    segment_kit_open(kit, &kit->harvest);
    assert_int_equal(kit->found.store, SEGMENT_KIT_STORE);
    assert_int_equal(kit->found.last_number, 0);
    assert_int_equal(kit->harvest.count + kit->harvest.heads + kit->harvest.damages, 0);
    assert_true(kit->harvest.has_snapshot);
    assert_int_equal(kit->harvest.snapshot_size, 0);
    assert_int_equal(aq_segment_folder_identify(kit->folder, &identity, NULL), 0);
    assert_int_equal(identity.store, SEGMENT_KIT_STORE);
}

TEST_IN(segment_kit, kit, records_are_there_in_the_next_life)
{
    segment_kit_append(kit, 40);
    kit->config.store = 99; /* an existing store keeps its name */
    segment_kit_reopen(kit);
    assert_int_equal(kit->found.store, SEGMENT_KIT_STORE);
    assert_int_equal(kit->found.last_number, 40);
    segment_harvest_assert_range(&kit->harvest, 1, 40);
    assert_int_equal(kit->harvest.damages, 0);
}

TEST_IN(segment_kit, kit, numbers_go_on_over_many_lives)
{
    segment_kit_open(kit, NULL);
    for (uint64_t life = 1; life <= 5; life++) {
        segment_kit_append(kit, 7);
        segment_kit_reopen(kit);
        segment_harvest_assert_range(&kit->harvest, 1, 7 * life);
        assert_int_equal(kit->found.last_number, 7 * life);
    }
}

TEST_IN(segment_kit, kit, lives_without_a_record_leave_one_segment_at_most)
{
    segment_kit_open(kit, NULL);
    for (int life = 0; life < 6; life++) {
        segment_kit_begin(kit);
        segment_kit_reopen(kit);
    }
    segment_kit_begin(kit);
    segment_kit_close(kit);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 5)), -1);
    assert_true(segment_kit_file_size(segment_kit_segment(kit, 7)) > 0);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.damages, 0);
}

TEST_IN(segment_kit, kit, a_record_may_be_empty_or_larger_than_a_segment)
{
    segment_kit_open(kit, NULL);
    kit->frame_bytes = 0;
    segment_kit_append(kit, 1);
    kit->frame_bytes = 300000;
    segment_kit_append(kit, 3);
    kit->frame_bytes = 1;
    segment_kit_append(kit, 1);
    segment_kit_assert_recovers(kit, 5);
    assert_int_equal(kit->harvest.frames[0]->size, 0);
    assert_int_equal(kit->harvest.frames[2]->size, 300000);
}

/* ---- heads ---------------------------------------------------------------------------------- */

TEST_IN(segment_kit, kit, a_new_segment_is_wanted_after_so_many_bytes)
{
    segment_kit_open(kit, NULL);
    assert_true(kit->log->class->wants_head(kit->log));
    segment_kit_append(kit, 7); /* of 132 bytes: 924 */
    assert_false(kit->log->class->wants_head(kit->log));
    segment_kit_append(kit, 1);
    assert_true(kit->log->class->wants_head(kit->log));
    segment_kit_append(kit, 1);
    aq_log_progress progress = segment_kit_progress(kit);
    assert_int_equal(progress.segment, 2);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.segments[7], 1);
    assert_int_equal(kit->harvest.segments[8], 2);
}

TEST_IN(segment_kit, kit, marks_of_each_head_are_there_again)
{
    const aq_log_mark marks[2] = {
        {.actor = 1, .incarnation = UINT64_MAX, .acknowledged = 3, .transitions = 4},
        {.actor = 5, .incarnation = 6, .acknowledged = 7, .transitions = UINT64_C(1) << 40},
    };
    segment_kit_append(kit, 8);
    kit->head = (aq_log_head){.inserted = 1234, .mark_count = 2, .marks = marks};
    segment_kit_append(kit, 1);
    segment_kit_reopen(kit);
    assert_int_equal(kit->harvest.heads, 2);
    assert_int_equal(kit->harvest.head_segment, 2);
    assert_int_equal(kit->harvest.head.inserted, 1234);
    assert_int_equal(kit->harvest.head.mark_count, 2);
    assert_memory_equal(kit->harvest.marks, marks, sizeof(marks));
}

/* ---- limits --------------------------------------------------------------------------------- */

TEST_IN(segment_kit, kit, a_backlog_that_is_full_refuses_and_takes_again)
{
    kit->config.backlog_bytes = 250;
    segment_kit_open(kit, NULL);
    uint64_t refused = 0;
    while (kit->last_number < 500) {
        const int rc = segment_kit_try_append(kit);
        if (rc != 0) {
            assert_int_equal(rc, AQ_E_FULL);
            segment_kit_settle(kit);
            refused++;
        }
    }
    segment_kit_assert_recovers(kit, 500);
    assert_true(refused > 0);
}

TEST_IN(segment_kit, kit, a_frame_larger_than_the_backlog_is_taken_when_nothing_waits)
{
    kit->config.backlog_bytes = 50;
    segment_kit_write(kit, 1);
    segment_kit_write(kit, 1);
}

/* ---- dropping ------------------------------------------------------------------------------- */

TEST_IN(segment_kit, kit, dropped_segments_are_deleted_and_not_missed)
{
    segment_kit_write(kit, 40); /* 5 segments of 8 */
    aq_log_progress progress = segment_kit_progress(kit);
    assert_int_equal(progress.segment, 5);
    kit->log->class->drop(kit->log, 1);
    kit->log->class->drop(kit->log, 3);
    segment_kit_write(kit, 8);          /* one more, whose head tells that they are gone */
    kit->log->class->drop(kit->log, 4); /* and this is told by a record of its own */
    segment_kit_append(kit, 1);
    segment_kit_reopen(kit);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 1)), -1);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 3)), -1);
    assert_int_equal(segment_kit_file_size(segment_kit_segment(kit, 4)), -1);
    assert_int_equal(kit->harvest.damages, 0);
    assert_int_equal(kit->harvest.count, 49 - 24);
    assert_int_equal(kit->harvest.numbers[0], 9);
    assert_int_equal(kit->harvest.numbers[8], 33);
    assert_int_equal(kit->found.last_number, 49);
}

TEST_IN(segment_kit, kit, numbers_go_on_when_every_record_was_dropped)
{
    segment_kit_append(kit, 8);
    segment_kit_begin(kit);
    kit->log->class->drop(kit->log, 1);
    segment_kit_reopen(kit);
    assert_int_equal(kit->found.last_number, 8);
    segment_kit_append(kit, 8);
    segment_kit_reopen(kit);
    assert_int_equal(kit->found.last_number, 16);
    assert_true(segment_harvest_has(&kit->harvest, 16));
}

TEST_IN(segment_kit, kit, the_disk_says_how_much_is_on_it)
{
    segment_kit_write(kit, 40);
    aq_log_progress progress = segment_kit_progress(kit);
    uint64_t bytes = 0;
    for (uint64_t segment = 1; segment <= 5; segment++) {
        bytes += (uint64_t)segment_kit_file_size(segment_kit_segment(kit, segment));
    }
    assert_int_equal(progress.disk_bytes, bytes);
    segment_kit_reopen(kit);
    progress = segment_kit_progress(kit);
    assert_int_equal(progress.disk_bytes, bytes);
    assert_int_equal(progress.kept_bytes, bytes);
    segment_kit_write(kit, 1);
    progress = segment_kit_progress(kit);
    const uint64_t dropped = (uint64_t)segment_kit_file_size(segment_kit_segment(kit, 1)) +
                             (uint64_t)segment_kit_file_size(segment_kit_segment(kit, 2));
    kit->log->class->drop(kit->log, 1);
    kit->log->class->drop(kit->log, 2);
    /* At once, whenever they are deleted; their two notes come. */
    const uint64_t kept = progress.kept_bytes - dropped;
    assert_in_range(segment_kit_progress(kit).kept_bytes, kept, kept + 64);
    segment_kit_append(kit, 1);
    segment_kit_wait(kit, segment_kit_is_small, bytes - 1000);
}

/* ---- snapshots ------------------------------------------------------------------------------ */

TEST_IN(segment_kit, kit, the_newest_snapshot_is_there_again)
{
    segment_kit_append(kit, 3);
    assert_int_equal(segment_kit_snapshot(kit, 3 << 20, 0xa5), 0);
    segment_kit_wait(kit, segment_kit_has_snapshots, 1);
    assert_int_equal(segment_kit_snapshot(kit, 100000, 0x5a), 0);
    segment_kit_reopen(kit); /* close finishes it */
    assert_snapshot(kit, 100000, 0x5a);
}

/* Incarnations are in them. */
TEST_IN(segment_kit, kit, nobody_but_its_owner_reads_a_store)
{
    struct stat info;
    segment_kit_append(kit, 2);
    assert_int_equal(segment_kit_snapshot(kit, 100, 1), 0);
    segment_kit_close(kit);
    assert_int_equal(stat(segment_kit_segment(kit, 1), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(stat(segment_kit_path(kit, "snapshot.aqrs"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

TEST_IN(segment_kit, kit, behind_a_snapshot_on_its_way_the_newest_is_written)
{
    segment_kit_open(kit, NULL);
    for (uint8_t filling = 1; filling <= 3; filling++) {
        assert_int_equal(segment_kit_snapshot(kit, filling == 1 ? 64 << 20 : 10, filling), 0);
    }
    segment_kit_write(kit, 200); /* and records go on meanwhile */
    segment_kit_wait(kit, segment_kit_has_snapshots, 3);
    segment_kit_reopen(kit);
    assert_snapshot(kit, 10, 3);
    segment_harvest_assert_range(&kit->harvest, 1, 200);
}

/* ---- recovery's callbacks -------------------------------------------------------------------- */

TEST_IN(segment_kit, kit, a_frame_that_the_caller_cannot_use_is_told_and_the_rest_is_kept)
{
    segment_kit_live(kit, 20);
    kit->harvest.refuse_number = 11;
    segment_kit_open(kit, &kit->harvest);
    assert_int_equal(kit->harvest.count, 19);
    assert_int_equal(kit->harvest.damages, 1);
    assert_true(segment_harvest_says(&kit->harvest, "segment-00000000000002.aqrs: offset "));
    assert_true(segment_harvest_says(&kit->harvest, "record 11 is left out: of no use to anybody"));
}

TEST_IN(segment_kit, kit, another_failure_of_the_caller_ends_it_with_its_words)
{
    segment_kit_live(kit, 20);
    kit->harvest.fail_number = 11;
    assert_int_equal(segment_kit_try_open(kit, &kit->harvest, &refusal), AQ_E_SCHEMA);
    assert_says(refusal.text, "segment-00000000000002.aqrs: record 11: this ends it");
    kit->harvest.fail_number = 0;
    segment_kit_assert_recovers(kit, 20);
}

TEST_IN(segment_kit, kit, records_of_any_size_are_compressed)
{
    kit->config.compressed = true;
    kit->config.segment_bytes = 64 << 20;
    kit->config.backlog_bytes = 16 << 20; /* both, before the first is written */
    kit->frame_bytes = 5 << 20;           /* more than one write usually takes */
    segment_kit_live(kit, 2);
    const long size = segment_kit_file_size(segment_kit_segment(kit, 1));
    assert_in_range(size, 1, 9 << 20);
    segment_kit_reopen(kit);
    segment_harvest_assert_recovered(&kit->harvest, 2);
}

TEST_IN(segment_kit, kit, open_survives_every_allocation_that_fails)
{
    kit->config.compressed = true;
    kit->frame_bytes = 1000;
    segment_kit_live(kit, 10);
    int rc = AQ_E_NOMEM;
    for (uint64_t nth = 1; rc != 0; nth++) {
        segment_harvest nothing = {.fail_number = UINT64_MAX};
        const aq_replay_log_recovery into = segment_harvest_into(&nothing);
        /* The harvest's own first allocations fail, too: it asserts, so give it room before. */
        nothing.capacity = 64;
        nothing.numbers = aq_alloc(64, sizeof(uint64_t));
        nothing.segments = aq_alloc(64, sizeof(uint64_t));
        nothing.frames = aq_alloc(64, sizeof(aq_lease *));
        aq_memory_fail_at(nth, 0);
        rc = aq_segment_log_open(&kit->config, &into, &kit->found, &kit->log, &refusal);
        aq_memory_fail_at(0, 0);
        if (rc != 0) {
            assert_refused(rc, AQ_E_NOMEM, "");
        }
        segment_harvest_fini(&nothing);
        assert_true(nth < 1000);
    }
    segment_kit_close(kit);
    segment_kit_open(kit, &kit->harvest);
    segment_harvest_assert_range(&kit->harvest, 1, 10);
}
