/*
 * Messages to JSON by their descriptors. See reflect.h; any thread, no state.
 *
 * A message may come from a hostile peer: its strings need not be UTF-8 and jansson takes nothing
 * else, so what is not is shown as U+FFFD.
 */
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/utf8.h"
#include "common/net/rpc/reflect.h"
#include "common/net/rpc/reflect_field.h"
#include "common/net/security/base64.h"
#include "common/sys/print_json.h"

static json_t *real_to_json(double value)
{
    if (isnan(value)) {
        return json_string("NaN");
    }
    if (isinf(value)) {
        return json_string(value > 0 ? "Infinity" : "-Infinity");
    }
    return json_real(value);
}

static json_t *string_to_json(const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    const size_t replacement_size = sizeof(replacement) - 1;
    size_t length = 0;
    uint32_t code_point;

    if (text == NULL) {
        text = "";
    }
    json_t *json = json_string(text);
    if (json != NULL) {
        return json;
    }
    char *clean = aq_alloc(strlen(text) + 1, replacement_size);
    if (clean == NULL) {
        return NULL;
    }
    while (*text != '\0') {
        size_t size = aq_utf8_decode(text, &code_point);

        memcpy(clean + length, size == 0 ? replacement : text, size == 0 ? replacement_size : size);
        length += size == 0 ? replacement_size : size;
        text += size == 0 ? 1 : size;
    }
    json = json_stringn(clean, length);
    aq_free(clean);
    return json;
}

static json_t *bytes_to_json(const ProtobufCBinaryData *bytes)
{
    char *text = aq_base64_encode(bytes->data, bytes->len);
    json_t *json = text == NULL ? NULL : json_string(text);

    aq_free(text);
    return json;
}

/* An enum of proto3 that has no name for the value keeps the number. */
static json_t *enum_to_json(const ProtobufCFieldDescriptor *field, int32_t number)
{
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(field->descriptor, number);

    return value == NULL ? json_integer(number) : json_string(value->name);
}

static json_t *value_to_json(const ProtobufCFieldDescriptor *field, const void *at)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_UINT32:
        return json_integer(*(const uint32_t *)at);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return aq_json_count(*(const uint64_t *)at);
    case PROTOBUF_C_TYPE_FLOAT:
        return real_to_json((double)*(const float *)at);
    case PROTOBUF_C_TYPE_DOUBLE:
        return real_to_json(*(const double *)at);
    case PROTOBUF_C_TYPE_BOOL:
        return json_boolean(*(const protobuf_c_boolean *)at);
    case PROTOBUF_C_TYPE_ENUM:
        return enum_to_json(field, *(const int32_t *)at);
    case PROTOBUF_C_TYPE_STRING:
        return string_to_json(*(char *const *)at);
    case PROTOBUF_C_TYPE_BYTES:
        return bytes_to_json(at);
    default:
        AQ_ASSERT(field->type == PROTOBUF_C_TYPE_MESSAGE);
        return aq_reflect_to_json(*(ProtobufCMessage *const *)at);
    }
}

static json_t *repeated_to_json(const ProtobufCMessage *message,
                                const ProtobufCFieldDescriptor *field)
{
    const uint8_t *base = (const uint8_t *)message;
    size_t count = *(const size_t *)(base + field->quantifier_offset);
    const uint8_t *values = *(uint8_t *const *)(base + field->offset);
    json_t *array = json_array();

    for (size_t i = 0; array != NULL && i < count; i++) {
        const void *at = values + i * aq_reflect_value_size(field->type);

        if (json_array_append_new(array, value_to_json(field, at)) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

json_t *aq_reflect_to_json(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    json_t *object = json_object();

    for (unsigned i = 0; object != NULL && i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        const void *at = (const uint8_t *)message + field->offset;
        json_t *value;

        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            value = repeated_to_json(message, field);
        } else if (field->type == PROTOBUF_C_TYPE_MESSAGE &&
                   *(ProtobufCMessage *const *)at == NULL) {
            continue;
        } else {
            value = value_to_json(field, at);
        }
        if (json_object_set_new(object, field->name, value) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

/* ---- what a call takes --------------------------------------------------------------------- */

static json_t *template_of_value(const ProtobufCFieldDescriptor *field)
{
    static const uint64_t zero;

    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return aq_reflect_template(field->descriptor);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        return json_string("");
    default:
        return value_to_json(field, &zero);
    }
}

json_t *aq_reflect_template(const ProtobufCMessageDescriptor *descriptor)
{
    json_t *object = json_object();

    for (unsigned i = 0; object != NULL && i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        json_t *value = template_of_value(field);

        if (field->label == PROTOBUF_C_LABEL_REPEATED && value != NULL) {
            value = json_pack("[o]", value);
        }
        if (json_object_set_new(object, field->name, value) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}
