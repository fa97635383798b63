/*
 * No NaN and no infinity is overlooked, whatever its place; and columns in one block are apart.
 */
#include <float.h>

#include "common/base/arrays.h"
#include "common/experience/finite.h"
#include "tests/support/test.h"

enum { COUNT = 5000 };

TEST(no_values_are_all_finite)
{
    assert_int_equal(aq_find_nonfinite(NULL, 0), 0);
}

TEST(extreme_finite_values_pass)
{
    const float values[] = {0.0f, -0.0f, FLT_MAX, -FLT_MAX, FLT_MIN, FLT_TRUE_MIN, 1.0f};
    size_t count = sizeof(values) / sizeof(values[0]);
    assert_int_equal(aq_find_nonfinite(values, count), count);
}

TEST(a_bad_value_is_found_at_every_place)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    float *values = aq_alloc(COUNT, sizeof(*values));
    assert_non_null(values);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = bad[i % 3];
        assert_int_equal(aq_find_nonfinite(values, COUNT), i);
        values[i] = 1.0f;
    }
    assert_int_equal(aq_find_nonfinite(values, COUNT), COUNT);
    aq_free(values);
}

TEST(values_may_lie_at_any_alignment)
{
    const float bad = -INFINITY, good = -1.0f;
    for (size_t shift = 0; shift < 8; shift++) {
        const size_t count = 77;
        uint8_t *block = malloc(shift + count * sizeof(float)); /* ends where they end */
        assert_non_null(block);
        memset(block, 0x7e, shift + count * sizeof(float));
        for (size_t i = 0; i < count; i++) {
            uint8_t *at = block + shift + i * sizeof(float);
            memcpy(at, &bad, sizeof(bad));
            assert_int_equal(aq_find_nonfinite(block + shift, count), i);
            memcpy(at, &good, sizeof(good));
        }
        assert_int_equal(aq_find_nonfinite(block + shift, count), count);
        free(block);
    }
}

TEST(the_first_of_several_is_found)
{
    float *values = aq_alloc(COUNT, sizeof(*values));
    assert_non_null(values);
    values[1500] = values[3000] = NAN;
    assert_int_equal(aq_find_nonfinite(values, COUNT), 1500);
    assert_int_equal(aq_find_nonfinite(values, 1500), 1500); /* not past what it was given */
    aq_free(values);
}

TEST(signalling_patterns_are_found)
{
    const uint32_t patterns[] = {0x7f800001u, 0x7fbfffffu, 0xff800001u, 0xffffffffu};
    for (size_t i = 0; i < 4; i++) {
        float value;
        memcpy(&value, &patterns[i], sizeof(value));
        assert_int_equal(aq_find_nonfinite(&value, 1), 0);
    }
}

TEST(columns_are_aligned_and_do_not_overlap)
{
    size_t bytes = 13, end = 13;
    for (size_t count = 0; count < 200; count++) {
        size_t offset = aq_arrays_add(&bytes, count, 3);
        assert_int_equal(offset % AQ_ALIGNMENT_BYTES, 0);
        assert_true(offset >= end);
        assert_int_equal(bytes, offset + 3 * count);
        end = bytes;
    }
}

TEST(columns_that_cannot_be_addressed_cannot_be_allocated)
{
    size_t bytes = 100;
    aq_arrays_add(&bytes, SIZE_MAX / 2, 4);
    assert_true(bytes == SIZE_MAX);
    aq_arrays_add(&bytes, 1, 1);
    assert_true(bytes == SIZE_MAX);
    assert_null(aq_alloc(1, bytes));
}
