/*
 * Frames: what one is, and that nothing else passes for one.
 */
#include "common/base/crc32c.h"
#include "common/net/rpc/frame.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/rpc_kit.h"

static const char payload[] = "the payload of a frame";

/* A frame with the payload above. */
static aq_buffer *frame_of(enum aq_frame_kind kind)
{
    size_t start = 0;
    aq_buffer *out = buffer_up_to(4096);
    assert_int_equal(aq_frame_begin(out, &start), 0);
    assert_int_equal(aq_buffer_append(out, payload, sizeof(payload)), 0);
    aq_frame_end(out, start, kind);
    return out;
}

static int check(const void *bytes, size_t size, aq_error *error)
{
    const uint8_t *found = NULL;
    size_t found_size = 0;
    return aq_frame_check(bytes, size, 0, &found, &found_size, error);
}

TEST(a_frame_gives_its_payload_back)
{
    const uint8_t *found = NULL;
    size_t size = 0;
    aq_buffer *buffer = frame_of(AQ_FRAME_POLICY);
    assert_int_equal(
        aq_frame_check(buffer->data, buffer->size, AQ_FRAME_POLICY, &found, &size, NULL), 0);
    assert_int_equal(aq_frame_kind(buffer->data), AQ_FRAME_POLICY);
    assert_int_equal(size, sizeof(payload));
    assert_memory_equal(found, payload, sizeof(payload));
}

TEST(the_layout_is_as_documented)
{
    aq_buffer *buffer = frame_of(AQ_FRAME_EXPERIENCE);
    assert_memory_equal(buffer->data, "AQF1\x03\x00\x01\x00", 8);
    assert_int_equal(buffer->data[8], sizeof(payload));
    assert_int_equal(buffer->data[9] | buffer->data[10] | buffer->data[11], 0);
    uint32_t crc = aq_crc32c(0, buffer->data + 4, 8);
    crc = aq_crc32c(crc, payload, sizeof(payload));
    assert_int_equal(aq_frame_crc(buffer->data), crc);
}

/* One that a seal proves. */
TEST(a_frame_without_a_crc_is_only_for_those_that_have_another_sum)
{
    const uint8_t *found;
    size_t start, size;
    aq_buffer *buffer = buffer_up_to(4096);
    assert_int_equal(aq_frame_begin(buffer, &start), 0);
    assert_int_equal(aq_buffer_append(buffer, payload, sizeof(payload)), 0);
    assert_int_equal(aq_frame_finish(buffer, start, AQ_FRAME_EXPERIENCE, true, 0), 0);
    assert_int_equal(aq_frame_crc(buffer->data), 0);
    assert_refused(check(buffer->data, buffer->size, &refusal), AQ_E_CORRUPT, "checksum");
    assert_int_equal(
        aq_frame_check_proved(buffer->data, buffer->size, AQ_FRAME_EXPERIENCE, &found, &size, NULL),
        0);
    assert_memory_equal(found, payload, sizeof(payload));
}

TEST(a_frame_may_stand_behind_other_bytes)
{
    size_t start = 0;
    aq_buffer *buffer = buffer_up_to(4096);
    assert_int_equal(aq_buffer_append(buffer, "before", 6), 0);
    assert_int_equal(aq_frame_begin(buffer, &start), 0);
    assert_int_equal(start, 6);
    aq_frame_end(buffer, start, AQ_FRAME_POLICY);
    assert_int_equal(check(buffer->data + 6, buffer->size - 6, NULL), 0);
}

TEST(an_empty_payload_is_a_frame)
{
    size_t start = 0;
    aq_buffer *buffer = buffer_up_to(AQ_FRAME_HEADER_BYTES);
    assert_int_equal(aq_frame_begin(buffer, &start), 0);
    aq_frame_end(buffer, start, AQ_FRAME_POLICY);
    assert_int_equal(check(buffer->data, buffer->size, NULL), 0);
}

TEST(a_header_that_does_not_fit_is_refused)
{
    size_t start = 77;
    aq_buffer *buffer = buffer_up_to(AQ_FRAME_HEADER_BYTES - 1);
    assert_int_equal(aq_frame_begin(buffer, &start), AQ_E_TOO_BIG);
    assert_int_equal(start, 77);
    assert_int_equal(buffer->size, 0);
}

TEST(every_truncation_is_refused)
{
    aq_buffer *buffer = frame_of(AQ_FRAME_POLICY);
    for (size_t size = 0; size < buffer->size; size++) {
        assert_refused(check(buffer->data, size, &refusal), AQ_E_CORRUPT, "");
    }
}

TEST(bytes_after_the_frame_are_refused)
{
    aq_buffer *buffer = frame_of(AQ_FRAME_POLICY);
    assert_int_equal(aq_buffer_append(buffer, "x", 1), 0);
    assert_int_equal(check(buffer->data, buffer->size, NULL), AQ_E_CORRUPT);
}

TEST(every_single_flipped_bit_is_refused)
{
    aq_buffer *buffer = frame_of(AQ_FRAME_POLICY);
    for (size_t bit = 0; bit < buffer->size * 8; bit++) {
        buffer->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_true(check(buffer->data, buffer->size, NULL) < 0);
        buffer->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(check(buffer->data, buffer->size, NULL), 0);
}

TEST(foreign_bytes_are_told_by_what_they_look_like)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *word;
    } rows[] = {
        {"{\"method\": 1}", 13, "JSON"},
        {"PK\x03\x04............", 16, "zip"},
        {"AQF2............", 16, "another format"},
        {"G", 1, "1 bytes"},
        {"\xff\xff\xff\xff\xff", 5, "5 bytes"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_refused(check(rows[i].bytes, rows[i].size, &refusal), AQ_E_FOREIGN, rows[i].word);
    }
}

/* Puts another version into the frame, with the crc that goes with it. */
static void set_version(aq_buffer *buffer, uint16_t version)
{
    buffer->data[6] = (uint8_t)version;
    buffer->data[7] = (uint8_t)(version >> 8);
    uint32_t crc = aq_crc32c(0, buffer->data + 4, 8);
    crc = aq_crc32c(crc, buffer->data + 16, buffer->size - 16);
    for (int i = 0; i < 4; i++) {
        buffer->data[12 + i] = (uint8_t)(crc >> 8 * i);
    }
}

TEST(another_protocol_version_names_both_and_who_is_behind)
{
    aq_buffer *buffer = frame_of(AQ_FRAME_POLICY);
    set_version(buffer, 513);
    assert_refused(check(buffer->data, buffer->size, &refusal), AQ_E_VERSION, "version 513");
    assert_says(refusal.text, "version 1");
    assert_says(refusal.text, "a newer ActorQ");
    set_version(buffer, 0);
    assert_refused(check(buffer->data, buffer->size, &refusal), AQ_E_VERSION, "an older");
}

TEST(another_kind_than_expected_names_both)
{
    const uint8_t *found = NULL;
    size_t size = 0;
    aq_buffer *buffer = frame_of(AQ_FRAME_RPC_REPLY);
    assert_refused(
        aq_frame_check(buffer->data, buffer->size, AQ_FRAME_EXPERIENCE, &found, &size, &refusal),
        AQ_E_INVALID, "RPC reply");
    assert_says(refusal.text, "experience");
    assert_null(found);
}

TEST(kinds_have_names)
{
    assert_string_equal(aq_frame_kind_name(AQ_FRAME_CHECKPOINT), "checkpoint");
    assert_string_equal(aq_frame_kind_name(0), "unknown");
    assert_string_equal(aq_frame_kind_name(AQ_FRAME_POLICY_DELTA), "policy delta");
    assert_string_equal(aq_frame_kind_name(8), "unknown");
    assert_string_equal(aq_frame_kind_name(UINT32_MAX), "unknown");
}
