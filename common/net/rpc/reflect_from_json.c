/*
 * JSON to messages by their descriptors. See reflect.h; any thread, no state.
 *
 * The JSON may be hostile: every value is checked against its field's type and range, and a message
 * that fails halfway is freed as protobuf-c frees its own. So all memory handed into a message
 * comes from aq_alloc, whose blocks the C library's free takes, as protobuf-c's default must.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/nearest.h"
#include "common/base/parse.h"
#include "common/net/rpc/reflect.h"
#include "common/net/rpc/reflect_field.h"
#include "common/net/security/base64.h"

/* Where in the JSON we are; lives on the stack, made into text only for an error. */
typedef struct place {
    const struct place *outer; /* NULL: the message itself */
    const char *name;          /* NULL: an element of outer */
    size_t index;
    aq_error *error;
} place;

enum { PLACE_TEXT_MAX = 160 };

/* A path cut short still points somewhere. */
static void place_text(const place *at, char *out, size_t size)
{
    if (at->outer == NULL) {
        out[0] = '\0';
        return;
    }
    place_text(at->outer, out, size);
    if (at->name == NULL) {
        aq_text_append(out, size, "[%zu]", at->index);
    } else {
        aq_text_append(out, size, "%s%s", out[0] == '\0' ? "" : ".", at->name);
    }
}

static int refuse(const place *at, const char *what)
{
    char text[PLACE_TEXT_MAX];

    place_text(at, text, sizeof(text));
    return aq_fail(at->error, AQ_E_INVALID, "%s%s%s", text, text[0] == '\0' ? "" : ": ", what);
}

static int message_from_json(const place *at, const ProtobufCMessageDescriptor *descriptor,
                             const json_t *json, ProtobufCMessage **ret_message);

/* ---- numbers ------------------------------------------------------------------------------- */

static int unsigned_from_json(const place *at, const json_t *json, uint64_t max,
                              uint64_t *ret_value)
{
    uint64_t value;

    if (json_is_integer(json)) {
        if (json_integer_value(json) < 0) {
            return refuse(at, "expects an integer that is not negative");
        }
        value = (uint64_t)json_integer_value(json);
    } else if (!json_is_string(json) || aq_parse_u64(json_string_value(json), &value) < 0) {
        return refuse(at, "expects an integer that is not negative");
    }
    if (value > max) {
        return refuse(at, "is out of range");
    }
    *ret_value = value;
    return 0;
}

static int u32_from_json(const place *at, const json_t *json, uint32_t *ret_value)
{
    uint64_t value;
    int rc = unsigned_from_json(at, json, UINT32_MAX, &value);

    if (rc == 0) {
        *ret_value = (uint32_t)value;
    }
    return rc;
}

static int real_from_json(const place *at, const json_t *json, double *ret_value)
{
    static const struct {
        const char *name;
        double value;
    } names[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};

    if (json_is_number(json)) {
        *ret_value = json_number_value(json);
        return 0;
    }
    for (size_t i = 0; json_is_string(json) && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(json_string_value(json), names[i].name) == 0) {
            *ret_value = names[i].value;
            return 0;
        }
    }
    return refuse(at, "expects a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
}

static int float_from_json(const place *at, const json_t *json, float *ret_value)
{
    double value;
    int rc = real_from_json(at, json, &value);

    if (rc < 0) {
        return rc;
    }
    if (isfinite(value) && fabs(value) > (double)FLT_MAX) {
        return refuse(at, "is out of a float's range");
    }
    *ret_value = (float)value;
    return 0;
}

static int enum_from_json(const place *at, const ProtobufCFieldDescriptor *field,
                          const json_t *json, int32_t *ret_value)
{
    const ProtobufCEnumDescriptor *descriptor = field->descriptor;
    char what[PLACE_TEXT_MAX];
    aq_nearest nearest;

    if (json_is_integer(json)) {
        if (json_integer_value(json) < INT32_MIN || json_integer_value(json) > INT32_MAX) {
            return refuse(at, "is out of range");
        }
        *ret_value = (int32_t)json_integer_value(json);
        return 0;
    }
    if (!json_is_string(json)) {
        return refuse(at, "expects a name or an integer");
    }
    const ProtobufCEnumValue *named =
        protobuf_c_enum_descriptor_get_value_by_name(descriptor, json_string_value(json));
    if (named != NULL) {
        *ret_value = named->value;
        return 0;
    }
    aq_nearest_init(&nearest, json_string_value(json));
    for (unsigned i = 0; i < descriptor->n_values; i++) {
        aq_nearest_offer(&nearest, descriptor->values[i].name);
    }
    if (aq_nearest_name(&nearest) == NULL ||
        aq_text_format(what, sizeof(what), "no such %s; did you mean %s?", descriptor->short_name,
                       aq_nearest_name(&nearest)) < 0) {
        return refuse(at, "no such name in this enumeration");
    }
    return refuse(at, what);
}

/* ---- text and bytes ------------------------------------------------------------------------ */

static int string_from_json(const place *at, const json_t *json, char **ret_text)
{
    if (!json_is_string(json)) {
        return refuse(at, "expects a string");
    }
    if (strlen(json_string_value(json)) != json_string_length(json)) {
        return refuse(at, "holds a zero character");
    }
    char *text = aq_text_copy(json_string_value(json));
    if (text == NULL) {
        return AQ_E_NOMEM;
    }
    *ret_text = text;
    return 0;
}

static int bytes_from_json(const place *at, const json_t *json, ProtobufCBinaryData *ret_bytes)
{
    int rc = AQ_E_INVALID;

    if (json_is_string(json)) {
        rc = aq_base64_decode(json_string_value(json), json_string_length(json), &ret_bytes->data,
                              &ret_bytes->len);
    }
    return rc == AQ_E_INVALID ? refuse(at, "expects a string of base64") : rc;
}

/* ---- values, arrays, messages -------------------------------------------------------------- */

/* `out` is where the value goes in the structure; nothing is written there on failure. */
static int value_from_json(const place *at, const ProtobufCFieldDescriptor *field,
                           const json_t *json, void *out)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_UINT32:
        return u32_from_json(at, json, out);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return unsigned_from_json(at, json, UINT64_MAX, out);
    case PROTOBUF_C_TYPE_FLOAT:
        return float_from_json(at, json, out);
    case PROTOBUF_C_TYPE_DOUBLE:
        return real_from_json(at, json, out);
    case PROTOBUF_C_TYPE_BOOL:
        if (!json_is_boolean(json)) {
            return refuse(at, "expects true or false");
        }
        *(protobuf_c_boolean *)out = json_is_true(json);
        return 0;
    case PROTOBUF_C_TYPE_ENUM:
        return enum_from_json(at, field, json, out);
    case PROTOBUF_C_TYPE_STRING:
        return string_from_json(at, json, out);
    case PROTOBUF_C_TYPE_BYTES:
        return bytes_from_json(at, json, out);
    default:
        AQ_ASSERT(field->type == PROTOBUF_C_TYPE_MESSAGE);
        return message_from_json(at, field->descriptor, json, out);
    }
}

/* The count grows with each element, so that a failure frees what is there. */
static int repeated_from_json(const place *at, const ProtobufCFieldDescriptor *field,
                              const json_t *json, ProtobufCMessage *message)
{
    size_t *count = (size_t *)((uint8_t *)message + field->quantifier_offset);
    void **values = (void **)((uint8_t *)message + field->offset);
    size_t value_size = aq_reflect_value_size(field->type);

    if (!json_is_array(json)) {
        return refuse(at, "expects an array");
    }
    if (json_array_size(json) == 0) {
        return 0;
    }
    *values = aq_alloc(json_array_size(json), value_size);
    if (*values == NULL) {
        return AQ_E_NOMEM;
    }
    while (*count < json_array_size(json)) {
        place element = {.outer = at, .index = *count, .error = at->error};
        int rc = value_from_json(&element, field, json_array_get(json, *count),
                                 (uint8_t *)*values + *count * value_size);

        if (rc < 0) {
            return rc;
        }
        (*count)++;
    }
    return 0;
}

static int field_from_json(const place *at, const ProtobufCFieldDescriptor *field,
                           const json_t *json, ProtobufCMessage *message)
{
    if (json_is_null(json)) {
        return 0;
    }
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        return repeated_from_json(at, field, json, message);
    }
    return value_from_json(at, field, json, (uint8_t *)message + field->offset);
}

static int refuse_unknown(const place *at, const ProtobufCMessageDescriptor *descriptor)
{
    char what[PLACE_TEXT_MAX];
    aq_nearest nearest;

    aq_nearest_init(&nearest, at->name);
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        aq_nearest_offer(&nearest, descriptor->fields[i].name);
    }
    if (aq_nearest_name(&nearest) == NULL ||
        aq_text_format(what, sizeof(what), "%s has no such field; did you mean %s?",
                       descriptor->short_name, aq_nearest_name(&nearest)) < 0) {
        return refuse(at, "no such field in this message");
    }
    return refuse(at, what);
}

static int fields_from_json(const place *at, const json_t *json, ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    const char *name;
    json_t *value;

    /* The iteration takes a json_t without const and changes nothing. */
    json_object_foreach((json_t *)(uintptr_t)json, name, value)
    {
        place inner = {.outer = at, .name = name, .error = at->error};
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(descriptor, name);
        int rc = field == NULL ? refuse_unknown(&inner, descriptor)
                               : field_from_json(&inner, field, value, message);

        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int message_from_json(const place *at, const ProtobufCMessageDescriptor *descriptor,
                             const json_t *json, ProtobufCMessage **ret_message)
{
    if (!json_is_object(json)) {
        return refuse(at, "expects an object");
    }
    ProtobufCMessage *message = aq_alloc(1, descriptor->sizeof_message);
    if (message == NULL) {
        return AQ_E_NOMEM;
    }
    protobuf_c_message_init(descriptor, message);
    int rc = fields_from_json(at, json, message);
    if (rc < 0) {
        protobuf_c_message_free_unpacked(message, NULL);
        return rc;
    }
    *ret_message = message;
    return 0;
}

int aq_reflect_from_json(const ProtobufCMessageDescriptor *descriptor, const json_t *json,
                         ProtobufCMessage **ret_message, aq_error *error)
{
    const place whole = {.error = error};
    int rc = message_from_json(&whole, descriptor, json, ret_message);

    return rc == AQ_E_NOMEM ? aq_fail(error, rc, "%s", aq_error_text(rc)) : rc;
}
