/*
 * The passes against libm and double precision, and every rung against the generic one, bit by bit:
 * odd lengths, starts that are not aligned, guards on both sides.
 */
#include <float.h>

#include "common/sys/cpu.h"
#include "learner/nn/passes.h"
#include "tests/support/test.h"
#include "tests/unit/learner/net_fixture.h"

enum { ROOM = 4096, GUARD = 16, PART = 1024 };

static const uint32_t activations[] = {AQ_ACTIVATION_NONE, AQ_ACTIVATION_RELU, AQ_ACTIVATION_TANH,
                                       AQ_ACTIVATION_ELU};
enum { ACTIVATIONS = sizeof(activations) / sizeof(activations[0]) };

static float activate(const aq_passes *passes, uint32_t activation, float z)
{
    float bias = 0;
    passes->bias_activate(&z, &bias, 1, 1, 1, activation);
    return z;
}

/* Rungs that this machine can run. */
static const aq_passes *rung(size_t *index)
{
    const aq_passes *passes;
    while ((passes = aq_passes_rung((*index)++)) != NULL) {
        if ((passes->cpu_flags & aq_cpu_flags()) == passes->cpu_flags) {
            return passes;
        }
    }
    return NULL;
}

static const aq_passes *generic(void)
{
    const aq_passes *last = NULL;
    for (size_t i = 0; aq_passes_rung(i) != NULL; i++) {
        last = aq_passes_rung(i);
    }
    return last;
}

TEST(activations_are_within_3e_7_of_the_exact_value)
{
    const aq_passes *passes;
    for (size_t r = 0; (passes = rung(&r)) != NULL;) {
        for (size_t a = 0; a < ACTIVATIONS; a++) {
            for (int i = -300000; i <= 300000; i++) {
                float z = (float)i * 1e-4f;
                double want = exact_activation(activations[a], z);
                double error = fabs(activate(passes, activations[a], z) - want);
                if (error > 3e-7 * fmax(fabs(want), 1e-30)) {
                    fail_msg("%s: activation %u of %.9g is off by %g", passes->name, activations[a],
                             (double)z, error);
                }
            }
        }
    }
}

TEST(activations_of_extreme_values_are_their_limits)
{
    const float large[] = {20, 21, 88, 89, 1e3f, 1e20f, FLT_MAX, INFINITY};
    const aq_passes *passes;
    for (size_t r = 0; (passes = rung(&r)) != NULL;) {
        EACH_ROW(i, large) {
            assert_true(activate(passes, AQ_ACTIVATION_TANH, large[i]) == 1.0f);
            assert_true(activate(passes, AQ_ACTIVATION_TANH, -large[i]) == -1.0f);
            assert_true(activate(passes, AQ_ACTIVATION_ELU, large[i]) == large[i]);
            assert_true(activate(passes, AQ_ACTIVATION_ELU, -large[i]) == -1.0f);
        }
    }
}

TEST(activations_of_tiny_values_keep_their_precision)
{
    const aq_passes *passes;
    for (size_t r = 0; (passes = rung(&r)) != NULL;) {
        for (float z = 1e-3f; z > 1e-30f; z *= 0.5f) {
            assert_true(fabs(activate(passes, AQ_ACTIVATION_TANH, z) - tanh(z)) <= 3e-7 * z);
            assert_true(fabs(activate(passes, AQ_ACTIVATION_ELU, -z) - expm1(-z)) <= 3e-7 * z);
        }
        assert_true(activate(passes, AQ_ACTIVATION_TANH, 0) == 0);
        assert_true(activate(passes, AQ_ACTIVATION_ELU, 0) == 0);
    }
}

TEST(nan_stays_nan)
{
    const aq_passes *passes;
    for (size_t r = 0; (passes = rung(&r)) != NULL;) {
        for (size_t a = 0; a < ACTIVATIONS; a++) {
            assert_true(isnan(activate(passes, activations[a], NAN)));
        }
        assert_true(isnan(passes->sum_squares(&(float){NAN}, 1)));
        assert_true(isinf(passes->sum_squares(&(float){-INFINITY}, 1)));
    }
}

/* act'(z) by central differences in double. */
TEST(backward_multiplies_by_the_slope_and_sums_columns)
{
    enum { ROWS = 37, WIDTH = 5 };
    float out[ROWS * WIDTH], d[ROWS * WIDTH], before[ROWS * WIDTH], z[ROWS * WIDTH], sums[WIDTH];
    const float bias[WIDTH] = {0};
    aq_rng rng = rng_of(7, 0);
    for (size_t a = 0; a < ACTIVATIONS; a++) {
        double want_sums[WIDTH] = {0};
        fill_normal(z, ROWS * WIDTH, 2, &rng);
        fill_normal(d, ROWS * WIDTH, 1, &rng);
        memcpy(out, z, sizeof(out));
        memcpy(before, d, sizeof(before));
        aq_passes_best()->bias_activate(out, bias, ROWS, WIDTH, WIDTH, activations[a]);
        aq_passes_best()->activate_backward(d, out, ROWS, WIDTH, activations[a], sums);
        for (size_t i = 0; i < ROWS * WIDTH; i++) {
            const double h = 1e-6;
            double slope = (exact_activation(activations[a], z[i] + h) -
                            exact_activation(activations[a], z[i] - h)) /
                           (2 * h);
            assert_near(d[i], before[i] * slope, 1e-6);
            want_sums[i % WIDTH] += d[i];
        }
        for (size_t c = 0; c < WIDTH; c++) {
            assert_near(sums[c], want_sums[c], 1e-5);
        }
    }
}

TEST(what_lies_between_rows_is_left)
{
    enum { COLUMNS = 3, GAP = 2, LINES = 4 };
    float values[LINES][COLUMNS + GAP];
    const float bias[COLUMNS] = {1, 2, 3};
    memset(values, 0, sizeof(values));
    aq_passes_best()->bias_activate(values[0], bias, LINES, COLUMNS, COLUMNS + GAP,
                                    AQ_ACTIVATION_RELU);
    for (size_t r = 0; r < LINES; r++) {
        for (size_t c = 0; c < COLUMNS + GAP; c++) {
            assert_float_equal(values[r][c], c < COLUMNS ? bias[c] : 0, 0);
        }
    }
}

TEST(sum_of_squares_is_that_of_double_precision)
{
    float values[ROOM];
    aq_rng rng = rng_of(3, 0);
    fill_normal(values, ROOM, 1e15, &rng);
    for (size_t count = 0; count < 200; count++) {
        double want = 0;
        for (size_t i = 0; i < count; i++) {
            want += (double)values[i] * values[i];
        }
        assert_true(fabs(aq_passes_best()->sum_squares(values, count) - want) <= 1e-14 * want);
    }
}

TEST(u8_becomes_0_to_1)
{
    uint8_t bytes[256];
    float out[256];
    for (int i = 0; i < 256; i++) {
        bytes[i] = (uint8_t)i;
    }
    aq_passes_best()->unit_from_u8(bytes, out, 256);
    for (int i = 0; i < 256; i++) {
        assert_true(out[i] == (float)i / 255.0f);
    }
}

typedef struct arrays {
    float a[ROOM], b[ROOM], c[ROOM], d[ROOM];
} arrays;

/* Fake quantization and norms of (rows, width) numbers of x->a that start at `at`, into other parts
 * of the other arrays. */
static void run_layers(const aq_passes *passes, arrays *x, size_t at, size_t rows, size_t width)
{
    aq_norm_row normed[16] = {0};
    passes->fake_quant_weights(x->a + at, rows, width, 1 + width / 2, 7, x->b + at + PART);
    passes->fake_quant_rows(x->a + at, rows, width, x->c + at + PART);
    for (size_t a = 0; a < ACTIVATIONS; a++) {
        passes->norm_forward(x->a + at, x->b + at, x->c + at, rows, width, activations[a], normed,
                             x->d + at + PART);
        passes->norm_backward(&(aq_norm_backward){.rows = rows,
                                                  .width = width,
                                                  .activation = activations[a],
                                                  .d = x->c + at,
                                                  .out = x->d + at + PART,
                                                  .x = x->a + at,
                                                  .gain = x->b + at,
                                                  .kept = normed,
                                                  .ret_d_gain = x->c + at + (size_t)2 * PART,
                                                  .ret_d_bias = x->c + at + (size_t)2 * PART + 128,
                                                  .d_x = x->d + at + (size_t)2 * PART});
    }
    passes->softmax(x->a + at, rows, width, x->c + at + (size_t)3 * PART);
    passes->squash(&(aq_squash_pass){.count = rows * width,
                                     .mean = x->a + at,
                                     .log_deviation = x->b + at,
                                     .noise = x->c + at,
                                     .ret_deviation = x->b + at + (size_t)2 * PART + 64,
                                     .ret_action = x->d + at + (size_t)3 * PART,
                                     .ret_log_density = x->c + at + (size_t)2 * PART});
    passes->approach(x->c + at + (size_t)3 * PART, x->d + at + PART, 0.3f, rows * width);
    passes->add(x->c + at + (size_t)3 * PART, x->d + at + PART, rows * width);
    passes->sum(x->c + at + (size_t)3 * PART, x->d + at + PART, x->d + at + (size_t)2 * PART,
                rows * width);
    for (size_t r = 0; r < rows; r++) {
        x->b[at + 2 * PART + r] = normed[r].mean;
        x->b[at + 3 * PART + r] = normed[r].inverse;
    }
}

/* Everything that the passes do to (rows, width) numbers that start at `at`. */
static double run_all(const aq_passes *passes, arrays *x, size_t at, size_t rows, size_t width)
{
    aq_adam_pass pass = {.gradient_scale = 0.7f,
                         .beta1 = 0.9f,
                         .beta2 = 0.999f,
                         .step_size = 1e-3f,
                         .epsilon = 1e-8f,
                         .decay = 1e-4f};
    double sum = 0;
    run_layers(passes, x, at, rows, width);
    for (size_t a = 0; a < ACTIVATIONS; a++) {
        passes->bias_activate(x->a + at, x->b + at, rows, width, width, activations[a]);
        passes->activate_backward(x->c + at, x->a + at, rows, width, activations[a], x->d + at);
    }
    passes->adam(&pass, x->b + at, x->c + at, x->d + at, x->a + at, rows * width);
    sum += passes->sum_squares(x->b + at, rows * width);
    return sum;
}

TEST(all_rungs_give_the_same_bits_and_stay_in_bounds)
{
    static arrays start, want, got;
    const size_t widths[] = {1, 2, 3, 7, 15, 16, 17, 31, 64, 65};
    const aq_passes *passes;
    aq_rng rng = rng_of(11, 0);
    EACH_ROW(w, widths) {
        for (size_t shift = 0; shift < 3; shift++) {
            const size_t at = GUARD + shift, rows = 9, count = rows * widths[w];
            fill_normal(start.a, sizeof(start) / sizeof(float), 1, &rng);
            for (size_t i = 0; i < ROOM; i++) {
                start.d[i] = fabsf(start.d[i]); /* second moments */
            }
            want = start;
            double want_sum = run_all(generic(), &want, at, rows, widths[w]);
            assert_memory_equal(start.a, want.a, at * sizeof(float));
            assert_memory_equal(start.a + at + count, want.a + at + count,
                                (ROOM - at - count) * sizeof(float));
            for (size_t r = 0; (passes = rung(&r)) != NULL;) {
                got = start;
                double got_sum = run_all(passes, &got, at, rows, widths[w]);
                assert_memory_equal(&want, &got, sizeof(got));
                assert_memory_equal(&want_sum, &got_sum, sizeof(got_sum));
            }
        }
    }
}

/* A group's scale is its own: the last, shorter one's, too. */
TEST(groups_of_weights_have_scales_of_their_own)
{
    const float w[10] = {7, -3.4f, 1, 70, 34, -70, 0.7f, 0.1f, 0, -0.5f};
    const float want[10] = {7, -3, 1, 70, 30, -70, 0, 0, 0, -0.5f};
    const aq_passes *passes;
    for (size_t r = 0; (passes = rung(&r)) != NULL;) {
        float out[10];
        passes->fake_quant_weights(w, 2, 5, 3, 7, out);
        for (size_t i = 0; i < 10; i++) {
            assert_true(fabsf(out[i] - want[i]) <= 1e-6f * fabsf(want[i]));
        }
    }
}

TEST(a_normed_row_has_mean_0_and_variance_1)
{
    enum { WIDTH = 77 };
    const float bias[WIDTH] = {0};
    float x[WIDTH], gain[WIDTH], out[WIDTH];
    const aq_passes *passes;
    aq_norm_row kept;
    aq_rng rng = rng_of(23, 0);
    for (size_t i = 0; i < WIDTH; i++) {
        x[i] = (float)(1000 + 5 * aq_rng_normal(&rng)); /* far from 0 */
        gain[i] = 1;
    }
    for (size_t r = 0; (passes = rung(&r)) != NULL;) {
        double sum = 0, squares = 0;
        passes->norm_forward(x, gain, bias, 1, WIDTH, AQ_ACTIVATION_NONE, &kept, out);
        for (size_t i = 0; i < WIDTH; i++) {
            sum += (double)out[i];
            squares += (double)out[i] * (double)out[i];
        }
        assert_true(fabs(sum / WIDTH) < 1e-4);
        assert_near(squares / WIDTH, 1, 1e-4);
    }
}

TEST(a_row_without_variance_becomes_zeros)
{
    const float x[5] = {3, 3, 3, 3, 3}, gain[5] = {1, 2, 3, 4, 5}, bias[5] = {0};
    const aq_passes *passes;
    aq_norm_row kept;
    float out[5];
    for (size_t r = 0; (passes = rung(&r)) != NULL;) {
        passes->norm_forward(x, gain, bias, 1, 5, AQ_ACTIVATION_NONE, &kept, out);
        for (size_t i = 0; i < 5; i++) {
            assert_true(out[i] == 0);
        }
        assert_true(isfinite(kept.inverse));
    }
}

TEST(softmax_is_that_of_double_precision)
{
    enum { WIDTH = 51 };
    const float scales[] = {0.1f, 1, 30, 1000};
    const aq_passes *passes;
    float x[WIDTH], out[WIDTH];
    aq_rng rng = rng_of(29, 0);
    for (size_t r = 0; (passes = rung(&r)) != NULL;) {
        for (size_t s = 0; s < 4; s++) {
            double top, sum = 0;
            fill_normal(x, WIDTH, scales[s], &rng);
            top = x[0];
            for (size_t i = 0; i < WIDTH; i++) {
                top = fmax(top, x[i]);
            }
            for (size_t i = 0; i < WIDTH; i++) {
                sum += exp(x[i] - top);
            }
            passes->softmax(x, 1, WIDTH, out);
            for (size_t i = 0; i < WIDTH; i++) {
                assert_near(out[i], exp(x[i] - top) / sum, 1e-6);
            }
        }
    }
}

TEST(softmax_of_what_is_not_finite_is_nan)
{
    const aq_passes *passes;
    for (size_t r = 0; (passes = rung(&r)) != NULL;) {
        for (size_t at = 0; at < 20; at++) {
            float x[20] = {0}, out[20];
            x[at] = NAN;
            passes->softmax(x, 1, 20, out);
            assert_true(isnan(out[at]) && isnan(out[19 - at]));
            x[at] = INFINITY;
            passes->softmax(x, 1, 20, out);
            assert_true(isnan(out[at]));
        }
    }
}

/* -log(1 - tanh(u)^2), where that does not round to infinity. */
static double exact_stretch(double u)
{
    return 2.0 * (fabs(u) + log1p(exp(-2.0 * fabs(u))) - log(2.0));
}

TEST(squashed_draws_are_those_of_double_precision)
{
    enum { COUNT = 200 };
    const double spreads[] = {0.1, 1, 8};
    const aq_passes *passes;
    float mean[COUNT], log_deviation[COUNT], noise[COUNT];
    float deviation[COUNT], action[COUNT], log_density[COUNT];
    aq_rng rng = rng_of(31, 0);
    for (size_t r = 0; (passes = rung(&r)) != NULL;) {
        EACH_ROW(s, spreads) {
            fill_normal(mean, COUNT, spreads[s], &rng);
            fill_normal(log_deviation, COUNT, spreads[s], &rng);
            fill_normal(noise, COUNT, 2, &rng);
            passes->squash(&(aq_squash_pass){COUNT, mean, log_deviation, noise, deviation, action,
                                             log_density});
            for (size_t i = 0; i < COUNT; i++) {
                const double held = fmin(fmax((double)log_deviation[i], -5.0), 2.0);
                const double e = (double)noise[i], u = (double)mean[i] + exp(held) * e;
                const double exact =
                    exact_stretch(u) - 0.5 * e * e - held - 0.5 * log(2.0 * acos(-1.0));
                assert_near(deviation[i] / exp(held), 1, 1e-6);
                assert_near(action[i], tanh(u), 2e-6);
                assert_near(log_density[i], exact, 1e-5 * (1 + fabs(u)));
            }
        }
    }
}

TEST(a_draw_of_what_is_not_a_number_is_none)
{
    const aq_passes *passes;
    for (size_t r = 0; (passes = rung(&r)) != NULL;) {
        for (int bad = 0; bad < 3; bad++) {
            const float in[] = {bad == 0 ? NAN : 0.0f, bad == 1 ? NAN : 0.0f,
                                bad == 2 ? NAN : 0.0f};
            float deviation, action, log_density;
            passes->squash(
                &(aq_squash_pass){1, &in[0], &in[1], &in[2], &deviation, &action, &log_density});
            assert_true(isnan(action) && isnan(log_density));
        }
    }
}

TEST(the_mask_forces_a_lower_rung)
{
    size_t first = 0;
    aq_cpu_set_mask(0);
    assert_string_equal(aq_passes_best()->name, "generic");
    aq_cpu_set_mask(UINT32_MAX);
    assert_ptr_equal(aq_passes_best(), rung(&first));
}
