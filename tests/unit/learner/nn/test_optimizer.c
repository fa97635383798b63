/*
 * Optimizers against the textbook formulas in double precision.
 */
#include <float.h>

#include "learner/nn/optimizer.h"
#include "tests/support/test.h"

enum { COUNT = 37 };

typedef struct fixture {
    aq_optimizer optimizer;
    float m[COUNT], v[COUNT], parameters[COUNT], gradient[COUNT];
} fixture;

static void init(fixture *f, float learning_rate, float epsilon)
{
    memset(f, 0, sizeof(*f));
    f->optimizer = (aq_optimizer){.learning_rate = learning_rate,
                                  .beta1 = 0.9f,
                                  .beta2 = 0.999f,
                                  .is_corrected = true,
                                  .epsilon = epsilon,
                                  .m = f->m,
                                  .v = f->v};
}

TEST(the_first_step_is_the_learning_rate_against_the_sign)
{
    fixture f;
    init(&f, 0.01f, 1e-8f);
    for (int i = 0; i < COUNT; i++) {
        f.gradient[i] = (i % 2 == 0 ? 1.0f : -1.0f) * powf(10, (float)(i % 9 - 4));
    }
    aq_optimizer_step(&f.optimizer, f.parameters, f.gradient, COUNT, 1);
    for (int i = 0; i < COUNT; i++) {
        assert_true(fabs(f.parameters[i] + (i % 2 == 0 ? 0.01 : -0.01)) < 2e-6);
    }
    assert_int_equal(f.optimizer.step, 1);
}

TEST(a_hundred_steps_follow_the_textbook)
{
    double p[COUNT] = {0}, m[COUNT] = {0}, v[COUNT] = {0};
    const double beta1 = 0.9f, beta2 = 0.999f, scale = 0.25;
    fixture f;
    init(&f, 1e-2f, 1e-3f);
    aq_rng rng = rng_of(5, 0);
    for (int t = 1; t <= 100; t++) {
        for (int i = 0; i < COUNT; i++) {
            f.gradient[i] = (float)(aq_rng_normal(&rng) + 0.1 * i);
        }
        aq_optimizer_step(&f.optimizer, f.parameters, f.gradient, COUNT, (float)scale);
        for (int i = 0; i < COUNT; i++) {
            double g = f.gradient[i] * scale;
            m[i] = beta1 * m[i] + (1 - beta1) * g;
            v[i] = beta2 * v[i] + (1 - beta2) * g * g;
            p[i] -=
                0.01f * (m[i] / (1 - pow(beta1, t))) / (sqrt(v[i] / (1 - pow(beta2, t))) + 1e-3f);
            assert_near(f.parameters[i], p[i], 1e-6);
        }
    }
}

/* Of PyTorch 1.13's AdamW in double: lr 0.01, weight_decay 0.1, the gradients below, ten steps. */
TEST(decay_is_decoupled_as_in_adamw)
{
    static const double torch[] = {0.161957079, 0.190551932, 0.198992390, 0.295057824, 0.393857046};
    fixture f;
    init(&f, 0.01f, 1e-8f);
    f.optimizer.weight_decay = 0.1f;
    for (int i = 0; i < 5; i++) {
        f.parameters[i] = 0.1f * (float)(i + 1);
    }
    for (int t = 1; t <= 10; t++) {
        for (int i = 0; i < 5; i++) {
            f.gradient[i] = (float)(i - 2) * 0.3f + 0.1f * (float)t;
        }
        aq_optimizer_step(&f.optimizer, f.parameters, f.gradient, 5, 1);
    }
    EACH_ROW(i, torch) {
        assert_near(f.parameters[i], torch[i], 1e-6);
    }
}

/* So many that threads share them out. */
TEST(threads_change_no_bit)
{
    enum { MANY = 200001, ARRAYS = 7, STEPS = 3 };
    float *all = aq_alloc(ARRAYS * MANY, sizeof(*all));
    float *gradient = all + (size_t)6 * MANY;
    aq_optimizer optimizers[2];
    aq_thread_pool *pool;
    assert_non_null(all);
    assert_int_equal(aq_thread_pool_create(3, &pool), 0);
    for (size_t i = 0; i < 2; i++) {
        float *own = all + i * 3 * MANY;
        optimizers[i] = (aq_optimizer){.learning_rate = 0.01f,
                                       .beta1 = 0.9f,
                                       .beta2 = 0.999f,
                                       .is_corrected = true,
                                       .epsilon = 1e-8f,
                                       .m = own + MANY,
                                       .v = own + (size_t)2 * MANY,
                                       .pool = i == 0 ? NULL : pool};
    }
    aq_rng rng = rng_of(3, 0);
    for (size_t t = 0; t < STEPS; t++) {
        fill_normal(gradient, MANY, 1, &rng);
        for (size_t i = 0; i < 2; i++) {
            aq_optimizer_step(&optimizers[i], all + i * 3 * MANY, gradient, MANY, 0.5f);
        }
    }
    assert_memory_equal(all, all + (size_t)3 * MANY, (size_t)3 * MANY * sizeof(*all));
    assert_true(all[MANY - 1] != 0);
    aq_thread_pool_destroy(pool);
    aq_free(all);
}

TEST(the_settings_make_an_optimizer)
{
    aq_run_config config = {0};
    config.learner.learning_rate = 0.5;
    config.learner.adam_epsilon = 0.25;
    config.learner.weight_decay = 0.125;
    const aq_optimizer adam = aq_optimizer_of(&config, NULL, NULL);
    assert_true(adam.learning_rate == 0.5f && adam.epsilon == 0.25f && adam.weight_decay == 0.125f);
    assert_true(adam.beta1 == 0.9f && adam.beta2 == 0.999f && adam.step == 0);
}

TEST(zero_gradients_leave_the_parameters)
{
    fixture f;
    init(&f, 0.01f, 1e-8f);
    f.parameters[3] = 2;
    for (int t = 0; t < 10; t++) {
        aq_optimizer_step(&f.optimizer, f.parameters, f.gradient, COUNT, 1);
    }
    assert_true(f.parameters[3] == 2);
    assert_true(f.parameters[0] == 0);
}

TEST(moments_never_become_denormal)
{
    fixture f;
    init(&f, 0.01f, 1e-8f);
    f.gradient[0] = 1e-12f;
    f.gradient[1] = -1;
    aq_optimizer_step(&f.optimizer, f.parameters, f.gradient, COUNT, 1);
    memset(f.gradient, 0, sizeof(f.gradient));
    for (int t = 0; t < 2000; t++) {
        aq_optimizer_step(&f.optimizer, f.parameters, f.gradient, COUNT, 1);
        assert_true(f.m[0] == 0 || fabsf(f.m[0]) >= FLT_MIN);
        assert_true(f.m[1] == 0 || fabsf(f.m[1]) >= FLT_MIN);
        assert_true(f.v[0] == 0 || f.v[0] >= FLT_MIN);
    }
    assert_true(f.m[1] == 0);
}

TEST(the_largest_gradients_leave_everything_finite)
{
    fixture f;
    init(&f, 1, 1e-16f);
    for (int t = 0; t < 100; t++) {
        f.gradient[0] = (float)AQ_GRADIENT_NORM_MAX;
        f.gradient[1] = t == 0 ? (float)AQ_GRADIENT_NORM_MAX : FLT_MIN;
        f.gradient[2] = t % 2 == 0 ? FLT_MIN : -FLT_MIN;
        f.gradient[3] = 1e-17f;
        aq_optimizer_step(&f.optimizer, f.parameters, f.gradient, COUNT, 1);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_true(isfinite(f.parameters[i]) && isfinite(f.m[i]) && isfinite(f.v[i]));
    }
}

TEST(the_norm_is_the_root_of_the_sum_of_squares)
{
    const float gradient[] = {3, -4, 12, 84};
    assert_true(aq_gradient_norm(gradient, 4) == 85);
    assert_true(aq_gradient_norm(gradient, 2) == 5);
}

TEST(the_norm_of_large_elements_does_not_overflow)
{
    const float gradient[] = {FLT_MAX, -FLT_MAX};
    assert_true(isfinite(aq_gradient_norm(gradient, 2)));
}

TEST(the_norm_of_a_nan_is_not_finite)
{
    float gradient[COUNT];
    for (int at = 0; at < COUNT; at++) {
        memset(gradient, 0, sizeof(gradient));
        gradient[at] = NAN;
        assert_true(isnan(aq_gradient_norm(gradient, COUNT)));
        gradient[at] = -INFINITY;
        assert_true(isinf(aq_gradient_norm(gradient, COUNT)));
    }
}
