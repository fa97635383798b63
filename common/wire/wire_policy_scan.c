/*
 * What is small goes through protobuf-c, with the rules of any message; fields with tensors are
 * taken where they are.
 */
#include "common/wire/wire_policy_scan.h"

#include <string.h>

#include "common/base/buffer.h"
#include "common/net/rpc/frame.h"
#include "common/net/rpc/rpc_envelope.h"
#include "common/net/rpc/wire_scan.h"

/* Names, the schema, the network: no honest policy has a tenth of it. */
enum { HEAD_BYTES_MAX = 1 << 20, STRUCTURE_BYTES_MAX = 4 << 20 };

/* Fields of policy.proto. */
enum {
    LAYERS = 9,
    ARRAYS = 10,

    FORMAT = 1,
    WEIGHTS = 2,
    SCALE = 3,
    SUM = 4,
    BIAS = 5,
    MASK = 6,
    WEIGHT_ZERO = 7,
    INPUT_SCALE = 8,
    INPUT_ZERO = 9,
    COMPRESSED = 10,
    LAYER_FIELDS = 11,
};

static const uint8_t layer_types[LAYER_FIELDS] = {
    [FORMAT] = AQ_WIRE_VARINT,      [WEIGHTS] = AQ_WIRE_BYTES,       [SCALE] = AQ_WIRE_BYTES,
    [SUM] = AQ_WIRE_BYTES,          [BIAS] = AQ_WIRE_BYTES,          [MASK] = AQ_WIRE_BYTES,
    [WEIGHT_ZERO] = AQ_WIRE_VARINT, [INPUT_SCALE] = AQ_WIRE_FIXED32, [INPUT_ZERO] = AQ_WIRE_VARINT,
    [COMPRESSED] = AQ_WIRE_VARINT,
};

static ProtobufCBinaryData where(const aq_wire_field *field)
{
    return (ProtobufCBinaryData){.len = field->size, .data = (uint8_t *)(uintptr_t)field->bytes};
}

static void take(const aq_wire_field *field, Actorq__V1__LayerTensors *layer)
{
    const uint32_t value = (uint32_t)field->value;
    switch (field->number) {
    case FORMAT:
        layer->format = value;
        return;
    case WEIGHTS:
        layer->weights = where(field);
        return;
    case SCALE:
        layer->scale = where(field);
        return;
    case SUM:
        layer->sum = where(field);
        return;
    case BIAS:
        layer->bias = where(field);
        return;
    case MASK:
        layer->mask = where(field);
        return;
    case WEIGHT_ZERO:
        layer->weight_zero = (int32_t)(value >> 1 ^ (0 - (value & 1)));
        return;
    case INPUT_SCALE:
        memcpy(&layer->input_scale, &value, sizeof(value));
        return;
    case INPUT_ZERO:
        layer->input_zero = value;
        return;
    default:
        layer->compressed = value;
    }
}

static int read_layer(const aq_wire_field *message, Actorq__V1__LayerTensors *ret_layer)
{
    aq_wire_scan scan = aq_wire_scan_of(message->bytes, message->size);
    aq_wire_field field;
    int rc;
    actorq__v1__layer_tensors__init(ret_layer);
    while ((rc = aq_wire_scan_next(&scan, &field)) > 0) {
        if (field.number >= LAYER_FIELDS) {
            continue;
        }
        if (field.type != layer_types[field.number]) {
            return AQ_E_CORRUPT;
        }
        take(&field, ret_layer);
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
            *ret_arrays = where(&field);
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
    uint32_t kind;
    const uint8_t *payload;
    size_t payload_size;
    int rc = aq_frame_check(bytes, size, AQ_FRAME_POLICY, &kind, &payload, &payload_size, error);
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
