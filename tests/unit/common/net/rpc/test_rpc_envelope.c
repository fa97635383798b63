/*
 * Envelopes: that packing a body in place gives the bytes any protobuf reader takes, and that
 * hostile ones neither pass nor cost much.
 */
#include "common/net/rpc/rpc_envelope.h"
#include "proto/experience.pb-c.h"
#include "proto/rpc.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/common/everything.pb-c.h"
#include "tests/unit/common/net/rpc_kit.h"

static uint8_t body_bytes[300000];

static const uint8_t *payload_of(const aq_buffer *frame, size_t *ret_size)
{
    const uint8_t *payload = NULL;
    assert_int_equal(aq_frame_check(frame->data, frame->size, 0, &payload, ret_size, NULL), 0);
    return payload;
}

TEST_ENDING(free_message, aq_message_free);

/* A frame with a request whose body is an Everything with `size` bytes of data. */
static aq_buffer *frame_of(size_t size)
{
    Actorq__V1__RpcRequest envelope = ACTORQ__V1__RPC_REQUEST__INIT;
    Actorq__Test__Everything body = ACTORQ__TEST__EVERYTHING__INIT;
    char method[] = "a.B/C";
    envelope.method = method;
    envelope.request_id = UINT64_MAX;
    envelope.timeout_ms = 5;
    body.data = (ProtobufCBinaryData){.len = size, .data = body_bytes};
    aq_buffer *frame = buffer_up_to(1 << 20);
    assert_int_equal(aq_envelope_pack(frame, AQ_FRAME_RPC_REQUEST, &envelope.base, &body.base), 0);
    return frame;
}

/* Its message is the test's. */
static aq_envelope unpacked(const ProtobufCMessageDescriptor *descriptor, const void *payload,
                            size_t size)
{
    aq_envelope envelope;
    assert_int_equal(aq_envelope_unpack(descriptor, payload, size, &envelope), 0);
    at_end(free_message, envelope.message);
    return envelope;
}

TEST(any_protobuf_reader_takes_what_is_packed)
{
    static const size_t sizes[] = {0, 1, 100, 127, 128, 16384, 300000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size = 0;
        aq_buffer *frame = frame_of(sizes[i]);
        const uint8_t *payload = payload_of(frame, &size);
        Actorq__V1__RpcRequest *request = actorq__v1__rpc_request__unpack(NULL, size, payload);
        assert_non_null(request);
        assert_string_equal(request->method, "a.B/C");
        assert_true(request->request_id == UINT64_MAX);
        Actorq__Test__Everything *body =
            actorq__test__everything__unpack(NULL, request->body.len, request->body.data);
        assert_non_null(body);
        assert_int_equal(body->data.len, sizes[i]);
        actorq__test__everything__free_unpacked(body, NULL);
        actorq__v1__rpc_request__free_unpacked(request, NULL);
    }
}

TEST(a_body_is_read_where_it_lies)
{
    size_t size = 0;
    aq_buffer *frame = frame_of(1000);
    const uint8_t *payload = payload_of(frame, &size);
    const aq_envelope envelope = unpacked(&actorq__v1__rpc_request__descriptor, payload, size);
    const Actorq__V1__RpcRequest *request = (const Actorq__V1__RpcRequest *)envelope.message;
    assert_string_equal(request->method, "a.B/C");
    assert_int_equal(request->timeout_ms, 5);
    assert_int_equal(request->body.len, 0);
    assert_true(envelope.body > payload);
    assert_ptr_equal(envelope.body + envelope.body_size, payload + size);
}

TEST(a_body_that_is_not_last_is_found_as_well)
{
    static const uint8_t payload[] = {0x2a, 2, 'h', 'i', 0x0a, 1, 'm', 0x18, 9};
    const aq_envelope envelope =
        unpacked(&actorq__v1__rpc_request__descriptor, payload, sizeof(payload));
    const Actorq__V1__RpcRequest *request = (const Actorq__V1__RpcRequest *)envelope.message;
    assert_string_equal(request->method, "m");
    assert_int_equal(request->timeout_ms, 9);
    assert_int_equal(envelope.body_size, 2);
    assert_memory_equal(envelope.body, "hi", 2);
}

TEST(the_last_of_two_bodies_counts)
{
    static const uint8_t payload[] = {0x2a, 2, 'h', 'i', 0x0a, 1, 'm', 0x2a, 3, 'y', 'o', 'u'};
    const aq_envelope envelope =
        unpacked(&actorq__v1__rpc_request__descriptor, payload, sizeof(payload));
    assert_int_equal(envelope.body_size, 3);
    assert_memory_equal(envelope.body, "you", 3);
}

TEST(an_empty_envelope_has_no_body)
{
    const aq_envelope envelope = unpacked(&actorq__v1__rpc_reply__descriptor, "", 0);
    assert_int_equal(envelope.body_size, 0);
}

TEST(damaged_envelopes_never_break_the_reader)
{
    aq_rng rng = rng_of(7, 0);
    aq_buffer *frame = frame_of(50);
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[128];
        size_t size = aq_rng_below(&rng, frame->size - AQ_FRAME_HEADER_BYTES + 1);
        aq_envelope envelope;
        memcpy(bytes, frame->data + AQ_FRAME_HEADER_BYTES, size);
        for (int flips = 0; size > 0 && flips < 3; flips++) {
            bytes[aq_rng_below(&rng, size)] = (uint8_t)aq_rng_next(&rng);
        }
        if (aq_envelope_unpack(&actorq__v1__rpc_request__descriptor, bytes, size, &envelope) == 0) {
            assert_true(envelope.body_size <= size);
            aq_message_free(envelope.message);
        }
    }
}

TEST(a_frame_past_the_limit_leaves_the_buffer_as_it_was)
{
    Actorq__V1__RpcReply envelope = ACTORQ__V1__RPC_REPLY__INIT;
    Actorq__Test__Everything body = ACTORQ__TEST__EVERYTHING__INIT;
    body.data = (ProtobufCBinaryData){.len = 100, .data = body_bytes};
    for (size_t limit = 1; limit < 100; limit++) {
        aq_buffer *frame = buffer_up_to(limit);
        assert_int_equal(aq_buffer_append(frame, "x", 1), 0);
        assert_int_equal(aq_envelope_pack(frame, AQ_FRAME_RPC_REPLY, &envelope.base, &body.base),
                         AQ_E_TOO_BIG);
        assert_int_equal(frame->size, 1);
    }
}

TEST(a_body_that_would_grow_out_of_bounds_is_refused)
{
    ProtobufCMessage *message = NULL;
    for (size_t i = 0; i < sizeof(body_bytes); i += 2) {
        body_bytes[i] = 0x3a; /* Experience.chunks, empty: two bytes become a structure */
        body_bytes[i + 1] = 0;
    }
    assert_int_equal(aq_message_unpack(&actorq__v1__experience__descriptor, body_bytes,
                                       sizeof(body_bytes), &message),
                     AQ_E_TOO_BIG);
    assert_null(message);
    assert_int_equal(
        aq_message_unpack(&actorq__v1__experience__descriptor, body_bytes, 200, &message), 0);
    assert_int_equal(((Actorq__V1__Experience *)message)->n_chunks, 100);
    aq_message_free(message);
    memset(body_bytes, 0, sizeof(body_bytes));
}

TEST(running_out_of_memory_is_told_from_corruption)
{
    static const uint8_t payload[] = {0x0a, 1, 'm'};
    ProtobufCMessage *message = NULL;
    assert_fails_without_memory(aq_message_unpack(&actorq__v1__rpc_request__descriptor, payload,
                                                  sizeof(payload), &message));
    assert_int_equal(aq_message_unpack(&actorq__v1__rpc_request__descriptor, payload, 2, &message),
                     AQ_E_CORRUPT);
    aq_message_free(NULL);
}
