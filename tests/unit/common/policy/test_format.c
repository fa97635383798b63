/*
 * Formats: names, sizes, how levels and blocks are found.
 */
#include "common/policy/format.h"
#include "tests/support/test.h"

TEST(formats_have_names_both_ways)
{
    uint32_t format = 0;
    for (uint32_t i = 1; i <= AQ_FORMAT_COUNT; i++) {
        assert_true(aq_format_known(i));
        assert_int_equal(aq_format_parse(aq_format_name(i), &format, NULL), 0);
        assert_int_equal(format, i);
    }
    assert_int_equal(aq_format_parse("int8", &format, NULL), 0);
    assert_int_equal(format, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(aq_format_parse("unknown", &format, NULL), AQ_E_INVALID);
    assert_int_equal(aq_format_parse("", &format, NULL), AQ_E_INVALID);
    assert_int_equal(format, AQ_FORMAT_INT8_CHANNEL);
}

TEST(what_is_no_format_is_unknown)
{
    const uint32_t others[] = {AQ_FORMAT_COUNT + 1, UINT32_MAX};
    assert_false(aq_format_known(AQ_FORMAT_MIXED));
    assert_false(aq_format_is_integer(AQ_FORMAT_MIXED));
    for (int i = 0; i < 2; i++) {
        assert_false(aq_format_known(others[i]));
        assert_false(aq_format_is_integer(others[i]));
        assert_string_equal(aq_format_name(others[i]), "unknown");
    }
}

TEST(floats_of_any_width_are_not_integers)
{
    for (uint32_t i = 1; i <= AQ_FORMAT_COUNT; i++) {
        const bool is_float = i == AQ_FORMAT_F32 || i == AQ_FORMAT_F16 || i == AQ_FORMAT_BF16;
        assert_int_equal(aq_format_is_integer(i), !is_float);
    }
}

/* 5 rows of 67 columns: two groups, 17 columns of blocks in one row of them. */
TEST(sizes_are_those_of_the_format)
{
    const struct {
        uint32_t format;
        aq_tensor_sizes sizes;
    } rows[] = {
        {AQ_FORMAT_F32, {5 * 67 * 4, 0, 0, 0}},     {AQ_FORMAT_F16, {5 * 67 * 2, 0, 0, 0}},
        {AQ_FORMAT_BF16, {5 * 67 * 2, 0, 0, 0}},    {AQ_FORMAT_INT8_CHANNEL, {5 * 67, 5, 5, 0}},
        {AQ_FORMAT_INT8_TENSOR, {5 * 67, 1, 5, 0}}, {AQ_FORMAT_INT4, {5 * 34, 5 * 2, 0, 0}},
        {AQ_FORMAT_INT2, {5 * 17, 5 * 2, 0, 0}},    {AQ_FORMAT_INT8_SPARSE, {9 * 64, 5, 5, 3}},
    };
    assert_int_equal(sizeof(rows) / sizeof(rows[0]), AQ_FORMAT_COUNT);
    for (size_t i = 0; i < AQ_FORMAT_COUNT; i++) {
        const aq_tensor_sizes sizes = aq_format_sizes(rows[i].format, 5, 67, 9);
        assert_memory_equal(&sizes, &rows[i].sizes, sizeof(sizes));
    }
}

TEST(a_layer_without_parameters_takes_no_room)
{
    const aq_tensor_sizes nothing = {0};
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        const aq_tensor_sizes sizes = aq_format_sizes(format, 0, 0, 0);
        assert_memory_equal(&sizes, &nothing, sizeof(sizes));
    }
}

TEST(counts_are_rounded_up)
{
    assert_int_equal(aq_format_groups(1), 1);
    assert_int_equal(aq_format_groups(64), 1);
    assert_int_equal(aq_format_groups(65), 2);
    assert_int_equal(aq_block_row_count(16), 1);
    assert_int_equal(aq_block_row_count(17), 2);
    assert_int_equal(aq_block_column_count(4), 1);
    assert_int_equal(aq_block_column_count(5), 2);
    assert_int_equal(aq_block_mask_row_bytes(32), 1);
    assert_int_equal(aq_block_mask_row_bytes(33), 2);
}

TEST(packed_levels_are_twos_complement_lowest_first)
{
    const uint8_t bytes[] = {0xF7, 0x98};
    const int32_t nibbles[] = {7, -1, -8, -7};
    const int32_t pairs[] = {-1, 1, -1, -1, 0, -2, 1, -2};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(aq_packed_level(bytes, i, 4), nibbles[i]);
    }
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(aq_packed_level(bytes, i, 2), pairs[i]);
    }
}

TEST(a_mask_is_read_lowest_bit_first)
{
    const uint8_t mask[] = {0x05, 0x80};
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(aq_block_is_stored(mask, i), i == 0 || i == 2 || i == 15);
    }
}
