/*
 * A buffer grows up to its maximum and not a byte further, and a failure leaves it as it was.
 */
#include "tests/support/test.h"

TEST(an_empty_buffer_has_allocated_nothing)
{
    uint64_t before = aq_memory_allocation_count();
    aq_buffer *buffer = buffer_up_to(100);
    assert_int_equal(aq_memory_allocation_count(), before);
    assert_null(buffer->data);
    assert_int_equal(buffer->size, 0);
}

TEST(appended_bytes_follow_each_other)
{
    aq_buffer *buffer = buffer_up_to(1 << 20);
    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(aq_buffer_append(buffer, &i, sizeof(i)), 0);
    }
    assert_int_equal(buffer->size, 40000);
    for (uint32_t i = 0; i < 10000; i++) {
        assert_memory_equal(buffer->data + 4 * i, &i, sizeof(i));
    }
}

TEST(the_maximum_can_be_filled_exactly)
{
    uint8_t bytes[1000];
    memset(bytes, 7, sizeof(bytes));
    aq_buffer *buffer = buffer_up_to(sizeof(bytes));
    assert_int_equal(aq_buffer_append(buffer, bytes, sizeof(bytes)), 0);
    assert_int_equal(buffer->size, 1000);
    assert_int_equal(buffer->capacity, 1000);
}

/* A file is read into as much as it takes. */
TEST(who_begins_with_much_gets_no_more)
{
    uint8_t *room;
    aq_buffer *buffer = buffer_up_to(10000);
    assert_int_equal(aq_buffer_extend(buffer, 5000, &room), 0);
    assert_int_equal(buffer->capacity, 5000);
}

TEST(a_byte_past_the_maximum_is_refused)
{
    uint8_t *room = NULL;
    aq_buffer *buffer = buffer_up_to(4);
    assert_int_equal(aq_buffer_append(buffer, "abc", 3), 0);
    assert_int_equal(aq_buffer_append(buffer, "de", 2), AQ_E_TOO_BIG);
    assert_int_equal(aq_buffer_extend(buffer, SIZE_MAX, &room), AQ_E_TOO_BIG);
    assert_null(room);
    assert_int_equal(buffer->size, 3);
    assert_memory_equal(buffer->data, "abc", 3);
    assert_int_equal(aq_buffer_append(buffer, "d", 1), 0);
}

TEST(a_failed_growth_changes_nothing)
{
    uint8_t bytes[300] = {0};
    aq_buffer *buffer = buffer_up_to(1000);
    assert_int_equal(aq_buffer_append(buffer, "abc", 3), 0);
    aq_buffer before = *buffer;
    assert_fails_without_memory(aq_buffer_append(buffer, bytes, sizeof(bytes)));
    assert_memory_equal(buffer, &before, sizeof(before));
    assert_memory_equal(buffer->data, "abc", 3);
}

TEST(extended_bytes_are_zero_even_in_used_memory)
{
    const uint8_t zeros[3] = {0};
    uint8_t *room = NULL;
    aq_buffer *buffer = buffer_up_to(100);
    assert_int_equal(aq_buffer_append(buffer, "abcdef", 6), 0);
    aq_buffer_clear(buffer);
    assert_int_equal(aq_buffer_append(buffer, "x", 1), 0);
    assert_int_equal(aq_buffer_extend(buffer, 3, &room), 0);
    assert_ptr_equal(room, buffer->data + 1);
    assert_memory_equal(room, zeros, 3);
    assert_int_equal(buffer->size, 4);
}

TEST(nothing_can_be_appended)
{
    aq_buffer *buffer = buffer_up_to(1);
    assert_int_equal(aq_buffer_append(buffer, NULL, 0), 0);
    assert_int_equal(buffer->size, 0);
}

TEST(a_cleared_buffer_keeps_its_memory)
{
    aq_buffer *buffer = buffer_up_to(100);
    assert_int_equal(aq_buffer_append(buffer, "abc", 3), 0);
    const uint8_t *data = buffer->data;
    aq_buffer_clear(buffer);
    assert_int_equal(buffer->size, 0);
    assert_ptr_equal(buffer->data, data);
}

TEST(a_finished_buffer_can_be_used_again)
{
    aq_buffer buffer;
    aq_buffer_init(&buffer, 10);
    assert_int_equal(aq_buffer_append(&buffer, "abc", 3), 0);
    aq_buffer_fini(&buffer);
    assert_null(buffer.data);
    assert_int_equal(aq_buffer_append(&buffer, "0123456789", 10), 0);
    assert_int_equal(aq_buffer_append(&buffer, "x", 1), AQ_E_TOO_BIG);
    aq_buffer_fini(&buffer);
}
