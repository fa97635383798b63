/*
 * What all codecs share: a protobuf-c message into a frame, a frame back into a message, and a
 * column of bytes into an array.
 *
 * Columns travel as the processor has them in memory and are copied, never swapped, so both ends
 * must be little-endian with IEEE 754 floats.
 *
 * Any thread; nothing is shared.
 */
#ifndef AQ_COMMON_WIRE_WIRE_FRAME_H
#define AQ_COMMON_WIRE_WIRE_FRAME_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/net/rpc/frame.h"
#include "common/net/rpc/rpc_envelope.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "columns travel in memory order, which the protocol says is little-endian; a "
               "big-endian processor needs code that swaps");
_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "floats travel as IEEE 754");

/* protobuf-c knows no const. Packing only reads, so a view of const data is safe to pack; it must
 * never be given to a function that frees. (Its __INIT macros cast const away where a message has
 * texts; the generated __init functions do the same without a warning.) */
static inline ProtobufCBinaryData aq_wire_bytes(const void *bytes, size_t size)
{
    return (ProtobufCBinaryData){.len = size, .data = (uint8_t *)(uintptr_t)bytes};
}

static inline void *aq_wire_lend(const void *array)
{
    return (void *)(uintptr_t)array;
}

static inline char *aq_wire_text(const char *text)
{
    return (char *)(uintptr_t)text;
}

/* ---- out ----------------------------------------------------------------------------------- */

/* Appends a frame that holds the message. Fails as aq_message_append does. */
int aq_wire_frame_pack(const ProtobufCMessage *message, enum aq_frame_kind kind,
                       aq_buffer *out) AQ_MUST_USE;

/* ---- in ------------------------------------------------------------------------------------ */

/* Checks the frame and unpacks its message, which takes at most 2 MiB more memory than the frame
 * itself, whatever it claims. AQ_E_NOMEM, AQ_E_CORRUPT, or as aq_frame_check. Free the message with
 * aq_message_free. */
int aq_wire_frame_unpack(const uint8_t *bytes, size_t size, enum aq_frame_kind kind,
                         const ProtobufCMessageDescriptor *descriptor,
                         ProtobufCMessage **ret_message, aq_error *error) AQ_MUST_USE;

/* AQ_E_CORRUPT, naming the column, unless it is exactly rows * row_bytes long. The product must not
 * overflow. */
int aq_wire_column_check(const ProtobufCBinaryData *column, const char *name, size_t rows,
                         size_t row_bytes, aq_error *error) AQ_MUST_USE;

/* Copies a column that was checked. */
void aq_wire_column_copy(void *to, const ProtobufCBinaryData *column);

/* AQ_E_CORRUPT, naming it, for a text that does not fit into out[size] with its end. */
int aq_wire_text_copy(char *out, size_t size, const char *text, const char *name,
                      aq_error *error) AQ_MUST_USE;

#endif
