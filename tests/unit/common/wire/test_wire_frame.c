/*
 * What every codec relies on: a buffer is unchanged by a failure, and a message that is parsed
 * takes no more memory than its budget, whatever it claims.
 */
#include "common/wire/wire_frame.h"
#include "proto/experience.pb-c.h"
#include "proto/policy.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"

static void request_of_five(Actorq__V1__FetchPolicyRequest *message)
{
    actorq__v1__fetch_policy_request__init(message);
    message->run_id = FIXTURE_RUN;
    message->version = 5;
}

TEST(a_frame_holds_the_packed_message)
{
    Actorq__V1__FetchPolicyRequest message;
    uint8_t packed[64];
    size_t size;
    request_of_five(&message);
    aq_buffer *out = buffer_up_to(100);
    assert_int_equal(aq_wire_frame_pack(&message.base, AQ_FRAME_POLICY, out), 0);
    assert_int_equal(protobuf_c_message_pack(&message.base, packed), out->size - 16);
    assert_memory_equal(fixture_payload(out, &size), packed, out->size - 16);
}

TEST(a_frame_past_the_limit_leaves_the_buffer_as_it_was)
{
    Actorq__V1__FetchPolicyRequest message;
    request_of_five(&message);
    aq_buffer *out = buffer_up_to(3 + 16 + 10); /* one byte short */
    assert_int_equal(aq_buffer_append(out, "abc", 3), 0);
    assert_int_equal(aq_wire_frame_pack(&message.base, AQ_FRAME_POLICY, out), AQ_E_TOO_BIG);
    assert_int_equal(out->size, 3);
    assert_memory_equal(out->data, "abc", 3);
}

TEST(a_message_past_two_gibibytes_is_refused)
{
    static uint8_t byte;
    Actorq__V1__FetchPolicyReply message;
    actorq__v1__fetch_policy_reply__init(&message);
    message.frame = (ProtobufCBinaryData){.len = (size_t)1 << 31, .data = &byte};
    aq_buffer *out = buffer_up_to(SIZE_MAX);
    assert_int_equal(aq_message_append(&message.base, out), AQ_E_TOO_BIG);
    assert_int_equal(out->size, 0);
}

static int open_experience(const aq_buffer *frame, aq_error *error)
{
    ProtobufCMessage *message;
    int rc = aq_wire_frame_unpack(frame->data, frame->size, AQ_FRAME_EXPERIENCE,
                                  &actorq__v1__experience__descriptor, &message, error);
    if (rc == 0) {
        aq_message_free(message);
    }
    return rc;
}

/* A million empty chunks: two bytes each on the wire, more than a hundred in memory. */
TEST(a_message_that_would_blow_up_in_memory_is_refused)
{
    enum { CHUNKS = 1000000 };
    uint8_t *payload = aq_alloc(CHUNKS, 2);
    assert_non_null(payload);
    for (size_t i = 0; i < CHUNKS; i++) {
        payload[2 * i] = 7 << 3 | 2;
    }
    aq_buffer *frame = buffer_up_to(FIXTURE_FRAME_MAX);
    fixture_frame(payload, (size_t)CHUNKS * 2, AQ_FRAME_EXPERIENCE, frame);
    uint64_t before = aq_memory_allocation_count();
    assert_refused(open_experience(frame, &refusal), AQ_E_CORRUPT, "Experience");
    assert_true(aq_memory_allocation_count() - before < 100000);
    aq_free(payload);
}

TEST(want_of_memory_is_told_from_corruption)
{
    const uint8_t garbage[] = {0xff, 0xff, 0xff};
    const uint8_t chunk[] = {7 << 3 | 2, 0};
    aq_buffer *frame = buffer_up_to(100);
    fixture_frame(garbage, sizeof(garbage), AQ_FRAME_EXPERIENCE, frame);
    assert_int_equal(open_experience(frame, NULL), AQ_E_CORRUPT);
    fixture_frame(chunk, sizeof(chunk), AQ_FRAME_EXPERIENCE, frame);
    assert_int_equal(open_experience(frame, NULL), 0);
    aq_memory_fail_at(1, 1);
    int rc = open_experience(frame, NULL);
    aq_memory_fail_at(0, 0);
    assert_int_equal(rc, AQ_E_NOMEM);
}

TEST(a_frame_of_another_kind_is_refused)
{
    aq_buffer *frame = buffer_up_to(100);
    fixture_frame(NULL, 0, AQ_FRAME_POLICY, frame);
    assert_int_equal(open_experience(frame, &refusal), AQ_E_INVALID);
}

/* A later version of the protocol may add fields. */
TEST(a_field_that_is_not_known_is_passed_over)
{
    const uint8_t newer[] = {0xfa, 0x01, 3, 'n', 'e', 'w'};
    aq_buffer *frame = buffer_up_to(100);
    fixture_frame(newer, sizeof(newer), AQ_FRAME_EXPERIENCE, frame);
    assert_int_equal(open_experience(frame, NULL), 0);
}

TEST(a_column_of_another_size_is_named)
{
    uint8_t bytes[12] = {0};
    const ProtobufCBinaryData column = {.len = 12, .data = bytes};
    assert_int_equal(aq_wire_column_check(&column, "reward", 3, 4, NULL), 0);
    assert_int_equal(aq_wire_column_check(&column, "reward", 4, 4, &refusal), AQ_E_CORRUPT);
    assert_string_equal(refusal.text, "reward is 12 bytes long, not 4 times 4");
}
