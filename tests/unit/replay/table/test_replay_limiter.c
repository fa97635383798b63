/*
 * The limiter: minimum size, both ends of the band, and that never both sides must wait.
 */
#include "replay/table/replay_limiter.h"
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

static aq_table_spec spec_of(uint64_t min_size, double samples_per_insert, double tolerance)
{
    aq_table_spec spec = table_kit_spec();
    spec.min_size = min_size;
    spec.samples_per_insert = samples_per_insert;
    spec.tolerance = tolerance;
    return spec;
}

static int init(aq_replay_limiter *limiter, uint64_t min_size, double samples_per_insert,
                double tolerance, uint32_t rows_max, aq_error *error)
{
    const aq_table_spec spec = spec_of(min_size, samples_per_insert, tolerance);
    return aq_replay_limiter_init(limiter, &spec, rows_max, error);
}

/* min size 100, 4 rows a step, tolerance 50, requests of 16 rows. */
static aq_replay_limiter limiter_of(void)
{
    aq_replay_limiter limiter;
    assert_int_equal(init(&limiter, 100, 4.0, 50.0, 16, NULL), 0);
    return limiter;
}

TEST(nothing_is_sampled_below_the_minimum_size)
{
    aq_replay_limiter limiter = limiter_of();
    assert_false(aq_replay_limiter_may_sample(&limiter, 1));
    aq_replay_limiter_inserted(&limiter, 99);
    assert_false(aq_replay_limiter_may_sample(&limiter, 1));
    aq_replay_limiter_inserted(&limiter, 1);
    assert_true(aq_replay_limiter_may_sample(&limiter, 16));
}

TEST(the_first_steps_are_owed_to_nobody)
{
    aq_replay_limiter limiter = limiter_of();
    aq_replay_limiter_inserted(&limiter, 100);
    assert_true(aq_replay_limiter_lead(&limiter) == 0.0);
    assert_true(aq_replay_limiter_may_sample(&limiter, 200)); /* 50 steps' worth, not 150 */
    assert_false(aq_replay_limiter_may_sample(&limiter, 201));
}

TEST(samples_stop_at_the_lower_end)
{
    aq_replay_limiter limiter = limiter_of();
    aq_replay_limiter_inserted(&limiter, 110);
    aq_replay_limiter_sampled(&limiter, 240);
    assert_false(aq_replay_limiter_may_sample(&limiter, 1));
    aq_replay_limiter_inserted(&limiter, 4);
    assert_true(aq_replay_limiter_may_sample(&limiter, 16));
    assert_false(aq_replay_limiter_may_sample(&limiter, 17));
}

TEST(inserts_stop_at_the_upper_end)
{
    aq_replay_limiter limiter = limiter_of();
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 150);
    aq_replay_limiter_inserted(&limiter, 149);
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 1);
    aq_replay_limiter_inserted(&limiter, 1);
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 0);
    aq_replay_limiter_inserted(&limiter, 30);
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 0);
    aq_replay_limiter_sampled(&limiter, 124);
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 1);
}

TEST(a_tolerance_that_could_block_both_is_refused_with_the_least_that_works)
{
    aq_replay_limiter limiter;
    assert_refused(init(&limiter, 100, 4.0, 8.9, 64, &refusal), AQ_E_INVALID, "9 is the least");
    assert_succeeds(init(&limiter, 100, 4.0, 9.0, 64, &refusal));
}

TEST(numbers_that_cannot_be_are_refused)
{
    const double bad[] = {-1.0, NAN, INFINITY};
    aq_replay_limiter limiter;
    EACH_ROW(i, bad) {
        assert_int_equal(init(&limiter, 1, bad[i], 9.0, 1, NULL), AQ_E_INVALID);
        assert_int_equal(init(&limiter, 1, 4.0, bad[i], 1, NULL), AQ_E_INVALID);
    }
    assert_int_equal(init(&limiter, 1, 4.0, 0.0, 1, NULL), AQ_E_INVALID);
    assert_int_equal(init(&limiter, 0, 4.0, 9.0, 1, NULL), AQ_E_INVALID);
    assert_int_equal(init(&limiter, 1, 4.0, 9.0, 0, NULL), AQ_E_INVALID);
}

TEST(a_few_samples_of_many_inserts_work_too)
{
    aq_replay_limiter limiter;
    assert_int_equal(init(&limiter, 10, 0.5, 100.0, 8, NULL), 0);
    aq_replay_limiter_inserted(&limiter, 10);
    assert_true(aq_replay_limiter_may_sample(&limiter, 50));
    assert_false(aq_replay_limiter_may_sample(&limiter, 51));
}

TEST(without_a_proportion_the_minimum_size_alone_counts)
{
    aq_replay_limiter limiter;
    assert_int_equal(init(&limiter, 10, 0.0, 0.0, 64, NULL), 0);
    aq_replay_limiter_inserted(&limiter, 9);
    assert_false(aq_replay_limiter_may_sample(&limiter, 1));
    aq_replay_limiter_inserted(&limiter, 1);
    for (int i = 0; i < 1000; i++) {
        assert_true(aq_replay_limiter_may_sample(&limiter, 64));
        aq_replay_limiter_sampled(&limiter, 64);
    }
    aq_replay_limiter_inserted(&limiter, 1000000000);
    assert_true(aq_replay_limiter_headroom(&limiter) > 1000000000);
    assert_true(aq_replay_limiter_width(&limiter) > 1000000000);
    assert_true(aq_replay_limiter_lead(&limiter) == 0.0);
}

/* ---- queues -------------------------------------------------------------------------------- */

static aq_table_spec queue_of(uint64_t capacity)
{
    aq_table_spec spec = spec_of(1, 0.0, 0.0);
    spec.selector = AQ_SELECTOR_QUEUE;
    spec.capacity = capacity;
    return spec;
}

TEST(a_full_queue_makes_actors_wait)
{
    const aq_table_spec spec = queue_of(100);
    aq_replay_limiter limiter;
    assert_int_equal(aq_replay_limiter_init(&limiter, &spec, 16, NULL), 0);
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 100);
    assert_int_equal(aq_replay_limiter_width(&limiter), 42); /* half of what a request leaves */
    aq_replay_limiter_inserted(&limiter, 90);
    aq_replay_limiter_holds(&limiter, 90);
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 10);
    aq_replay_limiter_inserted(&limiter, 15);
    aq_replay_limiter_holds(&limiter, 105);
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 0);
    assert_true(aq_replay_limiter_may_sample(&limiter, 16));
    aq_replay_limiter_holds(&limiter, 73);
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 27);
}

TEST(a_queue_that_holds_no_request_is_refused)
{
    aq_replay_limiter limiter;
    aq_table_spec spec = queue_of(256);
    assert_refused(aq_replay_limiter_init(&limiter, &spec, 256, &refusal), AQ_E_INVALID,
                   "257 is the least capacity");
    spec.capacity = 257;
    assert_succeeds(aq_replay_limiter_init(&limiter, &spec, 256, &refusal));
    assert_int_equal(aq_replay_limiter_width(&limiter), 1);
    spec.samples_per_insert = 1.0;
    assert_refused(aq_replay_limiter_init(&limiter, &spec, 256, &refusal), AQ_E_INVALID,
                   "each item once");
}

/* ---- restarts ------------------------------------------------------------------------------ */

TEST(a_restored_limiter_goes_on_where_it_was)
{
    aq_replay_limiter limiter = limiter_of();
    aq_replay_limiter_restore(&limiter, 1100, 3900, true);
    assert_true(aq_replay_limiter_lead(&limiter) == 1000.0 - 975.0);
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 25);
    assert_int_equal(limiter.inserted, 1100);
    assert_int_equal(limiter.sampled, 3900);
}

TEST(a_changed_setting_costs_no_more_than_one_band)
{
    const double ratios[] = {0.01, 0.5, 8.0, 1000.0};
    for (size_t i = 0; i < 4; i++) {
        aq_replay_limiter limiter;
        assert_int_equal(init(&limiter, 100, ratios[i], 5000.0, 16, NULL), 0);
        aq_replay_limiter_restore(&limiter, 1000100, 4000000, true);
        double lead = aq_replay_limiter_lead(&limiter);
        assert_true(lead >= -5000.0 && lead <= 5000.0);
        assert_true(aq_replay_limiter_may_sample(&limiter, 16) ||
                    aq_replay_limiter_headroom(&limiter) >= aq_replay_limiter_width(&limiter));
        aq_replay_limiter_inserted(&limiter, 1000);
        assert_near(aq_replay_limiter_lead(&limiter), lead + 1000.0, 1e-6);
    }
}

TEST(a_limiter_that_is_not_known_owes_nothing)
{
    aq_replay_limiter limiter = limiter_of();
    aq_replay_limiter_restore(&limiter, 123456, 99, false);
    assert_true(aq_replay_limiter_lead(&limiter) == 0.0);
    assert_true(aq_replay_limiter_may_sample(&limiter, 16));
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 50);
}

TEST(steps_that_are_gone_count_for_nothing)
{
    aq_replay_limiter limiter;
    assert_int_equal(init(&limiter, 1000, 4.0, 50.0, 16, NULL), 0);
    aq_replay_limiter_restore(&limiter, 1000000, 3000000, true);
    aq_replay_limiter_begin_anew(&limiter, 300);
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 700 + 50);
    aq_replay_limiter_inserted(&limiter, 699);
    assert_false(aq_replay_limiter_may_sample(&limiter, 1));
    aq_replay_limiter_inserted(&limiter, 1);
    assert_true(aq_replay_limiter_may_sample(&limiter, 16));
    assert_true(aq_replay_limiter_lead(&limiter) == 0.0);
}

TEST(below_a_raised_minimum_size_nobody_owes_anything)
{
    aq_replay_limiter limiter;
    assert_int_equal(init(&limiter, 10000, 4.0, 50.0, 16, NULL), 0);
    aq_replay_limiter_restore(&limiter, 5000, 19000, true);
    assert_false(aq_replay_limiter_may_sample(&limiter, 1));
    assert_int_equal(aq_replay_limiter_headroom(&limiter), 5050);
    aq_replay_limiter_inserted(&limiter, 5000);
    assert_true(aq_replay_limiter_may_sample(&limiter, 16));
    assert_true(aq_replay_limiter_lead(&limiter) == 0.0);
}

/* -------------------------------------------------------------------------------------------- */

/* Uniform in the logarithm, so that all magnitudes come. */
static double log_uniform(aq_rng *rng, double low, double high)
{
    return exp(aq_rng_range(rng, log(low), log(high)));
}

/* The least tolerance that is legal, by the rule of the header. */
static double least_tolerance(double samples_per_insert, uint32_t rows_max)
{
    return ceil(((double)rows_max / samples_per_insert + 2.0) / 2.0);
}

static void walk(aq_rng *rng, aq_replay_limiter *limiter, uint32_t chunk)
{
    double tolerance = limiter->tolerance;
    bool sampler_first = aq_rng_below(rng, 2) == 0;
    for (int step = 0; step < 500; step++) {
        uint32_t rows = limiter->rows_max;
        bool may_sample = aq_replay_limiter_may_sample(limiter, rows);
        uint64_t headroom = aq_replay_limiter_headroom(limiter);
        assert_true(may_sample || headroom >= 1);
        if (!may_sample) {
            assert_true(headroom >= aq_replay_limiter_width(limiter));
        }
        /* Long runs of one side, so that both ends of the band are reached. */
        if (aq_rng_below(rng, 50) == 0) {
            sampler_first = !sampler_first;
        }
        if (may_sample && (sampler_first || headroom == 0)) {
            aq_replay_limiter_sampled(limiter, rows);
            assert_true(aq_replay_limiter_lead(limiter) >= -tolerance - 1e-3);
        } else {
            uint32_t steps = 1 + (uint32_t)aq_rng_below(rng, chunk);
            aq_replay_limiter_inserted(limiter, steps);
            assert_true(aq_replay_limiter_lead(limiter) <= tolerance + steps);
        }
    }
}

TEST(random_legal_settings_never_block_both_sides)
{
    aq_rng rng = rng_of(test_seed(), 1);
    for (int round = 0; round < 2000; round++) {
        double samples_per_insert = log_uniform(&rng, 0.001, 1e5);
        uint32_t rows = (uint32_t)log_uniform(&rng, 1.0, 65536.0);
        uint64_t min_size = (uint64_t)log_uniform(&rng, 1.0, 1e9);
        double tolerance = least_tolerance(samples_per_insert, rows);
        if (aq_rng_below(&rng, 2) == 0) { /* else: just legal */
            tolerance *= log_uniform(&rng, 1.0, 1000.0);
        }
        aq_replay_limiter limiter;
        assert_int_equal(init(&limiter, min_size, samples_per_insert, tolerance, rows, NULL), 0);
        /* Start anywhere: long into a run, too. */
        uint64_t begin = aq_rng_below(&rng, 3);
        uint64_t inserted = (uint64_t)log_uniform(&rng, 1.0, 1e12);
        if (begin == 1) {
            aq_replay_limiter_inserted(&limiter, inserted);
            if (inserted > min_size) {
                limiter.sampled = (uint64_t)((double)(inserted - min_size) * samples_per_insert);
            }
        } else if (begin == 2) { /* after a restart, under other settings */
            uint64_t sampled = (uint64_t)log_uniform(&rng, 1.0, 1e12);
            aq_replay_limiter_restore(&limiter, inserted, sampled, aq_rng_below(&rng, 4) != 0);
        }
        walk(&rng, &limiter, 1 + (uint32_t)aq_rng_below(&rng, 64));
    }
}
