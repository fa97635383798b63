/*
 * Forward against the reference pass; backward against central finite differences.
 *
 * The differences are taken of the test's own forward pass in double precision, with h = 1e-6, so
 * they are exact to about 1e-9; the tolerance, 2e-5 of the gradient's largest element, is what sums
 * in single precision leave.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/nn/forward.h"
#include "learner/mlp_train.h"

enum { ROWS = 9, WIDTH_MAX = 24, PARAMETERS_MAX = 2048 };

typedef struct fixture {
    aq_net_spec spec;
    aq_params params, gradient;
    aq_mlp_train *train;
    float input[ROWS * WIDTH_MAX];
    float d_out[ROWS * WIDTH_MAX];
} fixture;

static void init(fixture *f, uint32_t inputs, const uint32_t *hidden, uint32_t hidden_count,
                 uint32_t outputs, enum aq_activation activation, uint64_t seed)
{
    aq_rng rng;

    memset(f, 0, sizeof(*f));
    assert_int_equal(
        aq_net_spec_init_mlp(inputs, hidden, hidden_count, outputs, activation, &f->spec, NULL), 0);
    assert_int_equal(aq_params_init(&f->spec, &f->params), 0);
    assert_int_equal(aq_params_init(&f->spec, &f->gradient), 0);
    assert_int_equal(aq_mlp_train_create(&f->spec, ROWS, ROWS, &f->train), 0);
    aq_rng_init(&rng, seed, 0);
    aq_params_randomize(&f->spec, &f->params, &rng);
    for (size_t i = 0; i < ROWS * WIDTH_MAX; i++) {
        f->input[i] = (float)aq_rng_normal(&rng);
        f->d_out[i] = (float)aq_rng_normal(&rng);
    }
}

static void fini(fixture *f)
{
    aq_mlp_train_destroy(f->train);
    aq_params_fini(&f->gradient);
    aq_params_fini(&f->params);
}

static double activate(uint32_t activation, double z)
{
    switch (activation) {
    case AQ_ACTIVATION_RELU:
        return z > 0 ? z : 0;
    case AQ_ACTIVATION_TANH:
        return tanh(z);
    case AQ_ACTIVATION_ELU:
        return z > 0 ? z : expm1(z);
    default:
        return z;
    }
}

/* sum over `rows` rows of d_out . net(input), in double; `parameters` in the block's order. */
static double objective(const fixture *f, const double *parameters, uint32_t rows)
{
    uint32_t inputs = aq_net_spec_inputs(&f->spec), outputs = aq_net_spec_outputs(&f->spec);
    double sum = 0;

    for (uint32_t r = 0; r < rows; r++) {
        double x[WIDTH_MAX], z[WIDTH_MAX];
        const double *at = parameters;

        for (uint32_t i = 0; i < inputs; i++) {
            x[i] = f->input[r * inputs + i];
        }
        for (uint32_t l = 0; l < f->spec.layer_count; l++) {
            const aq_layer_spec *layer = &f->spec.layers[l];

            for (uint32_t o = 0; o < layer->outputs; o++) {
                z[o] = at[layer->inputs * layer->outputs + o];
                for (uint32_t i = 0; i < layer->inputs; i++) {
                    z[o] += x[i] * at[o * layer->inputs + i];
                }
            }
            for (uint32_t o = 0; o < layer->outputs; o++) {
                x[o] = activate(layer->activation, z[o]);
            }
            at += (layer->inputs + 1) * layer->outputs;
        }
        for (uint32_t o = 0; o < outputs; o++) {
            sum += x[o] * f->d_out[r * outputs + o];
        }
    }
    return sum;
}

/* Backward over the first `rows` of ROWS rows against differences of those rows alone. */
static void check_gradient(fixture *f, uint32_t rows)
{
    const double h = 1e-6;
    double parameters[PARAMETERS_MAX], want[PARAMETERS_MAX], largest = 0;
    float d_out[ROWS * WIDTH_MAX];

    assert_true(f->params.count <= PARAMETERS_MAX);
    for (size_t k = 0; k < f->params.count; k++) {
        parameters[k] = f->params.block[k];
    }
    for (size_t k = 0; k < f->params.count; k++) {
        double value = parameters[k], above, below;

        parameters[k] = value + h;
        above = objective(f, parameters, rows);
        parameters[k] = value - h;
        below = objective(f, parameters, rows);
        parameters[k] = value;
        want[k] = (above - below) / (2 * h);
        largest = fmax(largest, fabs(want[k]));
    }
    memcpy(d_out, f->d_out, sizeof(d_out));
    aq_mlp_forward(f->train, &f->params, f->input, ROWS);
    aq_mlp_backward(f->train, &f->params, d_out, rows, &f->gradient);
    assert_true(largest > 0);
    for (size_t k = 0; k < f->params.count; k++) {
        if (!(fabs(f->gradient.block[k] - want[k]) <= 2e-5 * largest)) {
            fail_msg("parameter %zu: %.9g, by differences %.9g", k, (double)f->gradient.block[k],
                     want[k]);
        }
    }
}

static void check_random_specs(enum aq_activation activation)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        uint32_t hidden[4], hidden_count;
        fixture f;
        aq_rng rng;

        aq_rng_init(&rng, seed, activation);
        hidden_count = (uint32_t)aq_rng_below(&rng, 5);
        for (uint32_t i = 0; i < hidden_count; i++) {
            hidden[i] = 1 + (uint32_t)aq_rng_below(&rng, 20);
        }
        init(&f, 1 + (uint32_t)aq_rng_below(&rng, 8), hidden, hidden_count,
             1 + (uint32_t)aq_rng_below(&rng, 5), activation, seed);
        check_gradient(&f, ROWS);
        check_gradient(&f, 4);
        check_gradient(&f, 1);
        fini(&f);
    }
}

static void test_gradients_through_relu_are_right(void **state)
{
    (void)state;
    check_random_specs(AQ_ACTIVATION_RELU);
}

static void test_gradients_through_tanh_are_right(void **state)
{
    (void)state;
    check_random_specs(AQ_ACTIVATION_TANH);
}

static void test_gradients_through_elu_are_right(void **state)
{
    (void)state;
    check_random_specs(AQ_ACTIVATION_ELU);
}

static void test_gradients_through_an_activation_at_the_end_are_right(void **state)
{
    const uint32_t hidden[] = {6};
    fixture f;

    (void)state;
    init(&f, 3, hidden, 1, 4, AQ_ACTIVATION_ELU, 21);
    aq_mlp_train_destroy(f.train);
    f.spec.layers[1].activation = AQ_ACTIVATION_TANH;
    assert_int_equal(aq_mlp_train_create(&f.spec, ROWS, ROWS, &f.train), 0);
    check_gradient(&f, ROWS);
    fini(&f);
}

static void test_forward_is_that_of_the_reference(void **state)
{
    const uint32_t hidden[] = {24, 17};
    const enum aq_activation activations[] = {AQ_ACTIVATION_RELU, AQ_ACTIVATION_TANH,
                                              AQ_ACTIVATION_ELU};
    float scratch[2 * ROWS * WIDTH_MAX], want[ROWS * WIDTH_MAX];

    (void)state;
    for (size_t a = 0; a < 3; a++) {
        fixture f;

        init(&f, 7, hidden, 2, 5, activations[a], 31);
        for (uint32_t rows = 1; rows <= ROWS; rows++) {
            const float *out = aq_mlp_forward(f.train, &f.params, f.input, rows);

            aq_forward_reference(&f.spec, &f.params, f.input, rows, scratch, want);
            for (size_t i = 0; i < rows * 5; i++) {
                assert_true(fabsf(out[i] - want[i]) <= 1e-5f);
            }
        }
        fini(&f);
    }
}

static void test_a_step_allocates_nothing(void **state)
{
    const uint32_t hidden[] = {8, 8};
    uint64_t before;
    fixture f;

    (void)state;
    init(&f, 4, hidden, 2, 2, AQ_ACTIVATION_TANH, 1);
    before = aq_memory_allocation_count();
    for (int i = 0; i < 10; i++) {
        aq_mlp_forward(f.train, &f.params, f.input, ROWS);
        aq_mlp_backward(f.train, &f.params, f.d_out, ROWS, &f.gradient);
    }
    assert_int_equal(aq_memory_allocation_count(), before);
    fini(&f);
}

static void test_create_without_memory_fails(void **state)
{
    const uint32_t hidden[] = {8};
    aq_mlp_train *train = NULL;
    aq_net_spec spec;

    (void)state;
    assert_int_equal(aq_net_spec_init_mlp(4, hidden, 1, 2, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_mlp_train_create(&spec, ROWS, ROWS, &train), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    assert_null(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_through_relu_are_right),
        cmocka_unit_test(test_gradients_through_tanh_are_right),
        cmocka_unit_test(test_gradients_through_elu_are_right),
        cmocka_unit_test(test_gradients_through_an_activation_at_the_end_are_right),
        cmocka_unit_test(test_forward_is_that_of_the_reference),
        cmocka_unit_test(test_a_step_allocates_nothing),
        cmocka_unit_test(test_create_without_memory_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
