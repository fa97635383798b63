/*
 * Messages into bytes and back, and the envelope of a call with its body packed in place.
 *
 * A body may be many megabytes of columns. So it is packed straight into the frame as the last
 * field of the envelope, and on the other side it is read where it lies: one copy each way less
 * than packing a message into a message. Any thread, no state.
 */
#ifndef AQ_COMMON_NET_RPC_RPC_ENVELOPE_H
#define AQ_COMMON_NET_RPC_RPC_ENVELOPE_H

#include <protobuf-c/protobuf-c.h>

#include "common/base/buffer.h"
#include "common/net/rpc/frame.h"

/* Appends the packed message, without a frame. AQ_E_TOO_BIG past the buffer's limit or past what a
 * protobuf message may take (2 GiB), AQ_E_NOMEM; the buffer is unchanged then. */
int aq_message_append(const ProtobufCMessage *message, aq_buffer *out) AQ_MUST_USE;

/* Appends to `out` one frame of `kind`: `envelope`, whose bytes field "body" is empty, with `body`
 * (NULL: none) in that field. AQ_E_TOO_BIG past out's limit, AQ_E_NOMEM: `out` is as it was. */
int aq_envelope_pack(aq_buffer *out, enum aq_frame_kind kind, const ProtobufCMessage *envelope,
                     const ProtobufCMessage *body) AQ_MUST_USE;

typedef struct aq_envelope {
    ProtobufCMessage *message; /* its field "body" need not hold the body */
    const uint8_t *body;       /* in the payload or in the message */
    size_t body_size;
} aq_envelope;

/* The envelope in a checked frame's payload, which must outlive it. AQ_E_CORRUPT when it is none,
 * AQ_E_NOMEM. */
int aq_envelope_unpack(const ProtobufCMessageDescriptor *descriptor, const uint8_t *payload,
                       size_t size, aq_envelope *ret_envelope) AQ_MUST_USE;

/* The message of a body. AQ_E_CORRUPT when it is none; AQ_E_TOO_BIG when it would take many times
 * more memory than it has bytes (only made-up messages do); AQ_E_NOMEM. Release both kinds of
 * message with aq_message_free; NULL is fine there. */
int aq_message_unpack(const ProtobufCMessageDescriptor *descriptor, const uint8_t *bytes,
                      size_t size, ProtobufCMessage **ret_message) AQ_MUST_USE;
void aq_message_free(ProtobufCMessage *message);

/* The same, AQ_E_TOO_BIG when it would take more than `bytes_max`. */
int aq_message_unpack_within(size_t bytes_max, const ProtobufCMessageDescriptor *descriptor,
                             const uint8_t *bytes, size_t size,
                             ProtobufCMessage **ret_message) AQ_MUST_USE;

#endif
