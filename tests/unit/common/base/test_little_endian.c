/*
 * Numbers lie with their lowest byte first, wherever they begin, and read back.
 */
#include "common/base/little_endian.h"
#include "tests/support/test.h"

static const uint8_t BYTES[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0xf8};

TEST(the_lowest_byte_comes_first)
{
    assert_int_equal(aq_u16_get(BYTES), 0x0201);
    assert_int_equal(aq_u32_get(BYTES), 0x04030201);
    assert_true(aq_u64_get(BYTES) == UINT64_C(0xf807060504030201));
}

TEST(what_was_written_is_those_bytes_and_no_others)
{
    uint8_t out[10] = {0};
    const uint8_t zeros[10] = {0};
    aq_u16_put(out + 1, 0x0201);
    assert_memory_equal(out + 1, BYTES, 2);
    assert_memory_equal(out + 3, zeros, 7);
    aq_u32_put(out + 1, 0x04030201);
    assert_memory_equal(out + 1, BYTES, 4);
    assert_memory_equal(out + 5, zeros, 5);
    aq_u64_put(out + 1, UINT64_C(0xf807060504030201));
    assert_memory_equal(out + 1, BYTES, 8);
    assert_true(out[0] == 0 && out[9] == 0);
}
