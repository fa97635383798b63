/*
 * What a version keeps of the one before it, so that a delta between them is small: scales, the
 * choice of blocks, the quantization of inputs. And when it does not.
 */
#include <float.h>

#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"

enum { INPUTS = 100, OUTPUTS = 34, WEIGHTS = INPUTS * OUTPUTS };

static void quantizer_fixture_setup(quantizer_fixture *fixture)
{
    quantizer_fixture_init(fixture, INPUTS, NULL, OUTPUTS, AQ_ACTIVATION_NONE);
}

static void multiply(quantizer_fixture *fixture, float factor)
{
    for (size_t i = 0; i < WEIGHTS; i++) {
        fixture->params.weight[0][i] *= factor;
    }
}

static aq_snapshot *after(const quantizer_fixture *fixture, uint32_t format,
                          const aq_snapshot *previous)
{
    return quantizer_fixture_planned(fixture,
                                     &(aq_quantize_plan){.format = format, .previous = previous});
}

static void assert_same_scales(const aq_snapshot *a, const aq_snapshot *b)
{
    assert_int_equal(a->layers[0].sizes.scales, b->layers[0].sizes.scales);
    if (a->layers[0].sizes.scales > 0) {
        assert_memory_equal(a->layers[0].scale, b->layers[0].scale,
                            a->layers[0].sizes.scales * sizeof(float));
    }
}

static void assert_same_levels(const aq_snapshot *a, const aq_snapshot *b)
{
    assert_same_scales(a, b);
    assert_int_equal(a->layers[0].sizes.weights_bytes, b->layers[0].sizes.weights_bytes);
    assert_memory_equal(a->layers[0].weights, b->layers[0].weights,
                        a->layers[0].sizes.weights_bytes);
    assert_int_equal(a->layers[0].weight_zero, b->layers[0].weight_zero);
    if (a->layers[0].mask != NULL) {
        assert_memory_equal(a->layers[0].mask, b->layers[0].mask, a->layers[0].sizes.mask_bytes);
    }
}

static void assert_within_half_a_step(const quantizer_fixture *fixture, const aq_snapshot *snapshot)
{
    float *stored = quantizer_fixture_floats(WEIGHTS);
    aq_snapshot_layer_weights(snapshot, 0, stored);
    for (size_t i = 0; i < WEIGHTS; i++) {
        const double scale = (double)snapshot->layers[0].scale[i / INPUTS];
        const double error = fabs((double)fixture->params.weight[0][i] - (double)stored[i]);
        assert_true(error <= scale * 0.5001);
    }
}

TEST_IN(quantizer_fixture, fixture, weights_that_do_not_move_keep_their_levels_in_every_format)
{
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        aq_snapshot *first = after(fixture, format, NULL);
        aq_snapshot *second = after(fixture, format, first);
        assert_same_levels(first, second);
    }
}

/* Also after the greatest of each row has shrunk, so that a new scale would have been another. */
TEST_IN(quantizer_fixture, fixture, a_weight_that_shrinks_moves_no_other)
{
    float *weights = fixture->params.weight[0];
    for (uint32_t row = 0; row < OUTPUTS; row++) {
        weights[row * INPUTS + 3] = 0.11f; /* the others are up to 0.1 */
    }
    aq_snapshot *first = after(fixture, AQ_FORMAT_INT8_CHANNEL, NULL);
    for (uint32_t row = 0; row < OUTPUTS; row++) {
        weights[row * INPUTS + 3] = 0.1f;
    }
    aq_snapshot *second = after(fixture, AQ_FORMAT_INT8_CHANNEL, first);
    const int8_t *before = first->layers[0].weights;
    const int8_t *now = second->layers[0].weights;
    assert_same_scales(first, second);
    for (size_t i = 0; i < WEIGHTS; i++) {
        assert_int_equal(before[i] != now[i], i % INPUTS == 3);
    }
    assert_within_half_a_step(fixture, second);
}

static const uint32_t int8_formats[] = {AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_INT8_TENSOR,
                                        AQ_FORMAT_INT8_SPARSE};

TEST_IN(quantizer_fixture, fixture, scales_of_int8_are_kept_while_weights_shrink_by_a_sixth)
{
    for (int i = 0; i < 3; i++) {
        aq_snapshot *first = after(fixture, int8_formats[i], NULL);
        multiply(fixture, 0.84f);
        aq_snapshot *second = after(fixture, int8_formats[i], first);
        assert_same_scales(first, second);
        multiply(fixture, 1.0f / 0.84f);
    }
}

/* So few levels cannot spare any of their range. */
TEST_IN(quantizer_fixture, fixture, scales_of_fewer_bits_are_always_new)
{
    const aq_quantize_plan plans[] = {{.format = AQ_FORMAT_INT4},
                                      {.format = AQ_FORMAT_INT2},
                                      {.format = AQ_FORMAT_INT8_CHANNEL, .bits = 7},
                                      {.format = AQ_FORMAT_INT8_TENSOR, .bits = 2},
                                      {.format = AQ_FORMAT_INT8_TENSOR, .bits = 7, .paper = true}};
    EACH_ROW(i, plans) {
        aq_quantize_plan plan = plans[i];
        aq_snapshot *first = quantizer_fixture_planned(fixture, &plan);
        multiply(fixture, 0.99f);
        aq_snapshot *fresh = quantizer_fixture_planned(fixture, &plan);
        plan.previous = first;
        aq_snapshot *second = quantizer_fixture_planned(fixture, &plan);
        assert_same_scales(fresh, second);
        assert_same_levels(fresh, second);
        multiply(fixture, 1.0f / 0.99f);
    }
}

/* The new scale is what the weights ask for, and some room. */
static void assert_new_scales(const quantizer_fixture *fixture, uint32_t format,
                              const aq_snapshot *previous)
{
    aq_snapshot *fresh = after(fixture, format, NULL);
    aq_snapshot *second = after(fixture, format, previous);
    for (size_t i = 0; i < second->layers[0].sizes.scales; i++) {
        assert_true(second->layers[0].scale[i] != previous->layers[0].scale[i]);
        assert_true(second->layers[0].scale[i] == fresh->layers[0].scale[i] * AQ_QUANTIZE_ROOM);
    }
}

TEST_IN(quantizer_fixture, fixture, scales_are_new_when_weights_shrink_by_a_quarter)
{
    for (int i = 0; i < 3; i++) {
        aq_snapshot *first = after(fixture, int8_formats[i], NULL);
        multiply(fixture, 0.75f);
        assert_new_scales(fixture, int8_formats[i], first);
    }
}

TEST_IN(quantizer_fixture, fixture, scales_are_new_when_weights_outgrow_them)
{
    for (int i = 0; i < 3; i++) {
        aq_snapshot *first = after(fixture, int8_formats[i], NULL);
        multiply(fixture, 1.01f);
        assert_new_scales(fixture, int8_formats[i], first);
    }
}

TEST_IN(quantizer_fixture, fixture, a_new_scale_has_room_for_weights_to_grow)
{
    aq_snapshot *first = after(fixture, AQ_FORMAT_INT8_CHANNEL, NULL);
    multiply(fixture, 1.01f);
    aq_snapshot *second = after(fixture, AQ_FORMAT_INT8_CHANNEL, first);
    multiply(fixture, 1.06f);
    aq_snapshot *third = after(fixture, AQ_FORMAT_INT8_CHANNEL, second);
    assert_same_scales(second, third);
    assert_within_half_a_step(fixture, third);
}

TEST_IN(quantizer_fixture, fixture, the_largest_weights_get_no_room_that_is_not_there)
{
    for (size_t i = 0; i < WEIGHTS; i++) {
        fixture->params.weight[0][i] = i % 2 == 0 ? FLT_MAX / 2 : -FLT_MAX / 2;
    }
    aq_snapshot *first = after(fixture, AQ_FORMAT_INT8_CHANNEL, NULL);
    multiply(fixture, 2);
    aq_snapshot *second = after(fixture, AQ_FORMAT_INT8_CHANNEL, first);
    assert_true(second->layers[0].scale[0] == FLT_MAX / 127.0f);
}

TEST_IN(quantizer_fixture, fixture, a_version_of_another_format_or_network_lends_nothing)
{
    quantizer_fixture *other = quantizer_fixture_of(INPUTS, NULL, OUTPUTS, AQ_ACTIVATION_TANH);
    other->spec.layers[0].activation = AQ_ACTIVATION_TANH;
    aq_snapshot *tensor = after(fixture, AQ_FORMAT_INT8_TENSOR, NULL);
    aq_snapshot *foreign = after(other, AQ_FORMAT_INT8_CHANNEL, NULL);
    multiply(fixture, 0.95f);
    aq_snapshot *fresh = after(fixture, AQ_FORMAT_INT8_CHANNEL, NULL);
    aq_snapshot *after_tensor = after(fixture, AQ_FORMAT_INT8_CHANNEL, tensor);
    aq_snapshot *after_foreign = after(fixture, AQ_FORMAT_INT8_CHANNEL, foreign);
    assert_same_levels(fresh, after_tensor);
    assert_same_levels(fresh, after_foreign);
}

TEST_IN(quantizer_fixture, fixture, fewer_bits_than_before_bring_new_scales)
{
    aq_snapshot *first = after(fixture, AQ_FORMAT_INT8_CHANNEL, NULL);
    const aq_quantize_plan plan = {.format = AQ_FORMAT_INT8_CHANNEL, .bits = 4, .previous = first};
    aq_snapshot *second = quantizer_fixture_planned(fixture, &plan);
    assert_true(second->layers[0].scale[0] > 15.0f * first->layers[0].scale[0]);
    assert_within_half_a_step(fixture, second);
}

/* ---- the paper's formula -------------------------------------------------------------------- */

static aq_snapshot *paper(const quantizer_fixture *fixture, const aq_snapshot *previous)
{
    return quantizer_fixture_planned(
        fixture,
        &(aq_quantize_plan){.format = AQ_FORMAT_INT8_TENSOR, .paper = true, .previous = previous});
}

TEST_IN(quantizer_fixture, fixture, the_papers_grid_is_kept_and_left_by_the_same_rule)
{
    for (size_t i = 0; i < WEIGHTS; i++) {
        fixture->params.weight[0][i] += 0.02f; /* so that the zero point is not 0 */
    }
    aq_snapshot *first = paper(fixture, NULL);
    assert_true(first->layers[0].weight_zero < -5);
    aq_snapshot *second = paper(fixture, first);
    assert_same_levels(first, second);
    multiply(fixture, 0.9f);
    aq_snapshot *third = paper(fixture, second);
    assert_same_scales(first, third);
    assert_int_equal(first->layers[0].weight_zero, third->layers[0].weight_zero);
    multiply(fixture, 1.3f);
    aq_snapshot *fourth = paper(fixture, third);
    assert_true(fourth->layers[0].scale[0] > third->layers[0].scale[0]);
    aq_snapshot *symmetric = after(fixture, AQ_FORMAT_INT8_TENSOR, fourth);
    assert_int_equal(symmetric->layers[0].weight_zero, 0);
}

/* Of two ends that are equally far from their levels the one that is short of its own has none. */
TEST_IN(quantizer_fixture, fixture, the_papers_grid_is_kept_though_an_end_has_no_level)
{
    fixture->params.weight[0][0] = -1.006f; /* a hundredth is a step: 100.6 and 155.4 of them */
    fixture->params.weight[0][1] = 1.554f;
    aq_snapshot *first = paper(fixture, NULL);
    assert_int_equal(first->layers[0].weight_zero, -28); /* level -100 is stored as -128 */
    multiply(fixture, 0.997f);
    aq_snapshot *second = paper(fixture, first);
    assert_same_scales(first, second);
    assert_int_equal(second->layers[0].weight_zero, -28);
}

/* ---- blocks --------------------------------------------------------------------------------- */

TEST_IN(quantizer_fixture, fixture, a_block_that_was_kept_stays_while_it_is_nearly_as_heavy)
{
    aq_snapshot *first = after(fixture, AQ_FORMAT_INT8_SPARSE, NULL);
    for (size_t i = 0; i < WEIGHTS; i++) { /* none changes its root mean square by a twentieth */
        fixture->params.weight[0][i] *= (float)aq_rng_range(&fixture->rng, 0.96, 1.04);
    }
    aq_snapshot *fresh = after(fixture, AQ_FORMAT_INT8_SPARSE, NULL);
    aq_snapshot *second = after(fixture, AQ_FORMAT_INT8_SPARSE, first);
    const size_t mask_bytes = first->layers[0].sizes.mask_bytes;
    assert_memory_not_equal(first->layers[0].mask, fresh->layers[0].mask, mask_bytes);
    assert_memory_equal(first->layers[0].mask, second->layers[0].mask, mask_bytes);
}

/* ---- inputs --------------------------------------------------------------------------------- */

static aq_snapshot *with_range(const quantizer_fixture *fixture, uint32_t format, float low,
                               float high, const aq_snapshot *previous)
{
    const aq_input_ranges ranges = {.low = {low}, .high = {high}};
    return quantizer_fixture_planned(
        fixture, &(aq_quantize_plan){.format = format, .ranges = &ranges, .previous = previous});
}

TEST_IN(quantizer_fixture, fixture, a_range_gives_the_input_its_scale_in_integer_formats_alone)
{
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        aq_snapshot *snapshot = with_range(fixture, format, -1.0f, 4.1f, NULL);
        if (aq_format_is_integer(format)) {
            assert_true(fabsf(snapshot->layers[0].input_scale - 0.02f) < 1e-7f);
            assert_int_equal(snapshot->layers[0].input_zero, 50);
        } else {
            assert_true(snapshot->layers[0].input_scale == 0.0f);
            assert_int_equal(snapshot->layers[0].input_zero, 0);
        }
    }
}

TEST_IN(quantizer_fixture, fixture, an_empty_range_leaves_the_input_dynamic)
{
    aq_snapshot *snapshot = with_range(fixture, AQ_FORMAT_INT8_CHANNEL, 0.0f, 0.0f, NULL);
    assert_true(snapshot->layers[0].input_scale == 0.0f);
    assert_int_equal(snapshot->layers[0].input_zero, 0);
}

TEST_IN(quantizer_fixture, fixture, the_quantization_of_an_input_is_kept_by_the_same_rule)
{
    const uint32_t format = AQ_FORMAT_INT8_CHANNEL;
    const struct {
        float low, high;
        bool is_kept;
    } rows[] = {{-1.0f, 4.1f, true},   {-1.008f, 4.1f, true}, {-0.9f, 4.108f, true},
                {-0.9f, 3.5f, true},   {-0.5f, 3.5f, false},  {-1.02f, 4.0f, false},
                {-0.9f, 4.12f, false}, {0.0f, 0.0f, false}};
    /* Steps of 0.02, from -1 to 4.1; values up to half a step further are still within one. */
    aq_snapshot *first = with_range(fixture, format, -1.0f, 4.1f, NULL);
    EACH_ROW(i, rows) {
        aq_snapshot *second = with_range(fixture, format, rows[i].low, rows[i].high, first);
        const bool same = second->layers[0].input_scale == first->layers[0].input_scale &&
                          second->layers[0].input_zero == first->layers[0].input_zero;
        assert_int_equal(same, rows[i].is_kept);
    }
}
