/*
 * Seal: see seal.h.
 */
#define _DEFAULT_SOURCE /* le64toh */

#include "common/net/security/seal.h"

#include <endian.h>
#include <string.h>

__extension__ typedef unsigned __int128 product; /* of two words, and sums of such */

enum { BLOCK_WORDS = AQ_SEAL_BLOCK_BYTES / 8, HASH_BYTES = 16 };

/* Little-endian, as every number of ours. */
static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word)); /* a load; the same in a loop is eight of them */
    return le64toh(word);
}

static void put_word(uint8_t *at, uint64_t word)
{
    for (int i = 0; i < 8; i++) {
        at[i] = (uint8_t)(word >> (8 * i));
    }
}

/* ---- SipHash -------------------------------------------------------------------------------- */

/* Taken up in portions; what is left over waits for the next. */
typedef struct siphash {
    uint64_t v[4];
    uint8_t rest[8];
    size_t size; /* in all */
} siphash;

static uint64_t turned(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void rounds(uint64_t v[4], int count)
{
    for (int i = 0; i < count; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = turned(v[1], 13) ^ v[0];
        v[3] = turned(v[3], 16) ^ v[2];
        v[0] = turned(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = turned(v[3], 21) ^ v[0];
        v[1] = turned(v[1], 17) ^ v[2];
        v[2] = turned(v[2], 32);
    }
}

static void take_word(siphash *hash, uint64_t word)
{
    hash->v[3] ^= word;
    rounds(hash->v, 2);
    hash->v[0] ^= word;
}

static void begin(siphash *hash, const uint64_t key[2])
{
    *hash = (siphash){
        .v = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
              key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)}};
}

static void take(siphash *hash, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        size_t held = hash->size % 8;
        size_t more = size < 8 - held ? size : 8 - held;

        memcpy(hash->rest + held, bytes, more);
        hash->size += more;
        bytes += more;
        size -= more;
        if (hash->size % 8 == 0) {
            take_word(hash, word_at(hash->rest));
        }
    }
}

static uint64_t finish(siphash *hash)
{
    size_t size = hash->size;

    memset(hash->rest + size % 8, 0, 8 - size % 8);
    take_word(hash, word_at(hash->rest) | (uint64_t)size << 56);
    hash->v[2] ^= 0xff;
    rounds(hash->v, 4);
    return hash->v[0] ^ hash->v[1] ^ hash->v[2] ^ hash->v[3];
}

uint64_t aq_siphash(const uint64_t key[2], const uint8_t *bytes, size_t size)
{
    siphash hash;

    begin(&hash, key);
    take(&hash, bytes, size);
    return finish(&hash);
}

/* ---- the seal ------------------------------------------------------------------------------- */

void aq_seal_init(aq_seal *seal, const uint8_t key[AQ_SEAL_KEY_BYTES])
{
    const uint64_t source[2] = {word_at(key), word_at(key + 8)};

    for (uint64_t i = 0; i < BLOCK_WORDS + 2; i++) {
        uint8_t number[8];
        put_word(number, i);
        uint64_t word = aq_siphash(source, number, sizeof(number));
        if (i < BLOCK_WORDS) {
            seal->block[i] = word;
        } else {
            seal->sum[i - BLOCK_WORDS] = word;
        }
    }
}

/* Sum over pairs of words of (m + k)(m' + k'), modulo 2^128. */
static void hash_block(const uint64_t key[BLOCK_WORDS], const uint8_t *block,
                       uint8_t ret_hash[HASH_BYTES])
{
    product even = 0, odd = 0; /* two chains, so that neither waits for its carry */

    for (size_t i = 0; i < BLOCK_WORDS; i += 4) {
        even +=
            (product)(word_at(block + 8 * i) + key[i]) * (word_at(block + 8 * i + 8) + key[i + 1]);
        odd += (product)(word_at(block + 8 * i + 16) + key[i + 2]) *
               (word_at(block + 8 * i + 24) + key[i + 3]);
    }
    even += odd;
    put_word(ret_hash, (uint64_t)even);
    put_word(ret_hash + 8, (uint64_t)(even >> 64));
}

void aq_seal_write(const aq_seal *seal, const uint8_t *bytes, size_t size,
                   uint8_t ret_sum[AQ_SEAL_BYTES])
{
    uint8_t digest[HASH_BYTES];
    siphash hash;

    begin(&hash, seal->sum);
    put_word(digest, size);
    take(&hash, digest, 8);
    for (; size >= AQ_SEAL_BLOCK_BYTES; size -= AQ_SEAL_BLOCK_BYTES) {
        hash_block(seal->block, bytes, digest);
        take(&hash, digest, sizeof(digest));
        bytes += AQ_SEAL_BLOCK_BYTES;
    }
    take(&hash, bytes, size);
    put_word(ret_sum, finish(&hash));
}

bool aq_seal_is_whole(const aq_seal *seal, const uint8_t *bytes, size_t size)
{
    uint8_t sum[AQ_SEAL_BYTES];

    if (size < AQ_SEAL_BYTES) {
        return false;
    }
    aq_seal_write(seal, bytes, size - AQ_SEAL_BYTES, sum);
    return word_at(sum) == word_at(bytes + size - AQ_SEAL_BYTES);
}
