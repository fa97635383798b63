/*
 * JSON numbers never become invalid JSON.
 */
#include "common/sys/print_json.h"
#include "tests/support/test.h"

static void assert_json_null(json_t *value)
{
    assert_true(json_is_null(value));
    json_decref(value);
}

TEST(numbers_that_are_not_finite_are_null)
{
    json_t *number = aq_json_number(-1.5);
    assert_json_null(aq_json_number((double)NAN));
    assert_json_null(aq_json_number((double)INFINITY));
    assert_json_null(aq_json_number(-(double)INFINITY));
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

TEST(nothing_that_a_terminal_obeys_is_printed)
{
    FILE *const out = stdout;
    char *text = NULL;
    size_t size = 0;
    stdout = open_memstream(&text, &size);
    const int rc =
        aq_print_json(json_pack("[s]", "é\x1b\x7f\xc2\x80\xc2\x9b\xc2\xa0"), AQ_JSON_LINE, NULL);
    (void)fclose(stdout);
    stdout = out;
    assert_int_equal(rc, 0);
    assert_string_equal(text, "[\"é\\u001B\\u007F\\u0080\\u009B\xc2\xa0\"]\n");
    free(text);
}
