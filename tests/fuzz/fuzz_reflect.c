/*
 * Any text as the JSON of a request is refused in words, or is a message that comes back from the
 * wire and through JSON as it was. The first byte of the input says which message.
 */
#include "common/base/assert.h"
#include "common/base/buffer.h"
#include "common/net/rpc/reflect.h"
#include "common/wire/wire_frame.h"
#include "proto/exchange.pb-c.h"
#include "proto/experience.pb-c.h"
#include "proto/membership.pb-c.h"
#include "proto/operations.pb-c.h"
#include "proto/policy.pb-c.h"
#include "proto/sampling.pb-c.h"
#include "tests/fuzz/fuzz_frame.h"
#include "tests/support/must.h"

static const ProtobufCMessageDescriptor *const kinds[] = {
    &actorq__v1__join_request__descriptor,         &actorq__v1__heartbeat_request__descriptor,
    &actorq__v1__evaluation_report__descriptor,    &actorq__v1__join_reply__descriptor,
    &actorq__v1__fetch_policy_request__descriptor, &actorq__v1__status_reply__descriptor,
    &actorq__v1__credit_request__descriptor,       &actorq__v1__sample_request__descriptor,
    &actorq__v1__prioritize_request__descriptor,   &actorq__v1__export_reply__descriptor,
    &actorq__v1__import_request__descriptor,       &actorq__v1__experience__descriptor,
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static ProtobufCMessage *from_json(const ProtobufCMessageDescriptor *kind, const json_t *json)
{
    ProtobufCMessage *message = NULL;
    aq_error error = {0};
    int rc = aq_reflect_from_json(kind, json, &message, &error);
    AQ_ASSERT(error.code == rc);
    AQ_ASSERT((rc == 0) == (message != NULL));
    return message;
}

static void pack(const ProtobufCMessage *message, aq_buffer *out)
{
    aq_buffer_init(out, FUZZ_FRAME_BYTES_MAX);
    must(aq_message_append(message, out));
}

/* Message, wire, message, JSON, message, wire. */
static void go_round(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *kind = message->descriptor;
    aq_buffer once, twice;
    pack(message, &once);
    ProtobufCMessage *received = protobuf_c_message_unpack(kind, NULL, once.size, once.data);
    AQ_ASSERT(received != NULL);
    json_t *json = aq_reflect_to_json(received);
    AQ_ASSERT(json != NULL);
    ProtobufCMessage *again = from_json(kind, json);
    AQ_ASSERT(again != NULL);
    pack(again, &twice);
    fuzz_frame_assert_same(&once, &twice);
    protobuf_c_message_free_unpacked(again, NULL);
    protobuf_c_message_free_unpacked(received, NULL);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    json_t *json = json_loadb((const char *)data + 1, size - 1,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    if (json != NULL) {
        ProtobufCMessage *message = from_json(kinds[fuzz_choice(data[0], KINDS)], json);
        if (message != NULL) {
            go_round(message);
            protobuf_c_message_free_unpacked(message, NULL);
        }
        json_decref(json);
    }
    return 0;
}
