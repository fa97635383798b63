/*
 * Wire scan: the fields of a protobuf message one after the other, where they lie. For envelopes,
 * and messages whose columns are too large to be copied by a parser: nothing is allocated, nothing
 * is copied.
 *
 *   for (rc = aq_wire_scan_next(&scan, &field); rc > 0; rc = aq_wire_scan_next(&scan, &field)) ...
 *
 * Accepts what protobuf-c 1.4 accepts. Fields may come in any order and more than once; of one that
 * isn't repeated, the last counts; what a reader doesn't know, it passes over. Any thread.
 */
#ifndef AQ_COMMON_NET_RPC_WIRE_SCAN_H
#define AQ_COMMON_NET_RPC_WIRE_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

/* The numbers are protobuf's. Groups (3 and 4) are refused: they went with its version 2. */
enum aq_wire_type {
    AQ_WIRE_VARINT = 0,
    AQ_WIRE_FIXED64 = 1,
    AQ_WIRE_BYTES = 2, /* bytes, texts and messages */
    AQ_WIRE_FIXED32 = 5,
};

typedef struct aq_wire_scan {
    const uint8_t *at, *end;
} aq_wire_scan;

typedef struct aq_wire_field {
    uint32_t number;
    uint32_t type;        /* enum aq_wire_type */
    uint64_t value;       /* of the numbers */
    const uint8_t *bytes; /* of AQ_WIRE_BYTES: within what is scanned */
    size_t size;
} aq_wire_field;

static inline aq_wire_scan aq_wire_scan_of(const uint8_t *bytes, size_t size)
{
    return (aq_wire_scan){.at = bytes, .end = bytes + size};
}

/* 1: *ret_field is the next field; 0: there is none any more; AQ_E_CORRUPT: the bytes from here on
 * are no protobuf message. */
int aq_wire_scan_next(aq_wire_scan *scan, aq_wire_field *ret_field) AQ_MUST_USE;

#endif
