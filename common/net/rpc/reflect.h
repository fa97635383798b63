/*
 * Reflection: protobuf-c messages to JSON and back, by their descriptors, for `actorq call`,
 * `actorq status --json` and for people. protobuf's own JSON mapping in the essentials: 64-bit
 * numbers are JSON integers here (jansson keeps them whole; those from 2^63 on, which it can't
 * hold, are strings of digits), bytes are base64, enums are names, fields keep their proto names,
 * absent messages are left out, NaN and infinities are strings.
 *
 * It knows the kinds of fields that messages of services have (proto/README.md).
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_NET_RPC_REFLECT_H
#define AQ_COMMON_NET_RPC_REFLECT_H

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "common/base/error.h"

/* A new reference; NULL when out of memory. Strings that are not UTF-8 are shown with U+FFFD where
 * they are not. */
json_t *aq_reflect_to_json(const ProtobufCMessage *message) AQ_MUST_USE;

/* Unknown field, wrong type, number out of range: AQ_E_INVALID, naming the field's path. null
 * stands for an absent field, an enum may be given by name or by number, an integer as a string of
 * digits. Free with protobuf_c_message_free_unpacked(message, NULL). */
int aq_reflect_from_json(const ProtobufCMessageDescriptor *descriptor, const json_t *json,
                         ProtobufCMessage **ret_message, aq_error *error) AQ_MUST_USE;

/* A JSON sketch of the message with every field's zero, to show what a call takes: a repeated field
 * with one element. A new reference; NULL when out of memory. */
json_t *aq_reflect_template(const ProtobufCMessageDescriptor *descriptor) AQ_MUST_USE;

#endif
