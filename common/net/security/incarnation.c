/*
 * Incarnation: see incarnation.h.
 */
#include "common/net/security/incarnation.h"

#include <mbedtls/sha256.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/rng.h"

/* Names have it, incarnations have not. */
#define NAME_BIT (UINT64_C(1) << 63)

uint64_t aq_incarnation_draw(void)
{
    uint64_t incarnation;

    do {
        incarnation = aq_rng_system_seed() & ~NAME_BIT;
    } while (incarnation == 0);
    return incarnation;
}

/* The first eight bytes of SHA-256 over a label and the incarnation, little-endian. */
uint64_t aq_incarnation_name(uint64_t incarnation)
{
    uint8_t text[] = "actorq incarnation........";
    uint8_t hash[32];
    uint64_t name = NAME_BIT;

    if ((incarnation & NAME_BIT) != 0) {
        return incarnation;
    }
    for (size_t i = 0; i < 8; i++) {
        text[sizeof(text) - 1 - 8 + i] = (uint8_t)(incarnation >> (8 * i));
    }
    int rc = mbedtls_sha256_ret(text, sizeof(text) - 1, hash, 0);
    AQ_ASSERT(rc == 0);
    for (size_t i = 0; i < 8; i++) {
        name |= (uint64_t)hash[i] << (8 * i);
    }
    return name;
}
