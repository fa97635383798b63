/*
 * Hostile messages: see hostile_message.h.
 */
#include "tests/support/hostile_message.h"

#include <stdbool.h>
#include <string.h>

enum { DEPTH_MAX = 3, REPEATED_MAX = 3, TEXT_BYTES_MAX = 8192 };

#define BORDER (UINT64_C(1) << 62)

static uint64_t draw_number(aq_rng *rng)
{
    static const uint64_t numbers[] = {0,
                                       1,
                                       2,
                                       3,
                                       4,
                                       77,
                                       10000,
                                       65536,
                                       INT32_MAX,
                                       UINT32_MAX,
                                       UINT64_C(1) << 40,
                                       UINT64_C(1) << 53,
                                       BORDER - 1,
                                       BORDER,
                                       BORDER + 1,
                                       INT64_MAX,
                                       UINT64_MAX - 1,
                                       UINT64_MAX};
    /* Half of them are small: what members and numbers of messages are. */
    size_t count = sizeof(numbers) / sizeof(numbers[0]);
    return numbers[aq_rng_below(rng, aq_rng_below(rng, 2) == 0 ? 6 : count)];
}

/* Mostly one that is let in further: the run's, one of three processes or stores, a role. */
static uint64_t draw_for(hostile *source, const char *name)
{
    static const char *const few[] = {"incarnation", "store", "role"};
    const struct {
        const char *name;
        uint64_t value;
    } right[] = {{"run_id", source->run_id},
                 {"store", source->store},
                 {"member", source->member},
                 {"incarnation", source->incarnation}};
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        if (strcmp(name, right[i].name) == 0 && right[i].value != 0 &&
            aq_rng_below(&source->rng, 16) != 0) {
            return right[i].value;
        }
    }
    for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++) {
        if (strcmp(name, few[i]) == 0 && aq_rng_below(&source->rng, 8) != 0) {
            return 1 + aq_rng_below(&source->rng, 3);
        }
    }
    return draw_number(&source->rng);
}

static double draw_real(aq_rng *rng)
{
    static const double reals[] = {0, 1, -1, 500, 1e30, -1e300, 1e-310};
    double value = reals[aq_rng_below(rng, sizeof(reals) / sizeof(reals[0]))];
    return aq_rng_below(rng, 16) == 0 ? value / 0.0 : value;
}

/* NULL when there is no room. */
static void *take(hostile *source, size_t size)
{
    size_t at = (source->size + 15) / 16 * 16;
    if (at + size > sizeof(source->bytes)) {
        return NULL;
    }
    source->size = at + size;
    return memset(source->bytes + at, 0, size);
}

/* A long one. What it takes of the sequence it gives back: it changes no other value, and so no
 * seed that has found something. NULL: not now. */
static char *draw_length(hostile *source)
{
    aq_rng rng = source->rng;
    if (aq_rng_below(&rng, 32) != 0) {
        return NULL;
    }
    const size_t size = aq_rng_below(&rng, TEXT_BYTES_MAX);
    char *text = take(source, size + 1);
    return text != NULL ? memset(text, 'x', size) : NULL;
}

static char *draw_text(hostile *source, const char *name)
{
    static const char *const addresses[HOSTILE_ADDRESSES] = {
        "tcp://10.0.0.7:1001", "tcp://10.0.0.7:1002", "tcp://10.0.0.8:1001", "tcp://*:1003"};
    static const char *const texts[] = {"ipc:///tmp/a",   "",     "tcp://",
                                        "\x1b[2J\n",      "main", "actorq.v1.Flow/Credit",
                                        "\xff\xfe\x80 %n"};
    enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };
    const bool is_url = strstr(name, "url") != NULL;
    char *at_length = is_url ? NULL : draw_length(source);
    bool is_address = is_url && aq_rng_below(&source->rng, 8) != 0;
    size_t which = aq_rng_below(&source->rng, HOSTILE_ADDRESSES + (is_address ? 0 : TEXTS));
    const char *text = which >= HOSTILE_ADDRESSES  ? texts[which - HOSTILE_ADDRESSES]
                       : source->addresses != NULL ? source->addresses[which]
                                                   : addresses[which];
    return at_length != NULL ? at_length : (char *)(uintptr_t)text;
}

static ProtobufCMessage *make(hostile *source, const ProtobufCMessageDescriptor *type, int depth);

/* Writes one value at `place`; false: it stays away. */
static bool put(hostile *source, const ProtobufCFieldDescriptor *field, void *place, int depth)
{
    aq_rng *rng = &source->rng;
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_ENUM:
        *(uint32_t *)place = (uint32_t)draw_for(source, field->name);
        return true;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        *(uint64_t *)place = draw_for(source, field->name);
        return true;
    case PROTOBUF_C_TYPE_FLOAT:
        *(float *)place = (float)draw_real(rng);
        return true;
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)place = draw_real(rng);
        return true;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)place = (protobuf_c_boolean)aq_rng_below(rng, 2);
        return true;
    case PROTOBUF_C_TYPE_STRING:
        *(char **)place = draw_text(source, field->name);
        return true;
    case PROTOBUF_C_TYPE_BYTES: {
        ProtobufCBinaryData *bytes = place;
        bytes->len = aq_rng_below(rng, 64);
        bytes->data = take(source, bytes->len + 1);
        bytes->len = bytes->data != NULL ? bytes->len : 0;
        return true;
    }
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)place = depth < DEPTH_MAX && aq_rng_below(rng, 2) == 0
                                          ? make(source, field->descriptor, depth + 1)
                                          : NULL;
        return *(ProtobufCMessage **)place != NULL;
    }
    return false;
}

static void put_repeated(hostile *source, const ProtobufCFieldDescriptor *field, uint8_t *message,
                         int depth)
{
    uint8_t *values = take(source, REPEATED_MAX * sizeof(ProtobufCBinaryData));
    size_t *count = (size_t *)(void *)(message + field->quantifier_offset);
    size_t size = field->type == PROTOBUF_C_TYPE_BYTES ? sizeof(ProtobufCBinaryData) : 8;
    size_t goal = aq_rng_below(&source->rng, REPEATED_MAX + 1);
    if (field->type == PROTOBUF_C_TYPE_UINT32 || field->type == PROTOBUF_C_TYPE_FIXED32 ||
        field->type == PROTOBUF_C_TYPE_FLOAT) {
        size = 4;
    }
    while (values != NULL && *count < goal && put(source, field, values + *count * size, depth)) {
        (*count)++;
    }
    *(void **)(void *)(message + field->offset) = values;
}

static ProtobufCMessage *make(hostile *source, const ProtobufCMessageDescriptor *type, int depth)
{
    uint8_t *message = take(source, type->sizeof_message);
    if (message == NULL) {
        return NULL;
    }
    protobuf_c_message_init(type, message);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 ||
            aq_rng_below(&source->rng, 8) == 0) {
            continue;
        }
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            put_repeated(source, field, message, depth);
        } else {
            (void)put(source, field, message + field->offset, depth);
        }
    }
    return (ProtobufCMessage *)(void *)message;
}

const ProtobufCMessage *hostile_message(hostile *source, const ProtobufCMessageDescriptor *type)
{
    source->size = 0;
    return make(source, type, 0);
}
