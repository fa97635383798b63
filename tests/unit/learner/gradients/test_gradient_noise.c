/*
 * The noise of gradients: of draws whose mean and variance are known, and of what is no draw.
 */
#include "common/base/rng.h"
#include "learner/gradients/gradient_exchange.h"
#include "learner/gradients/gradient_noise.h"
#include "tests/support/test.h"

enum { COUNT = 4000, ROWS = 8, LOOKS = 16 };

static aq_gradient_noise *noise_of(size_t count)
{
    aq_gradient_noise *noise = NULL;
    assert_succeeds(aq_gradient_noise_create(count, &noise));
    return noise;
}

#define TEST_OF_NOISE(name)                                                                        \
    TEST_OF(name, aq_gradient_noise *noise, noise_of(COUNT), aq_gradient_noise_destroy)

static float gradient[COUNT];

static void take(aq_gradient_noise *noise, float value, size_t times)
{
    for (size_t i = 0; i < COUNT; i++) {
        gradient[i] = value;
    }
    for (size_t i = 0; i < times; i++) {
        aq_gradient_noise_take(noise, gradient, ROWS);
    }
}

TEST_OF_NOISE(a_gaussian_has_the_noise_that_it_was_made_with)
{
    const double mean = 0.5, deviation = 1;
    aq_rng rng = rng_of(3, 0);
    for (size_t step = 0; step < (size_t)LOOKS * AQ_NOISE_PERIOD; step++) {
        for (size_t i = 0; i < COUNT && step % AQ_NOISE_PERIOD < AQ_NOISE_LOOK; i++) {
            gradient[i] = (float)(mean + deviation * aq_rng_normal(&rng));
        }
        aq_gradient_noise_take(noise, gradient, step % 2 == 0 ? ROWS - 4 : ROWS + 4);
    }
    const aq_noise_figures figures = aq_gradient_noise_figures(noise);
    assert_near(figures.scale, ROWS * 4.0, 0.05 * ROWS * 4.0);
    assert_near(figures.cosine, 0.25 / sqrt(1.25 * (0.25 + 1.0 / 15)), 0.01);
}

TEST_OF_NOISE(gradients_that_are_the_same_have_none)
{
    take(noise, 3, AQ_NOISE_LOOK);
    const aq_noise_figures figures = aq_gradient_noise_figures(noise);
    assert_near(figures.scale, 0, 1e-9);
    assert_near(figures.cosine, 1, 1e-9);
}

TEST_OF_NOISE(nothing_is_told_before_a_look_is_whole)
{
    take(noise, 3, AQ_NOISE_LOOK - 1);
    assert_true(isnan(aq_gradient_noise_figures(noise).scale));
    assert_true(isnan(aq_gradient_noise_figures(NULL).cosine));
}

TEST_OF_NOISE(what_comes_between_looks_is_not_seen)
{
    take(noise, 3, AQ_NOISE_LOOK);
    take(noise, -7, AQ_NOISE_PERIOD - AQ_NOISE_LOOK);
    take(noise, 3, AQ_NOISE_LOOK);
    assert_near(aq_gradient_noise_figures(noise).cosine, 1, 1e-9);
}

TEST_OF_NOISE(where_all_is_chance_no_scale_is_told)
{
    for (int i = 0; i < AQ_NOISE_LOOK; i++) {
        take(noise, i % 2 == 0 ? 1.1f : -1, 1);
    }
    assert_true(isnan(aq_gradient_noise_figures(noise).scale));
    assert_true(aq_gradient_noise_figures(noise).cosine < 0);
}

TEST_OF_NOISE(a_look_with_a_gradient_that_is_not_finite_does_not_count)
{
    take(noise, NAN, 1);
    take(noise, 3, AQ_NOISE_PERIOD - 1);
    assert_true(isnan(aq_gradient_noise_figures(noise).scale));
    take(noise, 3, AQ_NOISE_LOOK);
    assert_near(aq_gradient_noise_figures(noise).cosine, 1, 1e-9);
}

TEST(it_is_made_despite_failing_allocations)
{
    aq_gradient_noise *noise = NULL;
    assert_fails_without_memory(aq_gradient_noise_create(COUNT, &noise));
}

/* ---- behind the exchange -------------------------------------------------------------------- */

static aq_gradient_exchange *lone_exchange(void)
{
    aq_gradient_exchange *exchange = NULL;
    assert_succeeds(aq_gradient_exchange_create(NULL, AQ_GRADIENT_INT8, &exchange));
    assert_succeeds(aq_gradient_exchange_reserve(exchange, COUNT));
    return exchange;
}

TEST_OF(a_lone_rank_watches_the_part_that_it_was_told, aq_gradient_exchange *exchange,
        lone_exchange(), aq_gradient_exchange_destroy)
{
    assert_int_equal(aq_gradient_exchange_ranks(exchange), 1);
    assert_succeeds(aq_gradient_exchange_watch(exchange, 10, 20, ROWS));
    for (size_t i = 0; i < COUNT; i++) {
        gradient[i] = 0.1f * (float)(i + 1);
    }
    for (int step = 0; step < AQ_NOISE_LOOK; step++) {
        assert_succeeds(aq_gradient_mean(exchange, true, 0, gradient, 30));
        assert_succeeds(aq_gradient_mean(exchange, true, 15, gradient, 15)); /* not all of it */
        assert_int_equal(aq_gradient_mean(exchange, false, 10, gradient, 20), AQ_E_CORRUPT);
    }
    assert_near(aq_gradient_exchange_noise(exchange).cosine, 1, 1e-6);
    assert_true(gradient[12] == 0.1f * 13); /* as it was, in any format */
}

TEST(without_an_exchange_nobody_watches)
{
    assert_succeeds(aq_gradient_exchange_watch(NULL, 0, 1, ROWS));
    assert_true(isnan(aq_gradient_exchange_noise(NULL).scale));
}
