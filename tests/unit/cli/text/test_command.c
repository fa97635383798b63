/*
 * Arguments are checked with their bounds named; JSON numbers never become invalid JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "cli/text/command.h"

static void test_a_number_at_either_bound_is_taken(void **state)
{
    uint64_t number = 0;
    (void)state;
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

static void test_a_number_out_of_bounds_is_refused_with_the_bounds(void **state)
{
    (void)state;
    assert_number_refused("0");
    assert_number_refused("101");
    assert_number_refused("18446744073709551616");
}

static void test_what_is_no_whole_number_is_refused(void **state)
{
    (void)state;
    assert_number_refused("-5");
    assert_number_refused("1.5");
    assert_number_refused("ten");
    assert_number_refused("");
}

static void test_one_argument_is_taken(void **state)
{
    const char *place = NULL;
    (void)state;
    assert_int_equal(aq_command_take(&place, "runs/first", NULL), 0);
    assert_string_equal(place, "runs/first");
}

static void test_a_second_argument_is_refused(void **state)
{
    const char *place = "runs/first";
    aq_error error = {0};
    (void)state;
    assert_int_equal(aq_command_take(&place, "runs/second", &error), AQ_E_INVALID);
    assert_string_equal(place, "runs/first");
    assert_non_null(strstr(error.text, "runs/second"));
}

static void test_an_empty_argument_is_refused(void **state)
{
    const char *place = NULL;
    (void)state;
    assert_int_equal(aq_command_take(&place, "", NULL), AQ_E_INVALID);
    assert_null(place);
}

static void test_numbers_that_are_not_finite_are_null(void **state)
{
    (void)state;
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

static void test_counts_past_63_bits_are_digits(void **state)
{
    (void)state;
    json_t *greatest = aq_json_count(INT64_MAX);
    json_t *past = aq_json_count(UINT64_C(1) << 63);
    assert_int_equal(json_integer_value(greatest), INT64_MAX);
    assert_string_equal(json_string_value(past), "9223372036854775808");
    json_decref(greatest);
    json_decref(past);
}

static void test_a_text_that_is_not_utf8_is_made_plain(void **state)
{
    (void)state;
    json_t *good = aq_json_text("run/\xc3\xa4");
    json_t *bad = aq_json_text("run/\xff.aq");
    assert_string_equal(json_string_value(good), "run/\xc3\xa4");
    assert_string_equal(json_string_value(bad), "run/?.aq");
    json_decref(good);
    json_decref(bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_number_at_either_bound_is_taken),
        cmocka_unit_test(test_a_number_out_of_bounds_is_refused_with_the_bounds),
        cmocka_unit_test(test_what_is_no_whole_number_is_refused),
        cmocka_unit_test(test_one_argument_is_taken),
        cmocka_unit_test(test_a_second_argument_is_refused),
        cmocka_unit_test(test_an_empty_argument_is_refused),
        cmocka_unit_test(test_numbers_that_are_not_finite_are_null),
        cmocka_unit_test(test_counts_past_63_bits_are_digits),
        cmocka_unit_test(test_a_text_that_is_not_utf8_is_made_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
