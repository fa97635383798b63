/*
 * An arrival owns its frame, gives it back with its last reference, and moves to another copy of
 * the same bytes without anybody noticing.
 */
#include "common/experience/arrival.h"
#include "tests/support/test.h"

enum { FRAME_BYTES = 100 };

typedef struct watched_frame {
    aq_lease lease;
    uint8_t bytes[FRAME_BYTES];
    bool is_free;
} watched_frame;

static void note_free(aq_lease *lease)
{
    ((watched_frame *)(void *)lease)->is_free = true;
}

static void open_frame(watched_frame *frame)
{
    for (int i = 0; i < FRAME_BYTES; i++) {
        frame->bytes[i] = (uint8_t)i;
    }
    frame->is_free = false;
    aq_lease_init(&frame->lease, frame->bytes, FRAME_BYTES, note_free);
}

/* Two chunks, the second of which begins at the last byte. */
static aq_arrival *arrival_of(watched_frame *frame)
{
    aq_arrival *arrival;
    open_frame(frame);
    assert_int_equal(aq_arrival_create(2, &frame->lease, &arrival), 0);
    arrival->chunks[0] = (aq_chunk_view){.base = frame->bytes + 1, .at = {2, 4, 6, 10}};
    arrival->chunks[1] = (aq_chunk_view){.base = frame->bytes, .at = {FRAME_BYTES - 1}};
    return arrival;
}

TEST(the_last_reference_drops_the_frame)
{
    watched_frame frame;
    aq_arrival *arrival = arrival_of(&frame);
    assert_int_equal(arrival->chunk_count, 2);
    assert_ptr_equal(aq_arrival_ref(arrival), arrival);
    aq_arrival_unref(arrival);
    assert_false(frame.is_free);
    aq_arrival_unref(arrival);
    assert_true(frame.is_free);
    aq_arrival_unref(NULL);
}

TEST(without_memory_the_frame_stays_the_callers)
{
    watched_frame frame;
    aq_arrival *arrival = NULL;
    open_frame(&frame);
    assert_fails_without_memory(aq_arrival_create(2, &frame.lease, &arrival));
    assert_null(arrival);
    assert_int_equal(frame.lease.references, 1);
    assert_false(frame.is_free);
}

TEST(a_rehoused_arrival_reads_the_same)
{
    watched_frame first, second;
    aq_arrival *arrival = arrival_of(&first);
    open_frame(&second);
    aq_arrival_rehouse(arrival, &second.lease);
    assert_true(first.is_free);
    assert_ptr_equal(arrival->frame, &second.lease);
    static const size_t at[] = {3, 5, 7, 11};
    for (uint32_t i = 0; i < AQ_COLUMNS_STANDARD; i++) {
        assert_ptr_equal(aq_chunk_view_column(&arrival->chunks[0], i), second.bytes + at[i]);
    }
    assert_ptr_equal(aq_chunk_view_column(&arrival->chunks[1], AQ_COLUMN_OBS),
                     second.bytes + FRAME_BYTES - 1);
    assert_false(second.is_free);
    aq_arrival_unref(arrival);
    assert_true(second.is_free);
}

TEST(the_bytes_of_frame_and_views_are_counted)
{
    watched_frame frame;
    aq_arrival *arrival = arrival_of(&frame);
    size_t bytes = aq_arrival_bytes(arrival);
    assert_true(bytes >= FRAME_BYTES + sizeof(aq_lease) + 2 * sizeof(aq_chunk_view));
    assert_true(bytes < FRAME_BYTES + sizeof(aq_lease) + 2 * sizeof(aq_chunk_view) + 200);
    aq_arrival_unref(arrival);
}
