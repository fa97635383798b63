/*
 * JSON numbers never become invalid JSON.
 */
#include "cli/text/command.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST(numbers_that_are_not_finite_are_null)
{
    assert_true(json_is_null(cli_json(aq_json_number((double)NAN))));
    assert_true(json_is_null(cli_json(aq_json_number((double)INFINITY))));
    assert_true(json_is_null(cli_json(aq_json_number(-(double)INFINITY))));
    json_t *number = cli_json(aq_json_number(-1.5));
    assert_true(json_real_value(number) == -1.5);
}

TEST(counts_past_63_bits_are_digits)
{
    json_t *greatest = cli_json(aq_json_count(INT64_MAX));
    json_t *past = cli_json(aq_json_count(UINT64_C(1) << 63));
    assert_int_equal(json_integer_value(greatest), INT64_MAX);
    assert_string_equal(json_string_value(past), "9223372036854775808");
}

TEST(a_text_that_is_not_utf8_is_made_plain)
{
    json_t *good = cli_json(aq_json_text("run/\xc3\xa4"));
    json_t *bad = cli_json(aq_json_text("run/\xff.aq"));
    assert_string_equal(json_string_value(good), "run/\xc3\xa4");
    assert_string_equal(json_string_value(bad), "run/?.aq");
}
