/*
 * FNV-1a over 32-bit words: how a description (schema, network) becomes 64 bits that two processes
 * can compare. Words are hashed low byte first, so the result doesn't depend on the processor.
 *
 * Not a defence against somebody who wants a collision; it catches misconfiguration.
 */
#ifndef AQ_COMMON_BASE_FNV1A_H
#define AQ_COMMON_BASE_FNV1A_H

#include <stdint.h>

#define AQ_FNV1A_START UINT64_C(0xcbf29ce484222325)
#define AQ_FNV1A_PRIME UINT64_C(0x00000100000001b3)

static inline uint64_t aq_fnv1a_word(uint64_t hash, uint32_t word)
{
    for (unsigned shift = 0; shift < 32; shift += 8) {
        hash = (hash ^ ((word >> shift) & 0xffu)) * AQ_FNV1A_PRIME;
    }
    return hash;
}

/* 0 means "no hash yet" in messages, so a hash is never 0. */
static inline uint64_t aq_fnv1a_end(uint64_t hash)
{
    return hash != 0 ? hash : 1;
}

#endif
