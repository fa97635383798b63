/*
 * What both directions of reflection know about a message's fields: how large a value is in
 * the C structure. Private to reflection.
 */
#ifndef AQ_COMMON_NET_RPC_REFLECT_FIELD_H
#define AQ_COMMON_NET_RPC_REFLECT_FIELD_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of one value of the type in a message's structure or in a repeated field's array. */
static inline size_t aq_reflect_value_size(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_ENUM:
        return sizeof(uint32_t);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return sizeof(uint64_t);
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(char *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        return sizeof(ProtobufCMessage *);
    }
}

#endif
