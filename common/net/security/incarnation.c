/*
 * Incarnation: see incarnation.h.
 */
#include "common/net/security/incarnation.h"

#include <mbedtls/sha256.h>

#include "common/base/assert.h"
#include "common/base/little_endian.h"
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

    if ((incarnation & NAME_BIT) != 0) {
        return incarnation;
    }
    aq_u64_put(text + sizeof(text) - 1 - 8, incarnation);
    int rc = mbedtls_sha256_ret(text, sizeof(text) - 1, hash, 0);
    AQ_ASSERT(rc == 0);
    return NAME_BIT | aq_u64_get(hash);
}
