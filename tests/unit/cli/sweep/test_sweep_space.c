/*
 * Spaces: what lies where on a scale, what counts when, and points of a grid.
 */
#include "cli/sweep/study/sweep_sobol.h"
#include "cli/sweep/study/sweep_tpe.h"
#include "tests/unit/cli/sweep/sweep_kit.h"

static aq_sweep_dim dim_of(enum aq_sweep_scale scale, double low, double high, bool is_whole)
{
    return (aq_sweep_dim){
        .scale = scale, .low = low, .high = high, .is_whole = is_whole, .count = 3, .when = -1};
}

TEST(values_lie_evenly_on_their_scale)
{
    static const struct {
        enum aq_sweep_scale scale;
        double low, high;
        bool is_whole;
        const char *values[5]; /* at 0, a quarter, ... */
    } rows[] = {
        {AQ_SWEEP_LINEAR, 0, 1, false, {"0", "0.25", "0.5", "0.75", "1"}},
        {AQ_SWEEP_LINEAR, 1, 5, true, {"1", "2", "3", "4", "5"}},
        {AQ_SWEEP_LOG, 1e-4, 1, false, {"0.0001", "0.001", "0.01", "0.1", "1"}},
        {AQ_SWEEP_LOG, 10, 1000, true, {"10", "32", "100", "316", "1000"}},
        {AQ_SWEEP_POW2, 16, 256, true, {"16", "32", "64", "128", "256"}},
        {AQ_SWEEP_LOGIT, 0.1, 0.9, false, {"0.1", "0.25", "0.5", "0.75", "0.9"}},
        {AQ_SWEEP_LOGIT, 0.9, 0.9999, false, {"0.9", "0.981118", "0.996678", "0.999423", "0.9999"}},
        {AQ_SWEEP_LOG, 1.00004, 2.00004, false, {"1.00004", "1.189", "1.414", "1.682", "2"}},
    };
    EACH_ROW(i, rows) {
        const aq_sweep_dim dim = dim_of(rows[i].scale, rows[i].low, rows[i].high, rows[i].is_whole);
        for (int j = 0; j < 5; j++) {
            char value[AQ_SWEEP_VALUE_MAX];
            aq_sweep_dim_value(&dim, j / 4.0, value);
            assert_string_equal(value, rows[i].values[j]);
            assert_near(aq_sweep_dim_place(&dim, value), j / 4.0, 0.03);
        }
    }
}

TEST(what_is_rounded_is_equally_likely_at_the_ends)
{
    const aq_sweep_dim dims[] = {dim_of(AQ_SWEEP_LINEAR, 1, 4, true),
                                 dim_of(AQ_SWEEP_POW2, 2, 16, true),
                                 dim_of(AQ_SWEEP_POW2, 0.125, 1, false)};
    static const char *const values[][4] = {
        {"1", "2", "3", "4"}, {"2", "4", "8", "16"}, {"0.125", "0.25", "0.5", "1"}};
    EACH_ROW(i, dims) {
        for (int j = 0; j < 400; j++) {
            char value[AQ_SWEEP_VALUE_MAX];
            aq_sweep_dim_value(&dims[i], (j + 0.5) / 400, value);
            assert_string_equal(value, values[i][j / 100]);
        }
    }
}

TEST(choices_share_the_places)
{
    aq_sweep_dim dim = {.scale = AQ_SWEEP_CHOICE, .count = 2, .choices = {"dqn", "c51"}};
    char value[AQ_SWEEP_VALUE_MAX];
    aq_sweep_dim_value(&dim, 0.49, value);
    assert_string_equal(value, "dqn");
    aq_sweep_dim_value(&dim, 1, value);
    assert_string_equal(value, "c51");
    assert_near(aq_sweep_dim_place(&dim, "c51"), 0.75, 0);
}

static const char conditional[] = "task: gym:CartPole-v1\n"
                                  "method: grid\n"
                                  "space:\n"
                                  "  learner.algorithm: [dqn, c51]\n"
                                  "  learner.value_max: {linear: [50, 200], points: 4, when: "
                                  "{learner.algorithm: c51}}\n"
                                  "  learner.n_step: [1, 3]\n";

TEST(a_grid_leaves_out_what_does_not_count)
{
    aq_sweep_spec spec;
    aq_sweep_point point;
    sweep_spec(conditional, &spec);
    assert_int_equal(spec.trials, 2 + 4 * 2); /* dqn by n_step, c51 by both */
    size_t without = 0;
    for (size_t i = 0; i < spec.trials; i++) {
        aq_sweep_grid_point(&spec.space, i, &point);
        without += point.values[1][0] == '\0';
        assert_int_equal(point.values[1][0] == '\0', strcmp(point.values[0], "dqn") == 0);
    }
    assert_int_equal(without, 2);
    assert_string_equal(point.values[1], "200");
}

TEST(a_grid_has_each_value_of_a_short_range_once)
{
    static const char *const values[][2] = {{"16", "1"}, {"16", "2"}, {"32", "1"}, {"32", "2"}};
    aq_sweep_spec spec;
    aq_sweep_point point;
    sweep_spec("task: gym:CartPole-v1\n"
               "method: grid\n"
               "space:\n"
               "  learner.batch_size: {pow2: [16, 32]}\n"
               "  learner.n_step: {linear: [1, 2], points: 5}\n",
               &spec);
    assert_int_equal(spec.trials, sizeof(values) / sizeof(values[0]));
    EACH_ROW(i, values) {
        aq_sweep_grid_point(&spec.space, i, &point);
        assert_string_equal(point.values[0], values[i][0]);
        assert_string_equal(point.values[1], values[i][1]);
    }
}

TEST(sobol_fills_each_dimension_evenly)
{
    enum { POINTS = 256 };
    for (size_t dimension = 0; dimension < AQ_SWEEP_DIMS_MAX; dimension++) {
        bool is_full[POINTS] = {false};
        for (uint32_t i = 0; i < POINTS; i++) {
            double places[AQ_SWEEP_DIMS_MAX];
            aq_sweep_sobol(7, i, AQ_SWEEP_DIMS_MAX, places);
            const size_t cell = (size_t)(places[dimension] * POINTS);
            assert_false(is_full[cell]);
            is_full[cell] = true;
        }
    }
}

TEST(sobol_fills_squares_of_the_first_two_evenly)
{
    enum { SIDE = 16 };
    bool is_full[SIDE][SIDE] = {{false}};
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        double places[2];
        aq_sweep_sobol(3, i, 2, places);
        bool *cell = &is_full[(size_t)(places[0] * SIDE)][(size_t)(places[1] * SIDE)];
        assert_false(*cell);
        *cell = true;
    }
}

/* The share of candidates within a tenth of the best place, of a fifth of the trials near it. */
TEST(tpe_looks_where_better_trials_were)
{
    enum { TRIALS = 30, TRIES = 50 };
    aq_sweep_spec spec;
    aq_sweep_point points[TRIALS], made;
    const aq_sweep_point *sorted[TRIALS];
    sweep_spec(conditional, &spec);
    spec.space.dims[1].when = -1;
    aq_rng rng = rng_of(test_seed(), 0);
    for (size_t i = 0; i < TRIALS; i++) {
        const double places[] = {0.75, i < 6 ? 0.3 : aq_rng_uniform(&rng), aq_rng_uniform(&rng)};
        aq_sweep_point_at(&spec.space, places, &points[i]);
        sorted[i] = &points[i];
    }
    size_t near = 0;
    for (int i = 0; i < TRIES; i++) {
        assert_int_equal(aq_sweep_tpe(&spec.space, sorted, TRIALS, 6, &rng, &made), 0);
        near += fabs(aq_sweep_dim_place(&spec.space.dims[1], made.values[1]) - 0.3) < 0.1;
    }
    assert_true(near > TRIES / 2);
    assert_fails_without_memory(aq_sweep_tpe(&spec.space, sorted, TRIALS, 6, &rng, &made));
}
