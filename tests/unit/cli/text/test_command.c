/*
 * Arguments are checked with their bounds named; JSON numbers never become invalid JSON.
 */
#include <math.h>
#include <string.h>

#include "cli/text/command.h"
#include "tests/support/test.h"

TEST(a_number_at_either_bound_is_taken)
{
    uint64_t number = 0;
    assert_int_equal(aq_command_number("1", 1, 100, &number, NULL), 0);
    assert_int_equal(number, 1);
    assert_int_equal(aq_command_number("100", 1, 100, &number, NULL), 0);
    assert_int_equal(number, 100);
}

static void assert_number_refused(const char *text)
{
    uint64_t number = 7;
    aq_error error = {0};
    assert_int_equal(aq_command_number(text, 1, 100, &number, &error), AQ_E_INVALID);
    assert_int_equal(number, 7);
    assert_non_null(strstr(error.text, "from 1 to 100"));
    assert_non_null(strstr(error.text, text));
}

TEST(a_number_out_of_bounds_is_refused_with_the_bounds)
{
    assert_number_refused("0");
    assert_number_refused("101");
    assert_number_refused("18446744073709551616");
}

TEST(what_is_no_whole_number_is_refused)
{
    assert_number_refused("-5");
    assert_number_refused("1.5");
    assert_number_refused("ten");
    assert_number_refused("");
}

TEST(one_argument_is_taken)
{
    const char *place = NULL;
    assert_int_equal(aq_command_take(&place, "runs/first", NULL), 0);
    assert_string_equal(place, "runs/first");
}

TEST(a_second_argument_is_refused)
{
    const char *place = "runs/first";
    aq_error error = {0};
    assert_int_equal(aq_command_take(&place, "runs/second", &error), AQ_E_INVALID);
    assert_string_equal(place, "runs/first");
    assert_non_null(strstr(error.text, "runs/second"));
}

TEST(an_empty_argument_is_refused)
{
    const char *place = NULL;
    assert_int_equal(aq_command_take(&place, "", NULL), AQ_E_INVALID);
    assert_null(place);
}

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
