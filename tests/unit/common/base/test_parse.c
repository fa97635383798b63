/*
 * Numbers are parsed whole or not at all, and what people read is short.
 */
#include <float.h>

#include "common/base/parse.h"
#include "tests/support/test.h"

static void assert_u64(const char *text, uint64_t expected)
{
    uint64_t value = ~expected;
    assert_int_equal(aq_parse_u64(text, &value), 0);
    assert_true(value == expected);
}

static void assert_i64(const char *text, int64_t expected)
{
    int64_t value = ~expected;
    assert_int_equal(aq_parse_i64(text, &value), 0);
    assert_true(value == expected);
}

static void assert_f64(const char *text, double expected)
{
    double value = -77.0;
    assert_int_equal(aq_parse_f64(text, &value), 0);
    assert_true(value == expected);
}

TEST(whole_numbers_up_to_the_limits_are_read)
{
    assert_u64("0", 0);
    assert_u64("007", 7);
    assert_u64("18446744073709551615", UINT64_MAX);
    assert_i64("-1", -1);
    assert_i64("9223372036854775807", INT64_MAX);
    assert_i64("-9223372036854775808", INT64_MIN);
}

TEST(what_is_no_whole_number_is_refused_and_changes_nothing)
{
    static const char *const bad[] = {
        "",      " ",     " 1", "1 ",  "+1", "1.0", "1e5", "0x10",
        "1_000", "1,000", "-",  "abc", "1a", "\t1", "--1",
    };
    uint64_t natural = 42;
    int64_t integer = 42;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(aq_parse_u64(bad[i], &natural), AQ_E_INVALID);
        assert_int_equal(aq_parse_i64(bad[i], &integer), AQ_E_INVALID);
    }
    assert_int_equal(natural, 42);
    assert_int_equal(integer, 42);
}

TEST(whole_numbers_past_the_limits_are_refused)
{
    uint64_t natural = 42;
    int64_t integer = 42;
    assert_int_equal(aq_parse_u64("-1", &natural), AQ_E_INVALID);
    assert_int_equal(aq_parse_u64("18446744073709551616", &natural), AQ_E_INVALID);
    assert_int_equal(aq_parse_i64("9223372036854775808", &integer), AQ_E_INVALID);
    assert_int_equal(aq_parse_i64("-9223372036854775809", &integer), AQ_E_INVALID);
    assert_int_equal(natural, 42);
    assert_int_equal(integer, 42);
}

TEST(a_whole_number_may_be_written_short)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        {"0", 0},
        {"1000000", 1000000},
        {"1e6", 1000000},
        {"1E+6", 1000000},
        {"2.5e3", 2500},
        {"100e-1", 10},
        {"500k", 500000},
        {"1M", 1000000},
        {"1.25k", 1250},
        {"3G", 3000000000},
        {"0e999999999", 0},
        {"18446744073709551615", UINT64_MAX},
        {"1.00000000000000000000", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t value = 77;
        assert_int_equal(aq_parse_whole(cases[i].text, &value), 0);
        assert_true(value == cases[i].value);
    }
}

TEST(what_is_not_exactly_whole_is_refused)
{
    static const char *const bad[] = {
        "",      "1.5",     "1e-1", "1.0005k", "k",
        ".5k",   "1m",      "-1",   "+1",      "1e",
        "1kk",   "1 k",     "0x1",  "1e6k",    "0.5e-9223372036854775808",
        "1e+-3", "1000e+-3"};
    static const char *const big[] = {"1e20", "18446744073709551616", "100000000000G", "1e999999"};
    uint64_t value = 42;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(aq_parse_whole(bad[i], &value), AQ_E_INVALID);
    }
    for (size_t i = 0; i < sizeof(big) / sizeof(big[0]); i++) {
        assert_int_equal(aq_parse_whole(big[i], &value), AQ_E_TOO_BIG);
    }
    assert_int_equal(value, 42);
}

TEST(an_id_is_sixteen_hexadecimal_digits)
{
    uint64_t id = 7;
    static const char *const wrong[] = {"",
                                        "12",
                                        "00112233445566778",
                                        "00112233445566 7",
                                        "-011223344556677",
                                        "0x11223344556677",
                                        "00112233445566FF"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(aq_parse_id(wrong[i], &id), AQ_E_INVALID);
        assert_int_equal(id, 7);
    }
    assert_int_equal(aq_parse_id("00112233445566ff", &id), 0);
    assert_true(id == UINT64_C(0x00112233445566ff));
    assert_int_equal(aq_parse_id("ffffffffffffffff", &id), 0);
    assert_true(id == UINT64_MAX);
}

TEST(decimal_numbers_are_read)
{
    assert_f64("0", 0.0);
    assert_f64("-1.5", -1.5);
    assert_f64(".5", 0.5);
    assert_f64("2.", 2.0);
    assert_f64("1e5", 1e5);
    assert_f64("2.5E-4", 2.5e-4);
    assert_f64("1e+2", 100.0);
    assert_f64("1.7976931348623157e308", DBL_MAX);
    assert_f64("4.9406564584124654e-324", 4.9406564584124654e-324);
    assert_f64("0e-999", 0.0);
}

TEST(what_is_no_finite_decimal_number_is_refused)
{
    static const char *const bad[] = {
        "",       "nan",    "inf", "-inf", "infinity", "0x1p3", "1e",    "1e+",
        ".",      "-",      "-.",  " 1.0", "1.0 ",     "1.0.0", "1e5.0", "1e999",
        "-1e999", "1e-999", "+1.", "1,5",  "1f",       "e5",    "1 000",
    };
    double value = 42.0;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(aq_parse_f64(bad[i], &value), AQ_E_INVALID);
    }
    assert_true(value == 42.0);
}

TEST(six_words_are_truth_values)
{
    static const char *const words[] = {"true", "No", "ON", "off", "yes", "false"};
    EACH_ROW(i, words) {
        bool value = i % 2 != 0;
        assert_int_equal(aq_parse_bool(words[i], &value), 0);
        assert_int_equal(value, i % 2 == 0);
    }
}

TEST(other_words_are_no_truth_values)
{
    bool value = true;
    assert_int_equal(aq_parse_bool("1", &value), AQ_E_INVALID);
    assert_int_equal(aq_parse_bool("", &value), AQ_E_INVALID);
    assert_int_equal(aq_parse_bool("truer", &value), AQ_E_INVALID);
    assert_true(value);
}

TEST(a_text_that_does_not_fit_is_not_cut)
{
    char out[6] = "old";
    assert_int_equal(aq_text_set(out, sizeof(out), "12345"), 0);
    assert_string_equal(out, "12345");
    assert_int_equal(aq_text_set(out, sizeof(out), "123456"), AQ_E_TOO_BIG);
    assert_string_equal(out, "");
}

TEST(a_formatted_text_says_when_it_was_cut)
{
    char out[6];
    assert_int_equal(aq_text_format(out, sizeof(out), "%d", 12345), 0);
    assert_string_equal(out, "12345");
    assert_int_equal(aq_text_format(out, sizeof(out), "%s", "abcdefgh"), AQ_E_TOO_BIG);
    assert_string_equal(out, "abcde");
}

TEST(bytes_read_well)
{
    char out[32];
    assert_string_equal(aq_text_bytes(out, sizeof(out), 0), "0 B");
    assert_string_equal(aq_text_bytes(out, sizeof(out), 999), "999 B");
    assert_string_equal(aq_text_bytes(out, sizeof(out), 999.7), "1.0 kB");
    assert_string_equal(aq_text_bytes(out, sizeof(out), 1.5e6), "1.5 MB");
    assert_string_equal(aq_text_bytes(out, sizeof(out), 999960), "1.0 MB");
    assert_string_equal(aq_text_bytes(out, sizeof(out), -2e9), "-2.0 GB");
}

TEST(counts_read_well)
{
    char out[32];
    assert_string_equal(aq_text_count(out, sizeof(out), 7), "7");
    assert_string_equal(aq_text_count(out, sizeof(out), 12345), "12.3k");
    assert_string_equal(aq_text_count(out, sizeof(out), 3e12), "3.0T");
}

TEST(durations_read_well)
{
    char out[32];
    assert_string_equal(aq_text_duration(out, sizeof(out), 0), "0us");
    assert_string_equal(aq_text_duration(out, sizeof(out), 350e-6), "350us");
    assert_string_equal(aq_text_duration(out, sizeof(out), 0.0125), "12ms");
    assert_string_equal(aq_text_duration(out, sizeof(out), 0.9999), "1.0s");
    assert_string_equal(aq_text_duration(out, sizeof(out), 45.24), "45.2s");
    assert_string_equal(aq_text_duration(out, sizeof(out), 59.99), "1m00s");
    assert_string_equal(aq_text_duration(out, sizeof(out), 125), "2m05s");
    assert_string_equal(aq_text_duration(out, sizeof(out), 3 * 3600 + 7 * 60), "3h07m");
    assert_string_equal(aq_text_duration(out, sizeof(out), 2 * 86400 + 5 * 3600), "2d05h");
    assert_string_equal(aq_text_duration(out, sizeof(out), -1.5), "-1.5s");
}

TEST(numbers_for_people_fit_in_32_bytes)
{
    static const double values[] = {0.0, -DBL_MAX, DBL_MAX, DBL_MIN, -1e21, 1e15, -9.99e14};
    char out[33];
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        assert_true(strlen(aq_text_bytes(out, sizeof(out), values[i])) < 32);
        assert_true(strlen(aq_text_count(out, sizeof(out), values[i])) < 32);
        assert_true(strlen(aq_text_duration(out, sizeof(out), values[i])) < 32);
    }
    assert_string_equal(aq_text_bytes(out, sizeof(out), INFINITY), "inf");
    assert_string_equal(aq_text_duration(out, sizeof(out), INFINITY), "infs");
}
