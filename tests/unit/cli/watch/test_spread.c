/*
 * A histogram becomes a line that can be read.
 */
#include "cli/watch/spread.h"
#include "tests/support/test.h"

TEST(buckets_beyond_ours_count_in_the_last)
{
    uint64_t many[AQ_SPREAD_BUCKETS + 10] = {0};
    char bars[AQ_SPREAD_BUCKETS + 1];
    many[1] = 2;
    many[AQ_SPREAD_BUCKETS + 9] = 3;
    const aq_spread spread = aq_spread_of(many, AQ_SPREAD_BUCKETS + 10);
    assert_int_equal(spread.total, 5);
    assert_int_equal(spread.counts[1], 2);
    assert_int_equal(spread.counts[AQ_SPREAD_BUCKETS - 1], 3);
    assert_true(aq_spread_under(&spread, 0.5) == UINT64_MAX);
    assert_int_equal(strlen(aq_spread_bars(&spread, bars)), AQ_SPREAD_BUCKETS);
}

TEST(a_share_of_the_values_lies_under_a_power_of_two)
{
    const aq_spread spread = {.counts = {50, 0, 40, 0, 10}, .total = 100};
    assert_int_equal(aq_spread_under(&spread, 0.5), 1);
    assert_int_equal(aq_spread_under(&spread, 0.51), 4);
    assert_int_equal(aq_spread_under(&spread, 0.9), 4);
    assert_int_equal(aq_spread_under(&spread, 1.0), 16);
}

TEST(nothing_lies_under_nothing)
{
    const aq_spread spread = {.total = 0};
    char bars[AQ_SPREAD_BUCKETS + 1] = "?";
    assert_int_equal(aq_spread_under(&spread, 0.5), 0);
    assert_string_equal(aq_spread_bars(&spread, bars), "");
}

TEST(bars_are_darker_where_there_is_more_and_never_hide_a_value)
{
    const aq_spread spread = {.counts = {1, 0, 500, 1000}, .total = 1501};
    char bars[AQ_SPREAD_BUCKETS + 1];
    assert_string_equal(aq_spread_bars(&spread, bars), ". =#");
}
