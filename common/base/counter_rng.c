/*
 * Philox4x32-10. In each round two of the counter's four words are multiplied to 64 bits; the high
 * halves are mixed with the other two words and with the key, which moves on by a Weyl sequence.
 */
#include "common/base/counter_rng.h"

enum { ROUNDS = 10 };

void aq_counter_bits(const uint32_t key[2], const uint32_t counter[4], uint32_t ret_bits[4])
{
    uint32_t k0 = key[0], k1 = key[1];
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];

    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t left = UINT64_C(0xD2511F53) * c0;
        const uint64_t right = UINT64_C(0xCD9E8D57) * c2;
        c0 = (uint32_t)(right >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)right;
        c2 = (uint32_t)(left >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)left;
        k0 += UINT32_C(0x9E3779B9); /* 2^32 times the golden ratio's fraction */
        k1 += UINT32_C(0xBB67AE85); /* 2^32 (sqrt(3) - 1) */
    }
    ret_bits[0] = c0;
    ret_bits[1] = c1;
    ret_bits[2] = c2;
    ret_bits[3] = c3;
}
