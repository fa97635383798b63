/*
 * Seals: the published sum, what changes one, and what does not.
 */
#include "common/net/security/seal.h"
#include "common/sys/cpu.h"
#include "tests/support/test.h"

/* Of the paper on SipHash, its appendix A. */
TEST(siphash_is_siphash)
{
    uint8_t bytes[15];
    const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)i;
    }
    assert_true(aq_siphash(key, bytes, sizeof(bytes)) == UINT64_C(0xa129ca6149be45e5));
}

static const uint8_t key[AQ_SEAL_KEY_BYTES] = {1, 2, 3};

enum { SEALED_MAX = AQ_SEAL_BLOCK_BYTES + 64 };

static uint8_t bytes[SEALED_MAX], sealed[SEALED_MAX + AQ_SEAL_BYTES + 1];

static void fill(void)
{
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(i * i >> 3);
    }
}

static const size_t sizes[] = {0, 1, 31, 63, 64, 65, 1000, 4095, 4096, 4097, SEALED_MAX};

/* Every bit counts, of what is sealed and of the seal, and so does where the message ends. */
TEST(a_changed_message_is_not_whole)
{
    aq_seal seal, other;
    aq_seal_init(&seal, key);
    aq_seal_init(&other, (const uint8_t[AQ_SEAL_KEY_BYTES]){1, 2, 4});
    fill();
    EACH_ROW(i, sizes) {
        size_t size = sizes[i] + AQ_SEAL_BYTES;
        aq_seal_copy(&seal, bytes, sizes[i], sealed);
        assert_memory_equal(sealed, bytes, sizes[i]);
        assert_true(aq_seal_is_whole(&seal, sealed, size));
        assert_false(aq_seal_is_whole(&other, sealed, size));
        assert_false(aq_seal_is_whole(&seal, sealed, size - 1));
        assert_false(aq_seal_is_whole(&seal, sealed, size + 1));
        for (size_t at = 0; at < size; at++) {
            sealed[at] ^= (uint8_t)(1 << at % 8);
            assert_false(aq_seal_is_whole(&seal, sealed, size));
            sealed[at] ^= (uint8_t)(1 << at % 8);
        }
    }
}

static int allow_all(void **state)
{
    (void)state;
    aq_cpu_set_mask(UINT32_MAX);
    return 0;
}

/* Hosts of one run differ. */
TEST_WITH(every_rung_makes_the_same_sum, allow_all, allow_all)
{
    static const char *const rungs[] = {"scalar", "avx2", "avx512"};
    aq_seal seal;
    aq_seal_init(&seal, key);
    fill();
    EACH_ROW(i, sizes) {
        aq_seal_copy(&seal, bytes, sizes[i], sealed);
        EACH_ROW(r, rungs) {
            uint32_t mask;
            assert_int_equal(aq_cpu_mask_from_text(rungs[r], &mask), 0);
            aq_cpu_set_mask(mask);
            assert_true(aq_seal_is_whole(&seal, sealed, sizes[i] + AQ_SEAL_BYTES));
        }
    }
}

TEST(blocks_in_another_order_are_another_message)
{
    uint8_t two[2 * AQ_SEAL_BLOCK_BYTES + AQ_SEAL_BYTES] = {0};
    static uint8_t blocks[2 * AQ_SEAL_BLOCK_BYTES] = {1};
    aq_seal seal;
    aq_seal_init(&seal, key);
    aq_seal_copy(&seal, blocks, sizeof(blocks), two);
    two[0] = 0;
    two[AQ_SEAL_BLOCK_BYTES] = 1;
    assert_false(aq_seal_is_whole(&seal, two, sizeof(two)));
}
