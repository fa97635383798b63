/*
 * Seal: see seal.h.
 */
#include "common/net/security/seal.h"

#include <string.h>

#include "common/base/little_endian.h"
#include "common/sys/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { STRIDE_BYTES = 64 }; /* that every rung takes whole */

/* ---- SipHash -------------------------------------------------------------------------------- */

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

static void begin(uint64_t v[4], const uint64_t key[2])
{
    v[0] = key[0] ^ UINT64_C(0x736f6d6570736575);
    v[1] = key[1] ^ UINT64_C(0x646f72616e646f6d);
    v[2] = key[0] ^ UINT64_C(0x6c7967656e657261);
    v[3] = key[1] ^ UINT64_C(0x7465646279746573);
}

static void take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

/* `rest` are the bytes that fill no word; `size` is that of all. */
static uint64_t finish(uint64_t v[4], uint64_t rest, size_t size)
{
    take(v, rest | (uint64_t)size << 56);
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t aq_siphash(const uint64_t key[2], const uint8_t *bytes, size_t size)
{
    const size_t whole = size - size % 8;
    uint64_t v[4];
    uint8_t rest[8] = {0};

    begin(v, key);
    for (size_t at = 0; at < whole; at += 8) {
        take(v, aq_u64_get(bytes + at));
    }
    memcpy(rest, bytes + whole, size - whole);
    return finish(v, aq_u64_get(rest), size);
}

/* ---- NH ------------------------------------------------------------------------------------- */

/* Adds to each of sums[2] those over pairs of words of (m + k)(m' + k'), sums of words modulo 2^32
 * and of products modulo 2^64; for the second the key begins two pairs later. Whole strides. */
typedef void nh_fn(const uint32_t *key, const uint8_t *bytes, size_t size, uint64_t sums[2]);

static uint64_t of_pair(uint64_t pair, const uint32_t *key)
{
    return (uint64_t)((uint32_t)pair + key[0]) * ((uint32_t)(pair >> 32) + key[1]);
}

static void nh_plain(const uint32_t *key, const uint8_t *bytes, size_t size, uint64_t sums[2])
{
    uint64_t first = 0, second = 0;

    for (size_t at = 0; at < size; at += 8, key += 2) {
        const uint64_t pair = aq_u64_get(bytes + at);

        first += of_pair(pair, key);
        second += of_pair(pair, key + AQ_SEAL_SHIFT_WORDS);
    }
    sums[0] += first;
    sums[1] += second;
}

#if defined(__x86_64__)
/* Each lane of 64 bits is a pair. */
__attribute__((target("avx2"))) static __m256i pairs_avx2(__m256i words, const uint32_t *key)
{
    const __m256i added = _mm256_add_epi32(words, _mm256_loadu_si256((const __m256i *)key));

    return _mm256_mul_epu32(added, _mm256_srli_epi64(added, 32));
}

__attribute__((target("avx2"))) static void nh_avx2(const uint32_t *key, const uint8_t *bytes,
                                                    size_t size, uint64_t sums[2])
{
    __m256i lanes[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    uint64_t parts[2][4];

    for (size_t at = 0; at < size; at += 32, key += 8) {
        const __m256i words = _mm256_loadu_si256((const __m256i *)(bytes + at));

        lanes[0] = _mm256_add_epi64(lanes[0], pairs_avx2(words, key));
        lanes[1] = _mm256_add_epi64(lanes[1], pairs_avx2(words, key + AQ_SEAL_SHIFT_WORDS));
    }
    for (int i = 0; i < 2; i++) {
        _mm256_storeu_si256((__m256i *)parts[i], lanes[i]);
        sums[i] += parts[i][0] + parts[i][1] + parts[i][2] + parts[i][3];
    }
}

__attribute__((target("avx512f"))) static __m512i pairs_avx512(__m512i words, const uint32_t *key)
{
    const __m512i added = _mm512_add_epi32(words, _mm512_loadu_si512(key));

    return _mm512_mul_epu32(added, _mm512_srli_epi64(added, 32));
}

__attribute__((target("avx512f"))) static void nh_avx512(const uint32_t *key, const uint8_t *bytes,
                                                         size_t size, uint64_t sums[2])
{
    __m512i lanes[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};

    for (size_t at = 0; at < size; at += 64, key += 16) {
        const __m512i words = _mm512_loadu_si512(bytes + at);

        lanes[0] = _mm512_add_epi64(lanes[0], pairs_avx512(words, key));
        lanes[1] = _mm512_add_epi64(lanes[1], pairs_avx512(words, key + AQ_SEAL_SHIFT_WORDS));
    }
    for (int i = 0; i < 2; i++) {
        uint64_t parts[8]; /* the compiler's own sum is of signed numbers, which may overflow */
        _mm512_storeu_si512(parts, lanes[i]);
        for (int k = 0; k < 8; k++) {
            sums[i] += parts[k];
        }
    }
}
#endif

static nh_fn *best_nh(void)
{
#if defined(__x86_64__)
    const uint32_t flags = aq_cpu_flags();

    if ((flags & AQ_CPU_AVX512) != 0) {
        return nh_avx512;
    }
    if ((flags & AQ_CPU_AVX2) != 0) {
        return nh_avx2;
    }
#endif
    return nh_plain;
}

/* The last stride counts as if zeros followed: how many they are, the seal's sum knows. */
static void hash_block(nh_fn *nh, const uint32_t *key, const uint8_t *bytes, size_t size,
                       uint64_t ret_hash[2])
{
    const size_t over = size % STRIDE_BYTES, whole = size - over;

    ret_hash[0] = 0;
    ret_hash[1] = 0;
    nh(key, bytes, whole, ret_hash);
    if (over > 0) {
        uint8_t last[STRIDE_BYTES] = {0};
        memcpy(last, bytes + whole, over);
        nh(key + whole / 4, last, sizeof(last), ret_hash);
    }
}

/* ---- the seal ------------------------------------------------------------------------------- */

static uint64_t derive(const uint64_t source[2], uint64_t i)
{
    uint8_t number[8];

    aq_u64_put(number, i);
    return aq_siphash(source, number, sizeof(number));
}

void aq_seal_init(aq_seal *seal, const uint8_t key[AQ_SEAL_KEY_BYTES])
{
    const uint64_t source[2] = {aq_u64_get(key), aq_u64_get(key + 8)};
    const size_t halves = sizeof(seal->block) / sizeof(seal->block[0]);

    for (size_t i = 0; i < halves; i++) {
        seal->block[i] = (uint32_t)derive(source, i);
    }
    for (size_t i = 0; i < 2; i++) {
        seal->sum[i] = derive(source, halves + i);
    }
}

/* `to` gets the bytes as well, a block at a time while they are near; NULL: nothing does. */
static uint64_t sum_over(const aq_seal *seal, const uint8_t *bytes, size_t size, uint8_t *to)
{
    nh_fn *const nh = best_nh();
    size_t taken = 8; /* bytes, by SipHash */
    uint64_t v[4], hash[2];

    begin(v, seal->sum);
    take(v, size);
    while (size > 0) {
        const size_t part = size < AQ_SEAL_BLOCK_BYTES ? size : AQ_SEAL_BLOCK_BYTES;

        hash_block(nh, seal->block, bytes, part, hash);
        take(v, hash[0]);
        take(v, hash[1]);
        taken += sizeof(hash);
        if (to != NULL) {
            memcpy(to, bytes, part);
            to += part;
        }
        bytes += part;
        size -= part;
    }
    return finish(v, 0, taken);
}

uint64_t aq_seal_sum(const aq_seal *seal, const uint8_t *bytes, size_t size)
{
    return sum_over(seal, bytes, size, NULL);
}

void aq_seal_copy(const aq_seal *seal, const uint8_t *bytes, size_t size, uint8_t *to)
{
    const uint64_t sum = sum_over(seal, bytes, size, to);

    aq_u64_put(to + size, sum);
}

bool aq_seal_is_whole(const aq_seal *seal, const uint8_t *bytes, size_t size)
{
    if (size < AQ_SEAL_BYTES) {
        return false;
    }
    size -= AQ_SEAL_BYTES;
    return sum_over(seal, bytes, size, NULL) == aq_u64_get(bytes + size);
}
