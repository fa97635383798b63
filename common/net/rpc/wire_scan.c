/*
 * One bounded step after the other: no read goes past `end`, whatever a length says.
 */
#include "common/net/rpc/wire_scan.h"

#include <stdbool.h>

#include "common/base/little_endian.h"
#include "common/base/varint.h"

enum { TAG_BYTES_MAX = 5, LENGTH_BYTES_MAX = 5 };

/* protobuf's own limit, and protobuf-c's. */
#define LENGTH_MAX ((uint64_t)INT32_MAX)

static size_t bytes_left(const aq_wire_scan *scan)
{
    return (size_t)(scan->end - scan->at);
}

/* Of 4 or 8 bytes. */
static bool read_fixed(aq_wire_scan *scan, size_t size, uint64_t *ret_value)
{
    if (bytes_left(scan) < size) {
        return false;
    }
    *ret_value = size == 8 ? aq_u64_get(scan->at) : aq_u32_get(scan->at);
    scan->at += size;
    return true;
}

static bool read_bytes(aq_wire_scan *scan, aq_wire_field *field)
{
    uint64_t size;
    if (!aq_varint_get(&scan->at, scan->end, LENGTH_BYTES_MAX, &size) || size > LENGTH_MAX ||
        size > bytes_left(scan)) {
        return false;
    }
    field->bytes = scan->at;
    field->size = (size_t)size;
    scan->at += size;
    return true;
}

static bool read_field(aq_wire_scan *scan, aq_wire_field *field)
{
    /* Number 0 is nobody's, unless it is written in more bytes than it needs. */
    bool is_nameless = (*scan->at & 0xf8) == 0;
    uint64_t tag;
    if (is_nameless || !aq_varint_get(&scan->at, scan->end, TAG_BYTES_MAX, &tag)) {
        return false;
    }
    field->number = (uint32_t)(tag >> 3);
    field->type = (uint32_t)(tag & 7);
    switch (field->type) {
    case AQ_WIRE_VARINT:
        return aq_varint_get(&scan->at, scan->end, AQ_VARINT_BYTES_MAX, &field->value);
    case AQ_WIRE_FIXED64:
        return read_fixed(scan, 8, &field->value);
    case AQ_WIRE_BYTES:
        return read_bytes(scan, field);
    case AQ_WIRE_FIXED32:
        return read_fixed(scan, 4, &field->value);
    default:
        return false;
    }
}

int aq_wire_scan_next(aq_wire_scan *scan, aq_wire_field *ret_field)
{
    aq_wire_field field = {.value = 0};
    if (scan->at == scan->end) {
        return 0;
    }
    if (!read_field(scan, &field)) {
        return AQ_E_CORRUPT;
    }
    *ret_field = field;
    return 1;
}
