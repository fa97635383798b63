/*
 * JSON numbers never become invalid JSON.
 */
#include <math.h>
#include <string.h>

#include "cli/text/command.h"
#include "tests/support/test.h"

TEST(numbers_that_are_not_finite_are_null)
{
    json_t *values[] = {aq_json_number((double)NAN), aq_json_number((double)INFINITY),
                        aq_json_number(-(double)INFINITY)};
    for (int i = 0; i < 3; i++) {
        assert_true(json_is_null(values[i]));
        json_decref(values[i]);
    }
    json_t *number = aq_json_number(-1.5);
    assert_true(json_real_value(number) == -1.5);
    json_decref(number);
}

TEST(counts_past_63_bits_are_digits)
{
    json_t *greatest = aq_json_count(INT64_MAX);
    json_t *past = aq_json_count(UINT64_C(1) << 63);
    assert_int_equal(json_integer_value(greatest), INT64_MAX);
    assert_string_equal(json_string_value(past), "9223372036854775808");
    json_decref(greatest);
    json_decref(past);
}

TEST(a_text_that_is_not_utf8_is_made_plain)
{
    json_t *good = aq_json_text("run/\xc3\xa4");
    json_t *bad = aq_json_text("run/\xff.aq");
    assert_string_equal(json_string_value(good), "run/\xc3\xa4");
    assert_string_equal(json_string_value(bad), "run/?.aq");
    json_decref(good);
    json_decref(bad);
}
