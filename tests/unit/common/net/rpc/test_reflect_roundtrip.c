/*
 * The property of reflection: a message made of random values is the same message after it was
 * written as JSON text and read back. AQ_SEED replays a failure.
 */
#include "common/net/rpc/reflect.h"
#include "common/net/rpc/reflect_field.h"
#include "proto/experience.pb-c.h"
#include "proto/membership.pb-c.h"
#include "proto/operations.pb-c.h"
#include "proto/sampling.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/common/everything.pb-c.h"

static ProtobufCMessage *random_message(aq_rng *rng, const ProtobufCMessageDescriptor *descriptor);

static void *take(size_t count, size_t size)
{
    void *block = aq_alloc(count, size);
    assert_non_null(block);
    return block;
}

/* Extremes and zeros as often as anything else. */
static uint64_t random_bits(aq_rng *rng)
{
    static const uint64_t special[] = {
        0,          1,          UINT64_MAX,         INT64_MAX,          (uint64_t)INT64_MIN,
        0x7fffffff, 0x80000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000};
    return aq_rng_below(rng, 2) == 0
               ? special[aq_rng_below(rng, sizeof(special) / sizeof(special[0]))]
               : aq_rng_next(rng);
}

static char *random_text(aq_rng *rng)
{
    static const char *const pieces[] = {"a", "\"", "\\", "\n", "\xc3\xa4", "\xf0\x9f\x8e\xb2",
                                         "/"};
    char *text = take(64, 1);
    for (uint64_t i = aq_rng_below(rng, 10); i > 0; i--) {
        strcat(text, pieces[aq_rng_below(rng, sizeof(pieces) / sizeof(pieces[0]))]);
    }
    return text;
}

static float random_float(aq_rng *rng)
{
    uint32_t bits = (uint32_t)random_bits(rng);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value == value ? value : 1.0F; /* JSON keeps no payload of a NaN */
}

static double random_double(aq_rng *rng)
{
    uint64_t bits = random_bits(rng);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value == value ? value : 1.0;
}

static void random_value(aq_rng *rng, const ProtobufCFieldDescriptor *field, void *at)
{
    ProtobufCBinaryData bytes = {0};
    uint64_t bits = random_bits(rng);
    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT:
        *(float *)at = random_float(rng);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)at = random_double(rng);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)at = (protobuf_c_boolean)(bits & 1);
        break;
    case PROTOBUF_C_TYPE_STRING:
        *(char **)at = random_text(rng);
        break;
    case PROTOBUF_C_TYPE_BYTES:
        bytes.len = aq_rng_below(rng, 40);
        bytes.data = take(bytes.len, 1);
        for (size_t i = 0; i < bytes.len; i++) {
            bytes.data[i] = (uint8_t)aq_rng_next(rng);
        }
        *(ProtobufCBinaryData *)at = bytes;
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)at = random_message(rng, field->descriptor);
        break;
    default:
        memcpy(at, &bits, aq_reflect_value_size(field->type)); /* little-endian, as all of ours */
        break;
    }
}

static void random_field(aq_rng *rng, const ProtobufCFieldDescriptor *field,
                         ProtobufCMessage *message)
{
    uint8_t *base = (uint8_t *)message;
    size_t size = aq_reflect_value_size(field->type);
    size_t count = aq_rng_below(rng, 4);
    uint8_t *values;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        values = take(count, size);
        for (size_t i = 0; i < count; i++) {
            random_value(rng, field, values + i * size);
        }
        *(size_t *)(base + field->quantifier_offset) = count;
        *(uint8_t **)(base + field->offset) = values;
        return;
    }
    if (count > 0) {
        random_value(rng, field, base + field->offset);
    }
}

static ProtobufCMessage *random_message(aq_rng *rng, const ProtobufCMessageDescriptor *descriptor)
{
    ProtobufCMessage *message = take(1, descriptor->sizeof_message);
    protobuf_c_message_init(descriptor, message);
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        random_field(rng, &descriptor->fields[i], message);
    }
    return message;
}

static uint8_t *pack(const ProtobufCMessage *message, size_t *ret_size)
{
    uint8_t *bytes = take(protobuf_c_message_get_packed_size(message), 1);
    *ret_size = protobuf_c_message_pack(message, bytes);
    return bytes;
}

static ProtobufCMessage *through_json(const ProtobufCMessage *message)
{
    json_t *json = aq_reflect_to_json(message);
    ProtobufCMessage *back = NULL;
    assert_non_null(json);
    char *text = json_dumps(json, 0);
    json_decref(json);
    assert_non_null(text);
    json = json_loads(text, 0, NULL);
    assert_non_null(json);
    if (aq_reflect_from_json(message->descriptor, json, &back, &refusal) < 0) {
        fail_msg("%s in %s", refusal.text, text);
    }
    json_decref(json);
    free(text);
    return back;
}

static const ProtobufCMessageDescriptor *const descriptors[] = {
    &actorq__test__everything__descriptor,    &actorq__v1__experience__descriptor,
    &actorq__v1__credit_reply__descriptor,    &actorq__v1__join_request__descriptor,
    &actorq__v1__join_reply__descriptor,      &actorq__v1__heartbeat_request__descriptor,
    &actorq__v1__heartbeat_reply__descriptor, &actorq__v1__status_reply__descriptor,
    &actorq__v1__sample_request__descriptor,  &actorq__v1__sample_reply__descriptor,
};

TEST(messages_survive_json)
{
    aq_rng rng = rng_of(test_seed(), 0);
    for (size_t round = 0; round < 100 * sizeof(descriptors) / sizeof(descriptors[0]); round++) {
        const ProtobufCMessageDescriptor *descriptor =
            descriptors[round % (sizeof(descriptors) / sizeof(descriptors[0]))];
        ProtobufCMessage *message = random_message(&rng, descriptor);
        ProtobufCMessage *back = through_json(message);
        size_t size = 0, back_size = 0;
        uint8_t *bytes = pack(message, &size);
        uint8_t *back_bytes = pack(back, &back_size);
        assert_int_equal(size, back_size);
        assert_memory_equal(bytes, back_bytes, size);
        aq_free(bytes);
        aq_free(back_bytes);
        protobuf_c_message_free_unpacked(message, NULL);
        protobuf_c_message_free_unpacked(back, NULL);
    }
}

TEST(the_template_of_a_call_can_be_sent_as_it_is)
{
    for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++) {
        json_t *json = aq_reflect_template(descriptors[i]);
        ProtobufCMessage *message = NULL;
        assert_non_null(json);
        assert_int_equal(aq_reflect_from_json(descriptors[i], json, &message, NULL), 0);
        protobuf_c_message_free_unpacked(message, NULL);
        json_decref(json);
    }
}
