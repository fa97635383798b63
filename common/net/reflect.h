/*
 * Reflection: protobuf-c messages to JSON and back, by their descriptors, for `actorq call`,
 * `actorq status --json` and for people. protobuf's own JSON mapping in the essentials: 64-bit
 * numbers are JSON integers here (jansson keeps them whole), bytes are base64, enums are names,
 * fields keep their proto names, absent messages are left out, NaN and infinities are strings.
 */
#ifndef AQ_COMMON_NET_REFLECT_H
#define AQ_COMMON_NET_REFLECT_H

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "common/base/error.h"

/* A new reference; NULL when out of memory. */
json_t *aq_reflect_to_json(const ProtobufCMessage *message) AQ_MUST_USE;

/* Unknown field, wrong type, number out of range: AQ_E_INVALID, naming the field's path. Free with
 * protobuf_c_message_free_unpacked(message, NULL). */
int aq_reflect_from_json(const ProtobufCMessageDescriptor *descriptor, const json_t *json,
                         ProtobufCMessage **ret_message, aq_error *error) AQ_MUST_USE;

/* A JSON sketch of the message with every field's default, to show what a call takes. */
json_t *aq_reflect_template(const ProtobufCMessageDescriptor *descriptor) AQ_MUST_USE;

#endif
