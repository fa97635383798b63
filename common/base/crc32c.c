/*
 * CRC-32C: polynomial 0x1edc6f41, reflected, inverted at both ends. Any thread.
 *
 * The portable path is "slicing by eight" (M. Kounavis and F. Berry, 2005): eight tables let eight
 * bytes be folded with independent look-ups. The tables are computed at first use rather than
 * committed as 2,048 numbers nobody can review.
 *
 * The instruction of SSE4.2 takes three cycles for eight bytes, but can begin anew in each of them:
 * so three blocks are summed side by side and joined. A crc is linear, therefore what the bytes of
 * one block contribute after the zeros of the next is four look-ups in tables made for that many
 * zeros.
 */
#include "common/base/crc32c.h"

#include <pthread.h>
#include <string.h>

#include "common/base/assert.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#define POLYNOMIAL_REFLECTED UINT32_C(0x82f63b78)

typedef uint32_t (*crc_fn)(uint32_t crc, const uint8_t *bytes, size_t size);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t tables[8][256]; /* tables[k][b]: the crc of byte b followed by k zero bytes */
static crc_fn best;

static uint32_t update_by_tables(uint32_t crc, const uint8_t *bytes, size_t size)
{
    while (size >= 8) {
        crc ^= (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
               (uint32_t)bytes[3] << 24;
        crc = tables[7][crc & 0xff] ^ tables[6][(crc >> 8) & 0xff] ^ tables[5][(crc >> 16) & 0xff] ^
              tables[4][crc >> 24] ^ tables[3][bytes[4]] ^ tables[2][bytes[5]] ^
              tables[1][bytes[6]] ^ tables[0][bytes[7]];
        bytes += 8;
        size -= 8;
    }
    for (size_t i = 0; i < size; i++) {
        crc = tables[0][(crc ^ bytes[i]) & 0xff] ^ (crc >> 8);
    }
    return crc;
}

#if defined(__x86_64__)
enum { BLOCK_BYTES = 512 };

static uint32_t zeros[4][256]; /* zeros[k][b]: byte k of a crc, followed by BLOCK_BYTES zeros */

static uint32_t behind_a_block(uint32_t crc)
{
    return zeros[0][crc & 0xff] ^ zeros[1][(crc >> 8) & 0xff] ^ zeros[2][(crc >> 16) & 0xff] ^
           zeros[3][crc >> 24];
}

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    return word;
}

__attribute__((target("sse4.2"))) static uint32_t
update_by_instruction(uint32_t crc, const uint8_t *bytes, size_t size)
{
    uint64_t wide = crc;

    for (; size >= 3 * BLOCK_BYTES; bytes += 3 * BLOCK_BYTES, size -= 3 * BLOCK_BYTES) {
        uint64_t second = 0, third = 0;

        for (size_t i = 0; i < BLOCK_BYTES; i += 8) {
            wide = _mm_crc32_u64(wide, word_at(bytes + i));
            second = _mm_crc32_u64(second, word_at(bytes + BLOCK_BYTES + i));
            third = _mm_crc32_u64(third, word_at(bytes + 2 * (size_t)BLOCK_BYTES + i));
        }
        second ^= behind_a_block((uint32_t)wide);
        wide = third ^ behind_a_block((uint32_t)second);
    }
    for (; size >= 8; bytes += 8, size -= 8) {
        wide = _mm_crc32_u64(wide, word_at(bytes));
    }
    crc = (uint32_t)wide;
    for (size_t i = 0; i < size; i++) {
        crc = _mm_crc32_u8(crc, bytes[i]);
    }
    return crc;
}

static void prepare_zeros(void)
{
    static const uint8_t block[BLOCK_BYTES];

    for (unsigned k = 0; k < 4; k++) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            zeros[k][byte] = update_by_tables(byte << (8 * k), block, sizeof(block));
        }
    }
}
#endif

static void prepare(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;

        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? POLYNOMIAL_REFLECTED : 0);
        }
        tables[0][byte] = crc;
    }
    for (int k = 1; k < 8; k++) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t crc = tables[k - 1][byte];

            tables[k][byte] = tables[0][crc & 0xff] ^ (crc >> 8);
        }
    }
    best = update_by_tables;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) {
        prepare_zeros();
        best = update_by_instruction;
    }
#endif
}

static void prepare_once(void)
{
    int rc = pthread_once(&once, prepare);

    AQ_ASSERT(rc == 0);
}

uint32_t aq_crc32c(uint32_t crc, const void *bytes, size_t size)
{
    prepare_once();
    return ~best(~crc, bytes, size);
}

uint32_t aq_crc32c_reference(uint32_t crc, const void *bytes, size_t size)
{
    prepare_once();
    return ~update_by_tables(~crc, bytes, size);
}
