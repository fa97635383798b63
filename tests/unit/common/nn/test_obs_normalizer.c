/*
 * Running means and deviations against those of all rows at once, and a folded layer against
 * normalizing first.
 */
#include "common/nn/forward.h"
#include "common/nn/obs_normalizer.h"
#include "tests/support/test.h"

enum { WIDTH = 5, ROWS = 700 };

/* Elements of very different means and sizes; the last is always 3. */
static void fill(float *rows, size_t count, uint64_t seed)
{
    static const double mean[WIDTH] = {0, 100, -3, 1e-3, 3};
    static const double size[WIDTH] = {1, 25, 1e-2, 1e-4, 0};
    aq_rng rng = rng_of(seed, 0);
    for (size_t i = 0; i < count * WIDTH; i++) {
        rows[i] = (float)(mean[i % WIDTH] + size[i % WIDTH] * aq_rng_normal(&rng));
    }
}

static void see(aq_obs_normalizer *normalizer, const float *rows, size_t count, size_t at_once)
{
    for (size_t i = 0; i < count; i += at_once) {
        const size_t rest = count - i < at_once ? count - i : at_once;
        assert_int_equal(aq_obs_normalizer_see(normalizer, rows + i * WIDTH, rest), 0);
    }
}

TEST_ENDING(fini, aq_obs_normalizer_fini);

/* It is cleared away when the test is over. */
static void init(aq_obs_normalizer *normalizer)
{
    assert_int_equal(aq_obs_normalizer_init(normalizer, WIDTH), 0);
    at_end(fini, normalizer);
}

TEST(what_it_knows_does_not_depend_on_the_batches)
{
    static float rows[ROWS * WIDTH];
    static aq_obs_normalizer one, many;
    fill(rows, ROWS, 1);
    init(&one);
    init(&many);
    see(&one, rows, ROWS, ROWS);
    see(&many, rows, ROWS, 9);
    assert_true(one.statistics[0] == ROWS && many.statistics[0] == ROWS);
    for (int j = 0; j < WIDTH; j++) {
        assert_true(fabs(one.mean[j] - many.mean[j]) <= 1e-12 * (1 + fabs(one.mean[j])));
        assert_true(fabs(one.squares[j] - many.squares[j]) <= 1e-9 * (1e-9 + one.squares[j]));
    }
}

TEST(the_same_batches_give_the_same_bits)
{
    static float rows[ROWS * WIDTH];
    static aq_obs_normalizer a, b;
    fill(rows, ROWS, 2);
    init(&a);
    init(&b);
    see(&a, rows, ROWS, 64);
    see(&b, rows, ROWS, 64);
    assert_memory_equal(a.statistics, b.statistics, a.statistics_count * sizeof(double));
    assert_memory_equal(a.factor, b.factor, WIDTH * sizeof(float));
}

TEST(what_was_seen_has_mean_zero_and_deviation_one)
{
    static float rows[ROWS * WIDTH], out[ROWS * WIDTH];
    static aq_obs_normalizer normalizer;
    fill(rows, ROWS, 3);
    init(&normalizer);
    see(&normalizer, rows, ROWS, 32);
    aq_obs_normalizer_apply(&normalizer, rows, ROWS, out);
    for (int j = 0; j < WIDTH; j++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < ROWS; i++) {
            sum += (double)out[i * WIDTH + j];
            squares += (double)out[i * WIDTH + j] * (double)out[i * WIDTH + j];
        }
        assert_true(fabs(sum / ROWS) < 2e-3);
        assert_true(j == WIDTH - 1 ? squares == 0 : fabs(squares / ROWS - 1) < 1e-3);
    }
}

TEST(before_anything_was_seen_it_changes_nothing)
{
    float rows[WIDTH] = {1, -2, 3e5f, 0, 7}, out[WIDTH];
    static aq_obs_normalizer normalizer;
    init(&normalizer);
    aq_obs_normalizer_apply(&normalizer, rows, 1, out);
    assert_memory_equal(rows, out, sizeof(rows));
}

TEST(a_number_that_is_none_is_refused_and_changes_nothing)
{
    static float rows[2 * WIDTH];
    const float bad[] = {NAN, INFINITY, -INFINITY};
    double before[1 + 2 * WIDTH];
    static aq_obs_normalizer normalizer;
    fill(rows, 2, 4);
    init(&normalizer);
    see(&normalizer, rows, 2, 2);
    memcpy(before, normalizer.statistics, sizeof(before));
    for (int i = 0; i < 3; i++) {
        rows[WIDTH + i] = bad[i];
        assert_int_equal(aq_obs_normalizer_see(&normalizer, rows, 2), AQ_E_CORRUPT);
        assert_memory_equal(before, normalizer.statistics, sizeof(before));
        rows[WIDTH + i] = 0;
    }
}

TEST(a_folded_network_does_what_normalizing_first_does)
{
    static float rows[ROWS * WIDTH], seen[ROWS * WIDTH];
    const uint32_t hidden[] = {16, 12};
    float one[3], other[3], scratch[2 * 16];
    aq_net_spec spec;
    aq_params params, folded;
    static aq_obs_normalizer normalizer;
    fill(rows, ROWS, 5);
    aq_rng rng = rng_of(6, 0);
    assert_int_equal(aq_net_spec_init_mlp(WIDTH, hidden, 2, 3, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    assert_int_equal(aq_params_init(&spec, &params), 0);
    assert_int_equal(aq_params_init(&spec, &folded), 0);
    aq_params_randomize(&spec, &params, &rng);
    init(&normalizer);
    see(&normalizer, rows, ROWS, 64);
    aq_params_copy(&folded, &params);
    aq_obs_normalizer_fold(&normalizer, &spec, &folded);
    aq_obs_normalizer_apply(&normalizer, rows, ROWS, seen);
    for (int i = 0; i < ROWS; i++) {
        aq_forward_reference(&spec, &params, seen + i * WIDTH, 1, scratch, one);
        aq_forward_reference(&spec, &folded, rows + i * WIDTH, 1, scratch, other);
        for (int k = 0; k < 3; k++) {
            assert_true(fabsf(one[k] - other[k]) <= 1e-3f * (1 + fabsf(one[k])));
        }
    }
    aq_params_fini(&params);
    aq_params_fini(&folded);
}

TEST(init_survives_every_failed_allocation)
{
    aq_obs_normalizer normalizer = {0};
    int rc = 0, tries = 0;
    EACH_ALLOCATION_FAILS(rc) {
        tries++;
        assert_null(normalizer.statistics);
        rc = aq_obs_normalizer_init(&normalizer, WIDTH);
    }
    assert_true(tries > 4);
    aq_obs_normalizer_fini(&normalizer);
}
