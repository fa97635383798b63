/*
 * What shards say is added up, and a histogram becomes a line that can be read.
 */
#include "cli/watch/replay_totals.h"
#include "tests/support/test.h"

TEST(shards_are_added_up)
{
    uint64_t staleness[] = {1, 2, 3};
    aq_replay_totals totals = {0};
    Actorq__V1__ReplayStats stats = ACTORQ__V1__REPLAY_STATS__INIT;
    stats.stored = 5;
    stats.bytes = 100;
    stats.running_s = 2.5;
    stats.disk_bytes = 7;
    stats.n_staleness = 3;
    stats.staleness = staleness;
    aq_replay_totals_add(&totals, &stats);
    stats.n_staleness = 2;
    aq_replay_totals_add(&totals, &stats);
    assert_int_equal(totals.shards, 2);
    assert_int_equal(totals.stored, 10);
    assert_int_equal(totals.bytes, 200);
    assert_true(totals.running_s == 5.0);
    assert_int_equal(totals.disk_bytes, 14);
    assert_int_equal(totals.staleness.total, 9);
    assert_int_equal(totals.staleness.counts[0], 2);
    assert_int_equal(totals.staleness.counts[1], 4);
    assert_int_equal(totals.staleness.counts[2], 3);
    assert_int_equal(totals.age_ms.total, 0);
}

TEST(buckets_beyond_ours_count_in_the_last)
{
    uint64_t many[AQ_SPREAD_BUCKETS + 10] = {0};
    char bars[AQ_SPREAD_BUCKETS + 1];
    aq_replay_totals totals = {0};
    Actorq__V1__ReplayStats stats = ACTORQ__V1__REPLAY_STATS__INIT;
    many[AQ_SPREAD_BUCKETS + 9] = 3;
    stats.n_age_ms = AQ_SPREAD_BUCKETS + 10;
    stats.age_ms = many;
    aq_replay_totals_add(&totals, &stats);
    assert_int_equal(totals.age_ms.counts[AQ_SPREAD_BUCKETS - 1], 3);
    assert_true(aq_spread_under(&totals.age_ms, 0.5) == UINT64_MAX);
    assert_int_equal(strlen(aq_spread_bars(&totals.age_ms, bars)), AQ_SPREAD_BUCKETS);
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
