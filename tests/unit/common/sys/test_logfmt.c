/*
 * Pairs of a log line: what stands in it is found again, and what is torn ends somewhere.
 */
#include "common/sys/logfmt.h"
#include "tests/support/test.h"

static void expect_pair(const char **cursor, const char *key, const char *value, bool is_quoted)
{
    aq_logfmt_pair pair;
    assert_true(aq_logfmt_next(cursor, &pair));
    assert_int_equal(pair.key_length, strlen(key));
    assert_memory_equal(pair.key, key, pair.key_length);
    assert_int_equal(pair.value_length, strlen(value));
    assert_memory_equal(pair.value, value, pair.value_length);
    assert_int_equal(pair.is_quoted, is_quoted);
}

static void expect_end(const char **cursor)
{
    aq_logfmt_pair pair;
    assert_false(aq_logfmt_next(cursor, &pair));
    assert_string_equal(*cursor, "");
}

TEST(pairs_come_in_their_order)
{
    const char *at = "ts=1 level=warn  peer=a=b msg=\"two words\"\n";
    expect_pair(&at, "ts", "1", false);
    expect_pair(&at, "level", "warn", false);
    expect_pair(&at, "peer", "a=b", false);
    expect_pair(&at, "msg", "two words", true);
    expect_end(&at);
}

TEST(an_escaped_quote_closes_nothing)
{
    const char *at = "a=\"x\\\"y\\\\\" b=2";
    expect_pair(&at, "a", "x\\\"y\\\\", true);
    expect_pair(&at, "b", "2", false);
    expect_end(&at);
}

TEST(a_word_alone_is_a_key_without_a_value)
{
    const char *at = "torn b= c";
    expect_pair(&at, "torn", "", false);
    expect_pair(&at, "b", "", false);
    expect_pair(&at, "c", "", false);
    expect_end(&at);
}

TEST(a_quote_that_is_not_closed_ends_with_the_text)
{
    const char *open = "a=\"x y";
    const char *escaped = "a=\"x\\";
    expect_pair(&open, "a", "x y", true);
    expect_end(&open);
    expect_pair(&escaped, "a", "x\\", true);
    expect_end(&escaped);
}

TEST(an_empty_line_has_no_pairs)
{
    const char *at = " \n";
    expect_end(&at);
}
