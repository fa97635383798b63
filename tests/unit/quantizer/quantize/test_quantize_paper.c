/*
 * The paper's affine formula, on examples worked out by hand, and its bound.
 */
#include <float.h>

#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"

enum { COLUMNS = 5 };

typedef struct example {
    uint32_t bits;
    float weights[COLUMNS];
    float step;
    int zero;
    int8_t stored[COLUMNS]; /* level + zero */
} example;

/* One row of COLUMNS weights under the formula. */
static void assert_example(const example *it)
{
    const aq_quantize_plan plan = {
        .format = AQ_FORMAT_INT8_TENSOR, .paper = true, .bits = it->bits};
    quantizer_fixture *fixture = quantizer_fixture_of(COLUMNS, NULL, 1, AQ_ACTIVATION_NONE);
    memcpy(fixture->params.weight[0], it->weights, sizeof(it->weights));
    aq_snapshot *snapshot = quantizer_fixture_planned(fixture, &plan);
    const aq_snapshot_layer *layer = &snapshot->layers[0];
    assert_true(layer->scale[0] == it->step);
    assert_int_equal(layer->weight_zero, it->zero);
    assert_memory_equal(layer->weights, it->stored, sizeof(it->stored));
}

/* step = (1 + 1) / 4; levels -2, -0.8, 0, 0.6, 2, of which 2 would be the fifth of four. */
TEST(two_bits_by_hand)
{
    assert_example(&(example){2, {-1.0f, -0.4f, 0.0f, 0.3f, 1.0f}, 0.5f, 0, {-2, -1, 0, 1, 1}});
}

/* step = (0.5 + 1.5) / 8; levels -2, 0.4, 2, 4.8, 6, of which 6 is the ninth of eight. */
TEST(three_bits_by_hand)
{
    assert_example(&(example){3, {-0.5f, 0.1f, 0.5f, 1.2f, 1.5f}, 0.25f, -2, {-4, -2, 0, 3, 3}});
}

/* step = 1; levels -2.75, -2, 0, 0.5, 1.25: the low end is short of -3 and gives it up. */
TEST(the_end_that_is_short_of_its_level_gives_it_up)
{
    assert_example(&(example){2, {-2.75f, -2.0f, 0.0f, 0.5f, 1.25f}, 1.0f, 0, {-2, -2, 0, 0, 1}});
    assert_example(&(example){2, {-1.25f, -0.5f, 0.0f, 2.0f, 2.75f}, 1.0f, -1, {-2, -1, -1, 1, 1}});
}

/* 0 must stay a level, though nothing is above it. */
TEST(weights_of_one_sign_keep_level_0)
{
    assert_example(
        &(example){2, {-4.0f, -3.0f, -2.0f, -1.0f, -0.25f}, 1.0f, 1, {-2, -2, -1, 0, 1}});
    assert_example(&(example){2, {4.0f, 3.0f, 2.0f, 1.0f, 0.25f}, 1.0f, -2, {1, 1, 0, -1, -2}});
}

/* The step is that of a range which ends at 0. */
TEST(weights_of_almost_one_sign_keep_level_0)
{
    assert_example(
        &(example){0, {-1.0f, -0.5f, 0.0f, 1e-9f, -0.25f}, 0x1p-8f, 127, {-128, -1, 127, 127, 63}});
    assert_example(&(example){2, {-1.0f, -0.5f, 0.0f, 1e-9f, -0.25f}, 0.25f, 1, {-2, -1, 1, 1, 0}});
    assert_example(
        &(example){0, {1.0f, 0.5f, 0.0f, -1e-9f, 0.25f}, 0x1p-8f, -128, {127, 0, -128, -128, -64}});
}

/* All 256 levels of eight bits: a step of 1, from -128 to 127, and 128 takes the place of 127. */
TEST(eight_bits_fill_a_byte)
{
    assert_example(&(example){
        8, {-128.0f, -127.0f, 127.0f, 128.0f, 0.5f}, 1.0f, 0, {-128, -127, 127, 127, 0}});
    assert_example(
        &(example){0, {0.0f, 1.0f, 128.0f, 255.0f, 256.0f}, 1.0f, -128, {-128, -127, 0, 127, 127}});
    assert_example(&(example){
        0, {0.0f, -1.0f, -128.0f, -255.0f, -256.0f}, 1.0f, 127, {127, 126, -1, -128, -128}});
}

/* Half a step, but for those at the end that gave up its level: a step. */
TEST(any_weight_is_within_a_step)
{
    quantizer_fixture *fixture = quantizer_fixture_of(70, NULL, 9, AQ_ACTIVATION_NONE);
    for (int i = 0; i < 300; i++) {
        const aq_quantize_plan plan = {
            .format = AQ_FORMAT_INT8_TENSOR, .paper = true, .bits = 2 + (uint32_t)i % 7};
        float stored[70 * 9];
        const float *weights = fixture->params.weight[0];
        const float shift = (float)aq_rng_range(&fixture->rng, -0.3, 0.3);
        for (int k = 0; k < 70 * 9; k++) {
            fixture->params.weight[0][k] = shift + 0.2f * (float)aq_rng_normal(&fixture->rng);
        }
        aq_snapshot *snapshot = quantizer_fixture_planned(fixture, &plan);
        const double step = (double)snapshot->layers[0].scale[0];
        aq_snapshot_layer_weights(snapshot, 0, stored);
        int beyond_low = 0, beyond_high = 0;
        for (int k = 0; k < 70 * 9; k++) {
            const double error = (double)weights[k] - (double)stored[k];
            assert_true(fabs(error) <= step * (1.0 + 256 * FLT_EPSILON));
            beyond_low += error < -step * (0.5 + 256 * FLT_EPSILON);
            beyond_high += error > step * (0.5 + 256 * FLT_EPSILON);
        }
        assert_true(beyond_low == 0 || beyond_high == 0);
    }
}
