/*
 * Seal: a keyed sum over a message, in the eight bytes behind it. It shows that somebody sent
 * exactly these bytes who holds the key. Made for bulk: experience comes faster than SHA-256 reads.
 *
 * Each block of 1 KiB is hashed to 16 bytes by sums of products (NH, of UMAC) under a key of the
 * block's length, where two blocks meet by chance of 2^-64; SipHash-2-4 over these, what is left
 * and the length makes the sum (docs/decisions/0028-sealed-experience.md).
 *
 * Immutable once made: any thread.
 */
#ifndef AQ_COMMON_NET_SECURITY_SEAL_H
#define AQ_COMMON_NET_SECURITY_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AQ_SEAL_BYTES = 8, AQ_SEAL_KEY_BYTES = 16, AQ_SEAL_BLOCK_BYTES = 1024 };

typedef struct aq_seal {
    uint64_t block[AQ_SEAL_BLOCK_BYTES / 8];
    uint64_t sum[2];
} aq_seal;

void aq_seal_init(aq_seal *seal, const uint8_t key[AQ_SEAL_KEY_BYTES]);

/* Writes the sum over bytes[size]. */
void aq_seal_write(const aq_seal *seal, const uint8_t *bytes, size_t size,
                   uint8_t ret_sum[AQ_SEAL_BYTES]);

/* Whether bytes[size] end with the sum over what is before. */
bool aq_seal_is_whole(const aq_seal *seal, const uint8_t *bytes, size_t size);

/* SipHash-2-4 over bytes[size], under a key of two words. */
uint64_t aq_siphash(const uint64_t key[2], const uint8_t *bytes, size_t size);

#endif
