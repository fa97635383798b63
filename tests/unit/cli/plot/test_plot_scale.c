/*
 * Axes: ticks are round numbers within the axis, as many as were wanted at most, and their labels
 * tell them apart.
 */
#include "cli/plot/plot_scale.h"
#include "tests/support/test.h"

static void assert_ticks(const aq_plot_scale *scale, const char *expected)
{
    char text[512] = "";
    aq_tick_label room;
    for (uint32_t i = 0; i < scale->tick_count; i++) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, aq_plot_tick_label(scale, i, &room));
    }
    assert_string_equal(text, expected);
}

/* Of a scale that goes out to the next ticks. */
static void expect_ticks(double low, double high, uint32_t wanted, const char *expected)
{
    const aq_plot_scale scale = aq_plot_scale_of(low, high, wanted, true);
    assert_ticks(&scale, expected);
}

TEST(ticks_are_one_two_or_five_apart)
{
    expect_ticks(0, 500, 8, "0 100 200 300 400 500");
    expect_ticks(0, 10, 5, "0 2 4 6 8 10");
    expect_ticks(0, 23, 5, "0 5 10 15 20 25");
}

TEST(ends_stay_or_go_out_to_the_next_tick)
{
    aq_plot_scale stays = aq_plot_scale_of(-37, 471, 6, false);
    assert_ticks(&stays, "0 100 200 300 400");
    assert_true(stays.low == -37 && stays.high == 471);
    aq_plot_scale out = aq_plot_scale_of(-37, 471, 6, true);
    assert_ticks(&out, "-100 0 100 200 300 400 500");
    assert_true(out.low == -100 && out.high == 500);
}

TEST(logarithmic_axes_have_powers_or_one_two_and_five)
{
    static const struct {
        double low, high;
        const char *ticks;
    } rows[] = {
        {1, 1e6, "1 10 100 1000 10k 100k 1M"},
        {0.004, 0.3, "0.005 0.01 0.02 0.05 0.1 0.2"},
        {1e-6, 1e12, "1e-06 0.001 1 1000 1M 1G 1T"},
        {300, 900, "300 400 500 600 700 800 900"},
        {7, 7, "4 6 8 10 12 14"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const aq_plot_scale scale = aq_plot_scale_log(rows[i].low, rows[i].high, 7);
        assert_ticks(&scale, rows[i].ticks);
    }
    const aq_plot_scale scale = aq_plot_scale_log(1, 1e4, 5);
    assert_near(aq_plot_scale_at(&scale, 1), 0, 1e-12);
    assert_near(aq_plot_scale_at(&scale, 100), 0.5, 1e-12);
    assert_near(aq_plot_scale_at(&scale, 1e4), 1, 1e-12);
    assert_true(isnan(aq_plot_scale_at(&scale, 0)));
}

TEST(tenths_are_exact)
{
    const aq_plot_scale scale = aq_plot_scale_of(0, 1, 10, true);
    assert_int_equal(scale.tick_count, 11);
    assert_true(aq_plot_tick(&scale, 3) == 0.3);
    assert_true(aq_plot_tick(&scale, 7) == 0.7);
    assert_ticks(&scale, "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0");
}

TEST(large_numbers_are_in_thousands_and_millions)
{
    expect_ticks(0, 5000, 5, "0 1000 2000 3000 4000 5000");
    expect_ticks(0, 20000, 4, "0 5k 10k 15k 20k");
    expect_ticks(0, 2e6, 4, "0 0.5M 1.0M 1.5M 2.0M");
    expect_ticks(-3e9, 0, 3, "-3G -2G -1G 0");
}

TEST(small_numbers_have_the_digits_they_need)
{
    expect_ticks(0, 0.0004, 4, "0 0.0001 0.0002 0.0003 0.0004");
    expect_ticks(0, 4e-9, 4, "0 1e-09 2e-09 3e-09 4e-09");
}

TEST(one_value_has_room_on_both_sides)
{
    aq_plot_scale scale = aq_plot_scale_of(500, 500, 5, false);
    assert_true(scale.low < 500 && scale.high > 500);
    assert_true(fabs(aq_plot_scale_at(&scale, 500) - 0.5) < 1e-12);
    scale = aq_plot_scale_of(0, 0, 5, true);
    assert_true(scale.low < 0 && scale.high > 0);
}

TEST(places_are_shares_of_the_axis)
{
    const aq_plot_scale scale = aq_plot_scale_of(0, 200, 4, false);
    assert_true(aq_plot_scale_at(&scale, 0) == 0);
    assert_true(aq_plot_scale_at(&scale, 50) == 0.25);
    assert_true(aq_plot_scale_at(&scale, 200) == 1);
}

TEST(any_range_has_ticks_within_it)
{
    aq_rng rng = rng_of(5, 0);
    for (int i = 0; i < 20000; i++) {
        const double middle =
            (aq_rng_uniform(&rng) - 0.5) * pow(10, 40 * aq_rng_uniform(&rng) - 20);
        const double reach = pow(10, 40 * aq_rng_uniform(&rng) - 20);
        const uint32_t wanted = 2 + (uint32_t)(15 * aq_rng_uniform(&rng));
        const aq_plot_scale scale =
            aq_plot_scale_of(middle - reach, middle + reach, wanted, i % 2 == 0);
        assert_true(scale.low < scale.high);
        assert_true(scale.tick_count <= wanted + 3);
        for (uint32_t tick = 0; tick < scale.tick_count; tick++) {
            const double at = aq_plot_scale_at(&scale, aq_plot_tick(&scale, tick));
            assert_true(at > -1e-4 && at < 1 + 1e-4);
        }
    }
}

TEST(the_largest_numbers_have_an_axis)
{
    const aq_plot_scale scale = aq_plot_scale_of(-1.7e308, 1.7e308, 4, true);
    assert_true(isfinite(scale.low) && isfinite(scale.high));
    assert_true(aq_plot_scale_at(&scale, 1.7e308) <= 1);
}
