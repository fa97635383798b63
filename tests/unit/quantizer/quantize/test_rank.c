/*
 * A value's rank, against sorting.
 */
#include <float.h>

#include "quantizer/quantize/rank.h"
#include "tests/support/test.h"

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

TEST(every_rank_is_that_of_sorting)
{
    float values[COUNT_MAX];
    aq_rng rng = rng_of(5, 0);
    for (size_t count = 1; count <= COUNT_MAX; count += 13) {
        fill_normal(values, count, 1, &rng);
        assert_ranks(values, count);
    }
}

TEST(equal_values_have_neighbouring_ranks)
{
    float values[COUNT_MAX];
    aq_rng rng = rng_of(6, 0);
    for (size_t i = 0; i < COUNT_MAX; i++) {
        values[i] = (float)aq_rng_below(&rng, 5) - 2.0f;
    }
    assert_ranks(values, COUNT_MAX);
}

TEST(extremes_have_their_places)
{
    const float values[] = {FLT_MAX,   -FLT_TRUE_MIN, INFINITY, 0.0f,
                            -INFINITY, FLT_TRUE_MIN,  -FLT_MAX, 1.0f};
    assert_ranks(values, sizeof(values) / sizeof(values[0]));
}

TEST(minus_zero_stands_before_zero)
{
    const float values[] = {0.0f, -0.0f};
    assert_true(signbit(aq_rank_value(values, 2, 0)));
    assert_false(signbit(aq_rank_value(values, 2, 1)));
}
