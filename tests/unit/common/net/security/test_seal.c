/*
 * Seals: the published sum, what changes one, and what does not.
 */
#include "common/net/security/seal.h"
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

/* Every bit counts, of what is sealed and of the seal, and so does where the message ends. */
TEST(a_changed_message_is_not_whole)
{
    static const size_t sizes[] = {0, 1, 7, 8, 1000, 1023, 1024, 1025, 3000};
    static uint8_t bytes[3000 + AQ_SEAL_BYTES + 1];
    aq_seal seal, other;
    aq_seal_init(&seal, key);
    aq_seal_init(&other, (const uint8_t[AQ_SEAL_KEY_BYTES]){1, 2, 4});
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(31 * i);
    }
    EACH_ROW(i, sizes) {
        size_t size = sizes[i] + AQ_SEAL_BYTES;
        aq_seal_write(&seal, bytes, sizes[i], bytes + sizes[i]);
        assert_true(aq_seal_is_whole(&seal, bytes, size));
        assert_false(aq_seal_is_whole(&other, bytes, size));
        assert_false(aq_seal_is_whole(&seal, bytes, size - 1));
        assert_false(aq_seal_is_whole(&seal, bytes, size + 1));
        for (size_t at = 0; at < size; at++) {
            bytes[at] ^= (uint8_t)(1 << at % 8);
            assert_false(aq_seal_is_whole(&seal, bytes, size));
            bytes[at] ^= (uint8_t)(1 << at % 8);
        }
    }
}

TEST(blocks_in_another_order_are_another_message)
{
    uint8_t bytes[2 * AQ_SEAL_BLOCK_BYTES] = {0};
    uint8_t one[AQ_SEAL_BYTES], two[AQ_SEAL_BYTES];
    aq_seal seal;
    aq_seal_init(&seal, key);
    bytes[0] = 1;
    aq_seal_write(&seal, bytes, sizeof(bytes), one);
    bytes[0] = 0;
    bytes[AQ_SEAL_BLOCK_BYTES] = 1;
    aq_seal_write(&seal, bytes, sizeof(bytes), two);
    assert_memory_not_equal(one, two, sizeof(one));
}
