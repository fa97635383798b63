/*
 * Sixteen-bit floats, all of them: there are few enough.
 */
#include <float.h>

#include "common/policy/half.h"
#include "tests/support/test.h"

enum { HALVES = 65536, F16_INFINITE = 0x7C00, BF16_INFINITE = 0x7F80 };

/* By the definition of the format: sign, 5 bits of exponent, 10 of fraction. */
static double f16_value(uint16_t half)
{
    const int exponent = half >> 10 & 0x1F;
    const int fraction = half & 0x3FF;
    const double magnitude =
        exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

/* sign, 8 bits of exponent, 7 of fraction */
static double bf16_value(uint16_t half)
{
    const int exponent = half >> 7 & 0xFF;
    const int fraction = half & 0x7F;
    const double magnitude =
        exponent == 0 ? ldexp(fraction, -133) : ldexp(128 + fraction, exponent - 134);
    return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

typedef struct half_kind {
    uint16_t (*from)(float value);
    float (*to)(uint16_t half);
    double (*value)(uint16_t half);
    uint16_t infinite;
} half_kind;

static const half_kind kinds[] = {
    {aq_f16_from_f32, aq_f16_to_f32, f16_value, F16_INFINITE},
    {aq_bf16_from_f32, aq_bf16_to_f32, bf16_value, BF16_INFINITE},
};

TEST(every_half_has_the_value_that_its_bits_say)
{
    for (int kind = 0; kind < 2; kind++) {
        for (uint32_t half = 0; half < HALVES; half++) {
            const float value = kinds[kind].to((uint16_t)half);
            const uint16_t magnitude = half & 0x7FFF;
            if (magnitude > kinds[kind].infinite) {
                assert_true(isnan(value));
            } else if (magnitude == kinds[kind].infinite) {
                assert_true(isinf(value));
            } else {
                assert_true((double)value == kinds[kind].value((uint16_t)half));
            }
            assert_int_equal(signbit(value) != 0, half >> 15);
        }
    }
}

TEST(every_half_comes_back_from_its_value)
{
    for (int kind = 0; kind < 2; kind++) {
        for (uint32_t half = 0; half < HALVES; half++) {
            const uint16_t back = kinds[kind].from(kinds[kind].to((uint16_t)half));
            if ((half & 0x7FFF) > kinds[kind].infinite) {
                assert_true((back & 0x7FFF) > kinds[kind].infinite);
                assert_int_equal(back >> 15, half >> 15);
            } else {
                assert_int_equal(back, half);
            }
        }
    }
}

/* Half-way between two neighbours the even one is taken; a float to either side goes to its own. */
TEST(between_two_halves_the_nearest_is_taken_and_the_even_one_of_a_tie)
{
    for (int kind = 0; kind < 2; kind++) {
        for (uint16_t half = 0; half + 1 < kinds[kind].infinite; half++) {
            const double low = kinds[kind].value(half);
            const double high = kinds[kind].value((uint16_t)(half + 1));
            const float middle = (float)((low + high) / 2.0);
            const uint16_t even = half % 2 == 0 ? half : (uint16_t)(half + 1);
            if ((double)middle != (low + high) / 2.0) {
                assert_int_equal(kind, 1); /* below the smallest float there is no half-way */
                continue;
            }
            assert_int_equal(kinds[kind].from(middle), even);
            assert_int_equal(kinds[kind].from(-middle), even | 0x8000);
            assert_int_equal(kinds[kind].from(nextafterf(middle, -INFINITY)), half);
            assert_int_equal(kinds[kind].from(nextafterf(middle, INFINITY)), half + 1);
        }
    }
}

TEST(what_is_beyond_the_largest_half_is_infinite)
{
    assert_int_equal(aq_f16_from_f32(65504.0f), 0x7BFF);
    assert_int_equal(aq_f16_from_f32(nextafterf(65520.0f, 0.0f)), 0x7BFF);
    assert_int_equal(aq_f16_from_f32(65520.0f), F16_INFINITE);
    assert_int_equal(aq_f16_from_f32(-FLT_MAX), F16_INFINITE | 0x8000);
    assert_int_equal(aq_bf16_from_f32(0x1.FEp127f), 0x7F7F);
    assert_int_equal(aq_bf16_from_f32(nextafterf(0x1.FFp127f, 0.0f)), 0x7F7F);
    assert_int_equal(aq_bf16_from_f32(0x1.FFp127f), BF16_INFINITE);
    assert_int_equal(aq_bf16_from_f32(-INFINITY), BF16_INFINITE | 0x8000);
}

TEST(what_is_below_the_smallest_half_is_zero_with_its_sign)
{
    assert_int_equal(aq_f16_from_f32(0x1p-25f), 0);
    assert_int_equal(aq_f16_from_f32(-0x1p-26f), 0x8000);
    assert_int_equal(aq_f16_from_f32(nextafterf(0x1p-25f, 1.0f)), 1);
    assert_int_equal(aq_f16_from_f32(-FLT_TRUE_MIN), 0x8000);
    assert_int_equal(aq_bf16_from_f32(FLT_TRUE_MIN), 0);
    assert_int_equal(aq_bf16_from_f32(-FLT_TRUE_MIN), 0x8000);
}

/* Any float is within half the distance of its half's neighbours. */
TEST(any_float_goes_to_a_nearest_half)
{
    aq_rng rng;
    aq_rng_init(&rng, 12, 0);
    for (int i = 0; i < 200000; i++) {
        const float value = aq_f32_from_bits((uint32_t)aq_rng_next(&rng) & 0x7FFFFFFF);
        for (int kind = 0; kind < 2 && !isnan(value); kind++) {
            const uint16_t half = kinds[kind].from(value);
            if (half == kinds[kind].infinite) {
                continue;
            }
            const double distance = fabs((double)value - kinds[kind].value(half));
            const double step =
                kinds[kind].value((uint16_t)(half | 1)) - kinds[kind].value(half & 0xFFFE);
            assert_true(distance <= step / 2.0);
        }
    }
}
