/*
 * Gradients that were packed, and what an optimizer makes of them.
 */
#include "learner/gradients/gradient_codes.h"
#include "learner/nn/optimizer.h"
#include "tests/support/test.h"

enum { SMALL = 192, COUNT = 2 * SMALL };

/* How far Adam moves the first numbers in all. */
static double path_of_the_small(enum aq_gradient_format format)
{
    static uint8_t packed[COUNT * sizeof(float)];
    float p[COUNT] = {0}, m[COUNT] = {0}, v[COUNT] = {0}, residual[COUNT] = {0}, gradient[COUNT];
    const aq_run_config config = {.learner = {.learning_rate = 1e-3, .adam_epsilon = 1e-8}};
    aq_optimizer adam = aq_optimizer_of(&config, m, v);
    aq_rng rng = rng_of(3, 0);
    double path = 0;
    for (int step = 0; step < 500; step++) {
        for (int i = 0; i < COUNT; i++) {
            gradient[i] = (float)((i < SMALL ? 1e-3 : 1.0) * (1.0 + aq_rng_normal(&rng)));
        }
        aq_gradient_pack(format, gradient, COUNT, residual, packed);
        assert_succeeds(aq_gradient_unpack(format, packed, COUNT, gradient));
        const double before = (double)p[SMALL / 2];
        aq_optimizer_step(&adam, p, gradient, COUNT, 1);
        path += fabs((double)p[SMALL / 2] - before);
    }
    return path;
}

/* A layer's gradient may be a thousandth of the next one's. */
TEST(numbers_beside_much_greater_ones_go_as_far_as_in_fp32)
{
    const double far = path_of_the_small(AQ_GRADIENT_FP32);
    assert_near(path_of_the_small(AQ_GRADIENT_BF16) / far, 1.0, 0.02);
    assert_near(path_of_the_small(AQ_GRADIENT_INT8) / far, 1.0, 0.02);
}
