/*
 * Messages into frames and back.
 *
 * protobuf-c allocates as it parses, and a hostile message can make two bytes cost a hundred and
 * fifty. So it gets a budget: the columns, which are bounded by the size of the frame, and a fixed
 * allowance for everything else.
 */
#include "common/wire/wire_frame.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"

/* Far more than what is read so has, which is checkpoints and deltas. */
#define STRUCTURE_BYTES_MAX ((size_t)2 << 20)

int aq_wire_frame_pack(const ProtobufCMessage *message, enum aq_frame_kind kind, aq_buffer *out)
{
    size_t start;
    int rc = aq_frame_begin(out, &start);
    if (rc != 0) {
        return rc;
    }
    return aq_frame_finish(out, start, kind, false, aq_message_append(message, out));
}

int aq_wire_frame_unpack(const uint8_t *bytes, size_t size, enum aq_frame_kind kind,
                         const ProtobufCMessageDescriptor *descriptor,
                         ProtobufCMessage **ret_message, aq_error *error)
{
    const uint8_t *payload;
    size_t payload_size;
    int rc = aq_frame_check(bytes, size, kind, &payload, &payload_size, error);
    if (rc != 0) {
        return rc;
    }
    ProtobufCMessage *message;
    rc = aq_message_unpack_within(payload_size + STRUCTURE_BYTES_MAX, descriptor, payload,
                                  payload_size, &message);
    if (rc == AQ_E_NOMEM) {
        return aq_fail(error, rc, "no memory for a message of %zu bytes", payload_size);
    }
    if (rc != 0) {
        return aq_fail(error, AQ_E_CORRUPT, "the %zu bytes in the frame are no %s", payload_size,
                       descriptor->short_name);
    }
    *ret_message = message;
    return 0;
}

int aq_wire_column_check(const ProtobufCBinaryData *column, const char *name, size_t rows,
                         size_t row_bytes, aq_error *error)
{
    size_t expected;
    bool overflow = __builtin_mul_overflow(rows, row_bytes, &expected);
    AQ_ASSERT(!overflow);
    if (column->len != expected) {
        return aq_fail(error, AQ_E_CORRUPT, "%s is %zu bytes long, not %zu times %zu", name,
                       column->len, rows, row_bytes);
    }
    return 0;
}

void aq_wire_column_copy(void *to, const ProtobufCBinaryData *column)
{
    if (column->len > 0) { /* protobuf-c has no pointer to an empty one */
        memcpy(to, column->data, column->len);
    }
}

int aq_wire_text_copy(char *out, size_t size, const char *text, const char *name, aq_error *error)
{
    if (aq_text_set(out, size, text) != 0) {
        return aq_fail(error, AQ_E_CORRUPT, "%s is longer than %zu bytes", name, size - 1);
    }
    return 0;
}
