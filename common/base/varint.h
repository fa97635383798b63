/*
 * Varint: how protobuf writes a number. Seven bits a byte, lowest first; the last byte has no top
 * bit.
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_BASE_VARINT_H
#define AQ_COMMON_BASE_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { AQ_VARINT_BYTES_MAX = 10 };

/* The bytes that it takes, 1 to AQ_VARINT_BYTES_MAX. */
static inline size_t aq_varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value >= 0x80; value >>= 7) {
        size++;
    }
    return size;
}

/* Returns the bytes written. */
static inline size_t aq_varint_put(uint8_t *out, uint64_t value)
{
    size_t size = 0;
    for (; value >= 0x80; value >>= 7) {
        out[size++] = (uint8_t)(value | 0x80);
    }
    out[size++] = (uint8_t)value;
    return size;
}

#endif
