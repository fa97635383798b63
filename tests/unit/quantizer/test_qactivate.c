/*
 * The engine's activation functions against the mathematics library, in units of the last place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/rl/netspec.h"
#include "quantizer/qactivate.h"

enum { COUNT = 1024 };

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static double one_place(double value)
{
    const float magnitude = fabsf((float)value);
    return (double)nextafterf(magnitude, INFINITY) - (double)magnitude;
}

static double exact_elu(double x)
{
    return x > 0.0 ? x : expm1(x);
}

/* Every 4099th float there is: 2^20 of them. */
static void check_everywhere(uint32_t activation, double (*exact)(double))
{
    float x[COUNT];
    float y[COUNT];
    uint32_t bits = 0;
    for (uint32_t block = 0; block < (1u << 20) / COUNT; block++) {
        for (int i = 0; i < COUNT; i++, bits += 4099) {
            x[i] = from_bits(bits);
        }
        memcpy(y, x, sizeof(x));
        aq_qactivate(activation, y, 1, COUNT, COUNT);
        for (int i = 0; i < COUNT; i++) {
            if (isnan(x[i])) {
                assert_true(isnan(y[i]));
            } else if (isinf(x[i])) {
                assert_true((double)y[i] == exact((double)x[i]));
            } else {
                const double wanted = exact((double)x[i]);
                const double error = fabs((double)y[i] - wanted);
                assert_true(error <= AQ_QACTIVATE_ULP * one_place(wanted));
            }
        }
    }
}

static void test_tanh_is_within_its_bound_everywhere(void **state)
{
    (void)state;
    check_everywhere(AQ_ACTIVATION_TANH, tanh);
}

static void test_elu_is_within_its_bound_everywhere(void **state)
{
    (void)state;
    check_everywhere(AQ_ACTIVATION_ELU, exact_elu);
}

static void test_tanh_stays_within_1_and_is_odd(void **state)
{
    (void)state;
    for (int i = 0; i <= 4000; i++) {
        float pair[2] = {(float)i * 0.005f, (float)i * -0.005f};
        aq_qactivate(AQ_ACTIVATION_TANH, pair, 1, 2, 2);
        assert_true(pair[0] <= 1.0f);
        assert_true(pair[0] == -pair[1]);
    }
}

static void test_nan_and_infinities(void **state)
{
    float tanhs[] = {NAN, INFINITY, -INFINITY, -0.0f};
    float elus[] = {NAN, INFINITY, -INFINITY, 0.0f};
    (void)state;
    aq_qactivate(AQ_ACTIVATION_TANH, tanhs, 1, 4, 4);
    aq_qactivate(AQ_ACTIVATION_ELU, elus, 1, 4, 4);
    assert_true(isnan(tanhs[0]));
    assert_true(tanhs[1] == 1.0f);
    assert_true(tanhs[2] == -1.0f);
    assert_true(tanhs[3] == 0.0f && signbit(tanhs[3]));
    assert_true(isnan(elus[0]));
    assert_true(isinf(elus[1]));
    assert_true(elus[2] == -1.0f);
    assert_true(elus[3] == 0.0f);
}

/* Vector lanes and the values left over must not differ. */
static void test_a_value_does_not_depend_on_its_place(void **state)
{
    (void)state;
    for (uint32_t activation = AQ_ACTIVATION_TANH; activation <= AQ_ACTIVATION_ELU; activation++) {
        for (size_t count = 1; count <= 37; count++) {
            float values[37];
            for (size_t i = 0; i < count; i++) {
                values[i] = (float)i * 0.37f - 5.0f;
            }
            aq_qactivate(activation, values, 1, count, count);
            for (size_t i = 0; i < count; i++) {
                float alone = (float)i * 0.37f - 5.0f;
                aq_qactivate(activation, &alone, 1, 1, 1);
                assert_memory_equal(&alone, &values[i], sizeof(alone));
            }
        }
    }
}

static void test_what_is_between_the_rows_is_left_alone(void **state)
{
    float values[] = {1.0f, 1.0f, 7.0f, 1.0f, 1.0f, 7.0f};
    (void)state;
    aq_qactivate(AQ_ACTIVATION_TANH, values, 2, 2, 3);
    assert_true(values[0] < 0.8f && values[1] < 0.8f && values[3] < 0.8f && values[4] < 0.8f);
    assert_true(values[2] == 7.0f && values[5] == 7.0f);
}

static void test_none_and_relu_are_left_to_the_kernels(void **state)
{
    float values[] = {-1.0f, 2.0f};
    (void)state;
    aq_qactivate(AQ_ACTIVATION_NONE, values, 1, 2, 2);
    aq_qactivate(AQ_ACTIVATION_RELU, values, 1, 2, 2);
    assert_true(values[0] == -1.0f && values[1] == 2.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tanh_is_within_its_bound_everywhere),
        cmocka_unit_test(test_elu_is_within_its_bound_everywhere),
        cmocka_unit_test(test_tanh_stays_within_1_and_is_odd),
        cmocka_unit_test(test_nan_and_infinities),
        cmocka_unit_test(test_a_value_does_not_depend_on_its_place),
        cmocka_unit_test(test_what_is_between_the_rows_is_left_alone),
        cmocka_unit_test(test_none_and_relu_are_left_to_the_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
