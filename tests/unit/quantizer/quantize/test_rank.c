/*
 * A value's rank, against sorting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/rng.h"
#include "quantizer/quantize/rank.h"

enum { COUNT_MAX = 300 };

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a;
    const float y = *(const float *)b;
    return (x > y) - (x < y);
}

static void assert_ranks(const float *values, size_t count)
{
    float sorted[COUNT_MAX];
    for (size_t i = 0; i < count; i++) {
        sorted[i] = values[i];
    }
    qsort(sorted, count, sizeof(*sorted), by_value);
    for (size_t i = 0; i < count; i++) {
        assert_true(aq_rank_value(values, count, i) == sorted[i]);
    }
}

static void test_every_rank_is_that_of_sorting(void **state)
{
    float values[COUNT_MAX];
    aq_rng rng;
    (void)state;
    aq_rng_init(&rng, 5, 0);
    for (size_t count = 1; count <= COUNT_MAX; count += 13) {
        for (size_t i = 0; i < count; i++) {
            values[i] = (float)aq_rng_normal(&rng);
        }
        assert_ranks(values, count);
    }
}

static void test_equal_values_have_neighbouring_ranks(void **state)
{
    float values[COUNT_MAX];
    aq_rng rng;
    (void)state;
    aq_rng_init(&rng, 6, 0);
    for (size_t i = 0; i < COUNT_MAX; i++) {
        values[i] = (float)aq_rng_below(&rng, 5) - 2.0f;
    }
    assert_ranks(values, COUNT_MAX);
}

static void test_extremes_have_their_places(void **state)
{
    const float values[] = {FLT_MAX,   -FLT_TRUE_MIN, INFINITY, 0.0f,
                            -INFINITY, FLT_TRUE_MIN,  -FLT_MAX, 1.0f};
    (void)state;
    assert_ranks(values, sizeof(values) / sizeof(values[0]));
}

static void test_minus_zero_stands_before_zero(void **state)
{
    const float values[] = {0.0f, -0.0f};
    (void)state;
    assert_true(signbit(aq_rank_value(values, 2, 0)));
    assert_false(signbit(aq_rank_value(values, 2, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rank_is_that_of_sorting),
        cmocka_unit_test(test_equal_values_have_neighbouring_ranks),
        cmocka_unit_test(test_extremes_have_their_places),
        cmocka_unit_test(test_minus_zero_stands_before_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
