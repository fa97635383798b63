/*
 * CRC-32C against the vectors of RFC 3720 (B.4), and the instruction against the tables.
 */
#include <pthread.h>

#include "common/base/crc32c.h"
#include "tests/support/test.h"

static void *compute(void *argument)
{
    uint32_t *crc = argument;
    *crc = aq_crc32c(0, "123456789", 9);
    return NULL;
}

/* The first in its file, before which none of the program uses crc32c: so the threads race. */
TEST(the_first_use_may_race)
{
    pthread_t threads[4];
    uint32_t crcs[4] = {0};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, compute, &crcs[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(crcs[i], UINT32_C(0xe3069283));
    }
}

static void assert_crc(const void *bytes, size_t size, uint32_t crc)
{
    assert_int_equal(aq_crc32c(0, bytes, size), crc);
    assert_int_equal(aq_crc32c_reference(0, bytes, size), crc);
}

TEST(the_vectors_of_the_standard_hold)
{
    uint8_t bytes[32];
    assert_crc("123456789", 9, UINT32_C(0xe3069283));
    memset(bytes, 0x00, sizeof(bytes));
    assert_crc(bytes, sizeof(bytes), UINT32_C(0x8a9136aa));
    memset(bytes, 0xff, sizeof(bytes));
    assert_crc(bytes, sizeof(bytes), UINT32_C(0x62a8ab43));
    for (uint8_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = i;
    }
    assert_crc(bytes, sizeof(bytes), UINT32_C(0x46dd794e));
    for (uint8_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(31 - i);
    }
    assert_crc(bytes, sizeof(bytes), UINT32_C(0x113fdb5c));
}

TEST(nothing_leaves_the_crc_as_it_is)
{
    assert_crc(NULL, 0, 0);
    assert_int_equal(aq_crc32c(UINT32_C(0x12345678), NULL, 0), UINT32_C(0x12345678));
}

TEST(both_paths_agree_at_every_length_and_start)
{
    uint8_t bytes[96];
    aq_rng rng = rng_of(1, 0);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)aq_rng_next(&rng);
    }
    for (size_t start = 0; start < 16; start++) {
        for (size_t size = 0; start + size <= sizeof(bytes); size++) {
            uint32_t seed = (uint32_t)aq_rng_next(&rng);
            assert_int_equal(aq_crc32c(seed, bytes + start, size),
                             aq_crc32c_reference(seed, bytes + start, size));
        }
    }
}

/* Long enough for the blocks that are summed side by side, and what is left of them. */
TEST(both_paths_agree_on_long_inputs)
{
    static uint8_t bytes[20000];
    aq_rng rng = rng_of(2, 0);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)aq_rng_next(&rng);
    }
    for (size_t size = 1500; size < sizeof(bytes) - 8; size += 1 + size / 40) {
        uint32_t seed = (uint32_t)aq_rng_next(&rng);
        size_t start = size % 8;
        assert_int_equal(aq_crc32c(seed, bytes + start, size),
                         aq_crc32c_reference(seed, bytes + start, size));
    }
}

TEST(parts_give_the_crc_of_the_whole)
{
    static const char text[] = "the quick brown fox jumps over the lazy dog";
    uint32_t whole = aq_crc32c(0, text, sizeof(text));
    for (size_t cut = 0; cut <= sizeof(text); cut++) {
        uint32_t crc = aq_crc32c(0, text, cut);
        assert_int_equal(aq_crc32c(crc, text + cut, sizeof(text) - cut), whole);
    }
}

TEST(every_flipped_bit_is_seen)
{
    uint8_t bytes[64] = {1, 2, 3};
    uint32_t crc = aq_crc32c(0, bytes, sizeof(bytes));
    for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        assert_int_not_equal(aq_crc32c(0, bytes, sizeof(bytes)), crc);
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
}
