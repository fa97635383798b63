/*
 * What is small goes through protobuf-c, with the rules of any message; fields with tensors are
 * taken where they are.
 */
#include "common/wire/wire_policy_scan.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/buffer.h"
#include "common/net/rpc/frame.h"
#include "common/net/rpc/rpc_envelope.h"
#include "common/net/rpc/wire_scan.h"
#include "common/wire/wire_frame.h"

/* Names, the schema, the network: no honest policy has a tenth of it. */
enum { HEAD_BYTES_MAX = 1 << 20, STRUCTURE_BYTES_MAX = 4 << 20 };

/* Fields of policy.proto. */
enum { LAYERS = 9, ARRAYS = 10 };

/* AQ_E_CORRUPT for one that is written in another way than `known` says. */
static int take(const aq_wire_field *field, const ProtobufCFieldDescriptor *known,
                Actorq__V1__LayerTensors *layer)
{
    void *member = (uint8_t *)layer + known->offset;
    uint32_t value = (uint32_t)field->value;
    enum aq_wire_type type = AQ_WIRE_VARINT;
    switch (known->type) {
    case PROTOBUF_C_TYPE_BYTES:
        *(ProtobufCBinaryData *)member = aq_wire_bytes(field->bytes, field->size);
        return field->type == AQ_WIRE_BYTES ? 0 : AQ_E_CORRUPT;
    case PROTOBUF_C_TYPE_FLOAT:
        type = AQ_WIRE_FIXED32;
        break;
    case PROTOBUF_C_TYPE_SINT32:
        value = value >> 1 ^ (0 - (value & 1));
        break;
    default:
        AQ_ASSERT(known->type == PROTOBUF_C_TYPE_UINT32);
    }
    memcpy(member, &value, sizeof(value));
    return field->type == type ? 0 : AQ_E_CORRUPT;
}

static int read_layer(const aq_wire_field *message, Actorq__V1__LayerTensors *ret_layer)
{
    aq_wire_scan scan = aq_wire_scan_of(message->bytes, message->size);
    aq_wire_field field;
    int rc;
    actorq__v1__layer_tensors__init(ret_layer);
    while ((rc = aq_wire_scan_next(&scan, &field)) > 0) {
        const ProtobufCFieldDescriptor *known =
            protobuf_c_message_descriptor_get_field(ret_layer->base.descriptor, field.number);
        rc = known != NULL ? take(&field, known, ret_layer) : 0;
        if (rc != 0) {
            return rc;
        }
    }
    return rc;
}

/* What is left for protobuf-c goes to `head`, as it is. */
static int read_fields(const uint8_t *payload, size_t size, aq_policy_scan *scan,
                       size_t *ret_layers, ProtobufCBinaryData *ret_arrays, aq_buffer *head)
{
    aq_wire_scan fields = aq_wire_scan_of(payload, size);
    aq_wire_field field;
    int rc;
    for (;;) {
        const uint8_t *start = fields.at;
        rc = aq_wire_scan_next(&fields, &field);
        if (rc <= 0) {
            return rc;
        }
        if (field.type == AQ_WIRE_BYTES && field.number == ARRAYS) {
            *ret_arrays = aq_wire_bytes(field.bytes, field.size);
            rc = 0;
        } else if (field.type != AQ_WIRE_BYTES || field.number != LAYERS) {
            rc = aq_buffer_append(head, start, (size_t)(fields.at - start));
        } else if (*ret_layers == AQ_NET_LAYERS_MAX) {
            rc = AQ_E_CORRUPT;
        } else {
            rc = read_layer(&field, &scan->layers[(*ret_layers)++]);
        }
        if (rc != 0) {
            return rc;
        }
    }
}

static int read_message(const uint8_t *payload, size_t size, aq_policy_scan *scan)
{
    ProtobufCBinaryData arrays = {.len = 0};
    ProtobufCMessage *message;
    size_t layers = 0;
    aq_buffer head;
    aq_buffer_init(&head, HEAD_BYTES_MAX);
    int rc = read_fields(payload, size, scan, &layers, &arrays, &head);
    if (rc == 0) {
        rc = aq_message_unpack_within(STRUCTURE_BYTES_MAX, &actorq__v1__policy_snapshot__descriptor,
                                      head.data, head.size, &message);
    }
    aq_buffer_fini(&head);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; i < layers; i++) {
        scan->layers_at[i] = &scan->layers[i];
    }
    scan->message = (Actorq__V1__PolicySnapshot *)message;
    scan->message->n_layers = layers;
    scan->message->layers = scan->layers_at;
    scan->message->arrays = arrays;
    return 0;
}

int aq_policy_scan_open(const uint8_t *bytes, size_t size, aq_policy_scan *scan, aq_error *error)
{
    const uint8_t *payload;
    size_t payload_size;
    int rc = aq_frame_check(bytes, size, AQ_FRAME_POLICY, &payload, &payload_size, error);
    if (rc != 0) {
        return rc;
    }
    rc = read_message(payload, payload_size, scan);
    if (rc == AQ_E_NOMEM) {
        return aq_fail(error, rc, "no memory for a message of %zu bytes", payload_size);
    }
    return rc == 0 ? 0
                   : aq_fail(error, AQ_E_CORRUPT, "the %zu bytes in the frame are no %s",
                             payload_size, actorq__v1__policy_snapshot__descriptor.short_name);
}

void aq_policy_scan_close(aq_policy_scan *scan)
{
    scan->message->n_layers = 0;
    scan->message->layers = NULL;
    scan->message->arrays = (ProtobufCBinaryData){.len = 0};
    aq_message_free(&scan->message->base);
}
