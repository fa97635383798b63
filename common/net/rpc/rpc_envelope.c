/*
 * Packing and unpacking of envelopes and bodies.
 *
 * The fields of a protobuf message may stand in any order, so an envelope without its body, then
 * the body's field, is an encoding of the whole envelope as good as any other.
 */
#include "common/net/rpc/rpc_envelope.h"

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/varint.h"
#include "common/net/rpc/wire_scan.h"

/* Memory that unpacking may take: a two-byte field can become a message of a few hundred bytes, but
 * no message of ours is made of such fields alone. */
enum { EXPANSION_MAX = 32, EXPANSION_FREE_BYTES = 64 * 1024 };

typedef struct unpack_budget {
    size_t left;
    int failure; /* 0, AQ_E_TOO_BIG or AQ_E_NOMEM */
} unpack_budget;

static void *budget_alloc(void *data, size_t size)
{
    unpack_budget *budget = data;

    if (size > budget->left) {
        budget->failure = AQ_E_TOO_BIG;
        return NULL;
    }
    void *block = aq_alloc_unset(1, size); /* protobuf-c fills it, whole */
    if (block == NULL) {
        budget->failure = AQ_E_NOMEM;
        return NULL;
    }
    budget->left -= size;
    return block;
}

static void budget_free(void *data, void *block)
{
    (void)data;
    aq_free(block);
}

int aq_message_unpack_within(size_t bytes_max, const ProtobufCMessageDescriptor *descriptor,
                             const uint8_t *bytes, size_t size, ProtobufCMessage **ret_message)
{
    unpack_budget budget = {.left = bytes_max};
    ProtobufCAllocator allocator = {budget_alloc, budget_free, &budget};
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, &allocator, size, bytes);

    if (message == NULL) {
        return budget.failure < 0 ? budget.failure : AQ_E_CORRUPT;
    }
    *ret_message = message;
    return 0;
}

int aq_message_unpack(const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes,
                      size_t size, ProtobufCMessage **ret_message)
{
    if (size > (SIZE_MAX - EXPANSION_FREE_BYTES) / EXPANSION_MAX) {
        return AQ_E_TOO_BIG;
    }
    return aq_message_unpack_within(size * EXPANSION_MAX + EXPANSION_FREE_BYTES, descriptor, bytes,
                                    size, ret_message);
}

void aq_message_free(ProtobufCMessage *message)
{
    ProtobufCAllocator allocator = {budget_alloc, budget_free, NULL};

    protobuf_c_message_free_unpacked(message, &allocator);
}

/* ---- packing ------------------------------------------------------------------------------- */

static const ProtobufCFieldDescriptor *body_field(const ProtobufCMessageDescriptor *descriptor)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(descriptor, "body");

    AQ_ASSERT(field != NULL);
    AQ_ASSERT(field->type == PROTOBUF_C_TYPE_BYTES);
    return field;
}

int aq_message_append(const ProtobufCMessage *message, aq_buffer *out)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *at;

    if (size > INT32_MAX) {
        return AQ_E_TOO_BIG;
    }
    int rc = aq_buffer_extend_unset(out, size, &at);
    if (rc < 0) {
        return rc;
    }
    size_t packed_size = protobuf_c_message_pack(message, at);
    AQ_ASSERT(packed_size == size);
    return 0;
}

static int append_body(aq_buffer *out, const ProtobufCFieldDescriptor *field,
                       const ProtobufCMessage *body)
{
    size_t size = protobuf_c_message_get_packed_size(body);
    uint8_t head[2 * AQ_VARINT_BYTES_MAX];

    if (size == 0) {
        return 0;
    }
    size_t head_size = aq_varint_put(head, (uint64_t)field->id << 3 | AQ_WIRE_BYTES);
    head_size += aq_varint_put(head + head_size, size);
    int rc = aq_buffer_append(out, head, head_size);
    return rc < 0 ? rc : aq_message_append(body, out);
}

int aq_envelope_pack(aq_buffer *out, enum aq_frame_kind kind, const ProtobufCMessage *envelope,
                     const ProtobufCMessage *body)
{
    const ProtobufCFieldDescriptor *field = body_field(envelope->descriptor);
    size_t start;

    int rc = aq_frame_begin(out, &start);
    if (rc < 0) {
        return rc;
    }
    rc = aq_message_append(envelope, out);
    if (rc == 0 && body != NULL) {
        rc = append_body(out, field, body);
    }
    return aq_frame_finish(out, start, kind, false, rc);
}

/* ---- unpacking ----------------------------------------------------------------------------- */

/* Where the body lies when it is the last field, as our own senders write it: the size of what is
 * before it. SIZE_MAX when there is none, or it stands elsewhere, or the bytes are no message. */
static size_t find_last_body(const uint8_t *bytes, size_t size, uint32_t field_id, size_t *ret_body)
{
    aq_wire_scan scan = aq_wire_scan_of(bytes, size);
    const uint8_t *start = scan.at;
    aq_wire_field field;

    while (aq_wire_scan_next(&scan, &field) > 0) {
        if (field.number == field_id && field.type == AQ_WIRE_BYTES) {
            *ret_body = (size_t)(field.bytes - bytes);
            return scan.at == scan.end ? (size_t)(start - bytes) : SIZE_MAX;
        }
        start = scan.at;
    }
    return SIZE_MAX;
}

int aq_envelope_unpack(const ProtobufCMessageDescriptor *descriptor, const uint8_t *payload,
                       size_t size, aq_envelope *ret_envelope)
{
    const ProtobufCFieldDescriptor *field = body_field(descriptor);
    size_t body = 0;
    size_t head_size = find_last_body(payload, size, field->id, &body);
    ProtobufCMessage *message = NULL;

    int rc =
        aq_message_unpack(descriptor, payload, head_size == SIZE_MAX ? size : head_size, &message);
    if (rc < 0) {
        return rc;
    }
    if (head_size != SIZE_MAX) {
        *ret_envelope = (aq_envelope){message, payload + body, size - body};
        return 0;
    }
    const ProtobufCBinaryData *inner =
        (const ProtobufCBinaryData *)((const uint8_t *)message + field->offset);
    *ret_envelope = (aq_envelope){message, inner->data, inner->len};
    return 0;
}
