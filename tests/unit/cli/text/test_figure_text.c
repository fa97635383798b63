/*
 * Figures are short, and what was not measured is a dash.
 */
#include "cli/text/figure_text.h"
#include "tests/support/test.h"

static aq_figure room;

TEST(what_is_not_finite_is_a_dash)
{
    assert_string_equal(aq_figure_count(&room, (double)NAN), "-");
    assert_string_equal(aq_figure_bytes(&room, (double)INFINITY), "-");
    assert_string_equal(aq_figure_duration(&room, (double)NAN), "-");
    assert_string_equal(aq_figure_number(&room, -(double)INFINITY), "-");
    assert_string_equal(aq_figure_return(&room, (double)NAN), "-");
    assert_string_equal(aq_figure_share(&room, (double)NAN), "-");
    assert_string_equal(aq_figure_rate(&room, (double)NAN), "-");
    assert_string_equal(aq_figure_joules(&room, (double)NAN), "-");
}

TEST(counts_bytes_and_durations_have_units)
{
    assert_string_equal(aq_figure_count(&room, 12345), "12.3k");
    assert_string_equal(aq_figure_bytes(&room, 1500000), "1.5 MB");
    assert_string_equal(aq_figure_duration(&room, 125), "2m05s");
    assert_string_equal(aq_figure_duration(&room, 0), "0s");
}

TEST(a_return_has_one_decimal)
{
    assert_string_equal(aq_figure_return(&room, 187.25), "187.2");
    assert_string_equal(aq_figure_return(&room, -3), "-3.0");
    assert_string_equal(aq_figure_return(&room, 1e300), "1e+300");
}

TEST(small_shares_keep_two_digits)
{
    assert_string_equal(aq_figure_share(&room, 0), "0 %");
    assert_string_equal(aq_figure_share(&room, 0.0078125), "0.78 %");
    assert_string_equal(aq_figure_share(&room, 0.034), "3.4 %");
    assert_string_equal(aq_figure_share(&room, 0.345), "34 %");
    assert_string_equal(aq_figure_share(&room, 0.0002), "0.02 %");
    assert_string_equal(aq_figure_share(&room, 1), "100 %");
}

TEST(what_is_not_all_is_no_hundred_percent)
{
    assert_string_equal(aq_figure_share(&room, 0.994), "99 %");
    assert_string_equal(aq_figure_share(&room, 0.996), "99.6 %");
    assert_string_equal(aq_figure_share(&room, 0.99999), "99.9 %");
}

TEST(rates_below_ten_keep_two_digits)
{
    assert_string_equal(aq_figure_rate(&room, 0), "0");
    assert_string_equal(aq_figure_rate(&room, 0.04), "0.04");
    assert_string_equal(aq_figure_rate(&room, 2.5), "2.5");
    assert_string_equal(aq_figure_rate(&room, 12.3), "12");
    assert_string_equal(aq_figure_rate(&room, 2500), "2.5k");
}

TEST(joules_have_units)
{
    assert_string_equal(aq_figure_joules(&room, 12.34), "12.3 J");
    assert_string_equal(aq_figure_joules(&room, 999.6), "1 kJ");
    assert_string_equal(aq_figure_joules(&room, 999600), "0.9996 MJ");
}

/* One episode deviates from nothing. */
TEST(a_return_of_one_episode_has_no_deviation)
{
    char line[128];
    aq_best_figure best = {.mean = 10, .std = 0, .version = 3, .episodes = 1};
    assert_string_equal(aq_figure_best(&best, line, sizeof(line)),
                        "10.0 over 1 episode of version 3 (screening)");
    best.episodes = 2;
    assert_string_equal(aq_figure_best(&best, line, sizeof(line)),
                        "10.0 +- 0.0 over 2 episodes of version 3 (screening)");
}

TEST(numbers_have_four_digits)
{
    assert_string_equal(aq_figure_number(&room, 0.01234567), "0.01235");
    assert_string_equal(aq_figure_number(&room, 31), "31");
}
