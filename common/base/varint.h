/*
 * Varint: how protobuf writes a number. Seven bits a byte, lowest first; the last byte has no top
 * bit.
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_BASE_VARINT_H
#define AQ_COMMON_BASE_VARINT_H

#include <stdbool.h>
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

/* Reads one of at most `bytes_max` bytes, and moves `*at` past it. False: it does not end before
 * `end`, or is longer. Bits past the 64th drop out. */
static inline bool aq_varint_get(const uint8_t **at, const uint8_t *end, size_t bytes_max,
                                 uint64_t *ret_value)
{
    const size_t left = (size_t)(end - *at);
    const size_t limit = left < bytes_max ? left : bytes_max;
    uint64_t value = 0;
    for (size_t i = 0; i < limit; i++) {
        const uint8_t byte = (*at)[i];
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *at += i + 1;
            *ret_value = value;
            return true;
        }
    }
    return false;
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
