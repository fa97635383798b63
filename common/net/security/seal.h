/*
 * Seal: a keyed sum over a message, in the eight bytes behind it. It shows that somebody sent
 * exactly these bytes who holds the key. Made for bulk: experience comes faster than SHA-256 reads.
 *
 * Each block of 4 KiB is hashed to two words by sums of products (NH, of UMAC) under a key of the
 * block's length, which is shifted for the second: two blocks meet in one by chance of 2^-32, in
 * both by 2^-64. SipHash-2-4 over the length and these makes the sum, the same on every rung
 * (docs/decisions/0028-sealed-experience.md).
 *
 * Immutable once made: any thread.
 */
#ifndef AQ_COMMON_NET_SECURITY_SEAL_H
#define AQ_COMMON_NET_SECURITY_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AQ_SEAL_BYTES = 8,
    AQ_SEAL_KEY_BYTES = 16,
    AQ_SEAL_BLOCK_BYTES = 4096,
    AQ_SEAL_SHIFT_WORDS = 4
};

typedef struct aq_seal {
    uint32_t block[AQ_SEAL_BLOCK_BYTES / 4 + AQ_SEAL_SHIFT_WORDS];
    uint64_t sum[2];
} aq_seal;

void aq_seal_init(aq_seal *seal, const uint8_t key[AQ_SEAL_KEY_BYTES]);

/* The sum over bytes[size]. */
uint64_t aq_seal_sum(const aq_seal *seal, const uint8_t *bytes, size_t size);

/* Copies bytes[size], and writes the sum over them behind the copy: one pass for both. */
void aq_seal_copy(const aq_seal *seal, const uint8_t *bytes, size_t size, uint8_t *to);

/* Whether bytes[size] end with the sum over what is before. */
bool aq_seal_is_whole(const aq_seal *seal, const uint8_t *bytes, size_t size);

/* SipHash-2-4 over bytes[size], under a key of two words. */
uint64_t aq_siphash(const uint64_t key[2], const uint8_t *bytes, size_t size);

#endif
