/*
 * Importance weights against their closed form.
 */
#include "common/experience/importance.h"
#include "tests/support/test.h"

enum { ROWS = 64, SHARDS = 2 };

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fabs(expected))) {
        fail_msg("%.9g is not %.9g", value, expected);
    }
}

TEST(rows_that_are_equally_likely_count_exactly_one)
{
    static const double masses[] = {1, 3, 1e-9, 1e12, 0.1};
    static const double exponents[] = {0, 0.4, 0.5, 1};
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < 4; k++) {
            float p[ROWS];
            for (int row = 0; row < ROWS; row++) {
                p[row] = 1.0f / 12345;
            }
            double least = aq_importance_least(p, ROWS, masses[i]);
            aq_importance_weigh(p, ROWS, masses[i], least, exponents[k], p);
            for (int row = 0; row < ROWS; row++) {
                assert_true(p[row] == 1.0f);
            }
        }
    }
}

TEST(an_exponent_of_0_corrects_nothing)
{
    float p[] = {0.5f, 0.25f, 0.125f, 0.0078125f};
    float weight[4];
    aq_importance_weigh(p, 4, 9, aq_importance_least(p, 4, 9), 0, weight);
    for (int i = 0; i < 4; i++) {
        assert_true(weight[i] == 1.0f);
    }
}

TEST(an_exponent_of_1_makes_every_item_count_the_same)
{
    float p[] = {0.5f, 0.25f, 0.125f};
    float weight[3];
    aq_importance_weigh(p, 3, 8, aq_importance_least(p, 3, 8), 1, weight);
    assert_true(weight[0] == 0.25f); /* drawn four times as often as the last */
    assert_true(weight[1] == 0.5f);
    assert_true(weight[2] == 1.0f);
}

/* The items of two shards with priorities of their own, weighed shard by shard, get the weights
 * that one table of all would give: (N P)^-exponent over the greatest. */
TEST(two_shards_weigh_as_one_table_of_both)
{
    static const double exponents[] = {0.4, 0.7, 1};
    aq_rng rng;
    aq_rng_init(&rng, 31, 0);
    for (size_t k = 0; k < 3; k++) {
        double q[SHARDS][ROWS], mass[SHARDS] = {0, 0}, greatest = 0;
        float p[SHARDS][ROWS];
        for (int s = 0; s < SHARDS; s++) {
            for (int i = 0; i < ROWS; i++) {
                q[s][i] = aq_rng_range(&rng, 0.01, s == 0 ? 1 : 50);
                mass[s] += q[s][i];
            }
            for (int i = 0; i < ROWS; i++) {
                p[s][i] = (float)(q[s][i] / mass[s]);
            }
        }
        double all = mass[0] + mass[1];
        for (int s = 0; s < SHARDS; s++) {
            for (int i = 0; i < ROWS; i++) {
                double share = mass[s] / all;
                double weight = pow(SHARDS * ROWS * (p[s][i] * share), -exponents[k]);
                greatest = weight > greatest ? weight : greatest;
            }
        }
        double least = fmin(aq_importance_least(p[0], ROWS, mass[0]),
                            aq_importance_least(p[1], ROWS, mass[1]));
        for (int s = 0; s < SHARDS; s++) {
            float weight[ROWS];
            aq_importance_weigh(p[s], ROWS, mass[s], least, exponents[k], weight);
            for (int i = 0; i < ROWS; i++) {
                double whole = pow(SHARDS * ROWS * (q[s][i] / all), -exponents[k]) / greatest;
                near(weight[i], whole);
                assert_true(weight[i] > 0 && weight[i] <= 1);
            }
        }
    }
}

TEST(the_extremes_of_probabilities_stay_finite)
{
    float p[] = {1e-38f, 1.0f};
    double least = aq_importance_least(p, 2, 1e300);
    aq_importance_weigh(p, 2, 1e300, least, 1, p);
    assert_true(p[0] == 1.0f);
    assert_true(p[1] >= 0 && p[1] < 1e-37f);
}
