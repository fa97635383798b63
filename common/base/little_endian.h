/*
 * Little-endian: how every number of ours lies in files and messages, whatever the machine's order
 * of bytes. Each is one load or store, as a loop over its bytes is not.
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_BASE_LITTLE_ENDIAN_H
#define AQ_COMMON_BASE_LITTLE_ENDIAN_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define AQ_LITTLE_ENDIAN(bits, value) (value)
#else
#define AQ_LITTLE_ENDIAN(bits, value) __builtin_bswap##bits(value)
#endif

static inline uint16_t aq_u16_get(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof(value));
    return AQ_LITTLE_ENDIAN(16, value);
}

static inline uint32_t aq_u32_get(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return AQ_LITTLE_ENDIAN(32, value);
}

static inline uint64_t aq_u64_get(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return AQ_LITTLE_ENDIAN(64, value);
}

static inline void aq_u16_put(uint8_t *at, uint16_t value)
{
    value = AQ_LITTLE_ENDIAN(16, value);
    memcpy(at, &value, sizeof(value));
}

static inline void aq_u32_put(uint8_t *at, uint32_t value)
{
    value = AQ_LITTLE_ENDIAN(32, value);
    memcpy(at, &value, sizeof(value));
}

static inline void aq_u64_put(uint8_t *at, uint64_t value)
{
    value = AQ_LITTLE_ENDIAN(64, value);
    memcpy(at, &value, sizeof(value));
}

#undef AQ_LITTLE_ENDIAN

#endif
