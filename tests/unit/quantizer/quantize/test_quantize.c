/*
 * The quantizer: scales, rounding, what it refuses.
 */
#include <float.h>

#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"

enum { OUTPUTS = 5, INPUTS = 19 };
static const uint32_t hidden[] = {33, 0};

/* One layer of INPUTS -> OUTPUTS whose row 0 the tests set; and one more before it. */
typedef quantizer_fixture single, deep;
#define single_teardown quantizer_fixture_teardown
#define deep_teardown   quantizer_fixture_teardown

static void single_setup(single *fixture)
{
    quantizer_fixture_init(fixture, INPUTS, NULL, OUTPUTS, AQ_ACTIVATION_NONE);
}

static void deep_setup(deep *fixture)
{
    quantizer_fixture_init(fixture, INPUTS, hidden, OUTPUTS, AQ_ACTIVATION_RELU);
}

TEST_IN(single, fixture, a_scale_is_the_greatest_magnitude_over_127)
{
    fixture->params.weight[0][3] = -2.54f;
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT8_CHANNEL);
    const int8_t *q = snapshot->layers[0].weights;
    assert_true(snapshot->layers[0].scale[0] == 2.54f / 127.0f);
    assert_int_equal(q[3], -127);
}

TEST_IN(deep, fixture, every_weight_is_within_half_a_step)
{
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT8_CHANNEL);
    for (uint32_t i = 0; i < fixture->spec.layer_count; i++) {
        const aq_layer_spec *layer = &fixture->spec.layers[i];
        const int8_t *q = snapshot->layers[i].weights;
        const float *w = fixture->params.weight[i];
        for (uint32_t o = 0; o < layer->outputs; o++) {
            const double scale = (double)snapshot->layers[i].scale[o];
            for (uint32_t k = 0; k < layer->inputs; k++, q++, w++) {
                const double error = fabs((double)*w - scale * *q);
                assert_true(error <= scale * 0.5 * (1.0 + 127 * FLT_EPSILON));
            }
        }
    }
}

TEST_IN(single, fixture, halves_round_to_even)
{
    static const float row[INPUTS] = {127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 126.5f};
    static const int8_t expected[INPUTS] = {127, 0, 2, 2, 0, -2, -2, 126};
    memcpy(fixture->params.weight[0], row, sizeof(row));
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT8_CHANNEL);
    assert_true(snapshot->layers[0].scale[0] == 1.0f);
    assert_memory_equal(snapshot->layers[0].weights, expected, sizeof(expected));
}

TEST_IN(single, fixture, the_largest_floats_keep_a_finite_scale)
{
    for (int i = 0; i < INPUTS; i++) {
        fixture->params.weight[0][i] = i % 2 == 0 ? FLT_MAX : -FLT_MAX;
    }
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT8_CHANNEL);
    const int8_t *q = snapshot->layers[0].weights;
    assert_true(isfinite(snapshot->layers[0].scale[0]));
    assert_int_equal(q[0], 127);
    assert_int_equal(q[1], -127);
}

TEST_IN(deep, fixture, fp32_keeps_every_bit)
{
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_F32);
    for (uint32_t i = 0; i < fixture->spec.layer_count; i++) {
        const aq_layer_spec *layer = &fixture->spec.layers[i];
        const aq_snapshot_layer *view = &snapshot->layers[i];
        assert_int_equal(view->format, AQ_FORMAT_F32);
        assert_int_equal(view->sizes.weights_bytes,
                         (size_t)layer->inputs * layer->outputs * sizeof(float));
        assert_memory_equal(view->weights, fixture->params.weight[i], view->sizes.weights_bytes);
        assert_memory_equal(view->bias, fixture->params.bias[i], layer->outputs * sizeof(float));
    }
}

TEST_IN(deep, fixture, int8_takes_a_quarter_of_fp32)
{
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT8_CHANNEL);
    const size_t weights = INPUTS * hidden[0] + (size_t)hidden[0] * OUTPUTS;
    const size_t rows = hidden[0] + OUTPUTS;
    assert_int_equal(aq_snapshot_tensor_bytes(snapshot), weights + rows * 12);
}

TEST_IN(deep, fixture, what_it_is_for_is_copied)
{
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(snapshot->run_id, fixture->meta.run_id);
    assert_int_equal(snapshot->version, fixture->meta.version);
    assert_int_equal(snapshot->learner_step, fixture->meta.learner_step);
    assert_int_equal(snapshot->head, AQ_HEAD_ARGMAX);
    assert_string_equal(snapshot->task, fixture->meta.task);
    assert_int_equal(aq_schema_hash(&snapshot->schema), aq_schema_hash(&fixture->schema));
    assert_int_equal(aq_net_spec_hash(&snapshot->spec), aq_net_spec_hash(&fixture->spec));
    assert_int_equal(aq_snapshot_validate(snapshot, NULL), 0);
}

TEST_IN(deep, fixture, a_policy_in_fp32_gives_what_its_parameters_do)
{
    const aq_quantize_plan plan = {.format = AQ_FORMAT_INT8_CHANNEL,
                                   .layer_formats = {AQ_FORMAT_BF16}};
    aq_snapshot *expected = quantizer_fixture_planned(fixture, &plan);
    aq_snapshot *exact = quantizer_fixture_snapshot(fixture, AQ_FORMAT_F32);
    aq_snapshot *snapshot = NULL;
    assert_succeeds(aq_quantize_policy(exact, &plan, &snapshot, &refusal));
    assert_int_equal(snapshot->run_id, fixture->meta.run_id);
    assert_int_equal(snapshot->version, fixture->meta.version);
    assert_int_equal(snapshot->learner_step, fixture->meta.learner_step);
    assert_int_equal(snapshot->head, fixture->meta.head);
    assert_string_equal(snapshot->task, fixture->meta.task);
    assert_int_equal(aq_schema_hash(&snapshot->schema), aq_schema_hash(&fixture->schema));
    for (uint32_t i = 0; i < fixture->spec.layer_count; i++) {
        const aq_snapshot_layer *is = &snapshot->layers[i], *as = &expected->layers[i];
        assert_int_equal(is->format, as->format);
        assert_memory_equal(is->weights, as->weights, as->sizes.weights_bytes);
        assert_memory_equal(is->bias, as->bias, fixture->spec.layers[i].outputs * sizeof(float));
    }
    aq_snapshot_unref(snapshot);
}

/* Refused with `code` and words that hold `words`; nothing given out. */
static void refuse(const quantizer_fixture *fixture, uint32_t format, int code, const char *words)
{
    aq_snapshot *snapshot = NULL;
    assert_refused(aq_quantize(&fixture->spec, &fixture->params,
                               &(aq_quantize_plan){.format = format}, &fixture->meta, &snapshot,
                               &refusal),
                   code, words);
    assert_null(snapshot);
}

TEST(arrays_stay_as_they_are)
{
    aq_net_spec spec = {.layer_count = 1,
                        .layers = {aq_layer_linear(4, 2, AQ_ACTIVATION_NONE)},
                        .array_count = 2,
                        .arrays = {{"a", 2}, {"b", 1}}};
    quantizer_fixture *fixture = quantizer_fixture_of_spec(&spec);
    fixture->params.array[0][1] = -0.5f;
    fixture->params.array[1][0] = 3.25f;
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT8_CHANNEL);
    const float expected[] = {0.0f, -0.5f, 3.25f};
    assert_memory_equal(snapshot->arrays, expected, sizeof(expected));
    assert_int_equal(aq_snapshot_tensor_bytes(snapshot), sizeof(expected) + 4 * 2 + 2 * 12);
}

TEST_IN(deep, fixture, a_weight_that_is_nan_is_refused_by_layer_and_row)
{
    fixture->params.weight[1][2 * hidden[0] + 7] = NAN;
    refuse(fixture, AQ_FORMAT_INT8_CHANNEL, AQ_E_CORRUPT, "layer 1, row 2: a weight");
    refuse(fixture, AQ_FORMAT_F32, AQ_E_CORRUPT, "layer 1, row 2: a weight");
}

TEST_IN(deep, fixture, a_bias_that_is_infinite_is_refused_by_layer_and_row)
{
    fixture->params.bias[0][30] = -INFINITY;
    refuse(fixture, AQ_FORMAT_INT8_CHANNEL, AQ_E_CORRUPT, "layer 0, row 30: a bias");
}

TEST_IN(single, fixture, a_row_of_zeros_is_refused)
{
    memset(fixture->params.weight[0] + (size_t)3 * INPUTS, 0, INPUTS * sizeof(float));
    refuse(fixture, AQ_FORMAT_INT8_CHANNEL, AQ_E_CORRUPT,
           "layer 0, row 3: all its weights are zero");
}

TEST_IN(single, fixture, an_unknown_format_is_refused)
{
    refuse(fixture, 99, AQ_E_UNSUPPORTED, "format 99");
    refuse(fixture, 0, AQ_E_UNSUPPORTED, "format 0");
}

TEST_IN(single, fixture, a_name_that_is_too_long_is_refused)
{
    char name[AQ_TASK_NAME_MAX + 1];
    memset(name, 'x', AQ_TASK_NAME_MAX);
    name[AQ_TASK_NAME_MAX] = '\0';
    fixture->meta.task = name;
    refuse(fixture, AQ_FORMAT_F32, AQ_E_INVALID, "name");
    name[AQ_TASK_NAME_MAX - 1] = '\0';
    (void)quantizer_fixture_snapshot(fixture, AQ_FORMAT_F32);
}

TEST_IN(single, fixture, a_network_that_does_not_fit_the_schema_is_refused)
{
    aq_space_init_discrete(&fixture->schema.action, OUTPUTS + 1);
    refuse(fixture, AQ_FORMAT_INT8_CHANNEL, AQ_E_SCHEMA, "choices");
}

TEST_IN(deep, fixture, a_failed_allocation_is_an_error)
{
    aq_snapshot *snapshot;
    assert_made_despite_failures(snapshot,
                                 aq_quantize(&fixture->spec, &fixture->params,
                                             &(aq_quantize_plan){.format = AQ_FORMAT_INT8_CHANNEL},
                                             &fixture->meta, &snapshot, NULL));
    aq_snapshot_unref(snapshot);
}
