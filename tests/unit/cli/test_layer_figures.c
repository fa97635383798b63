/*
 * The figures of a layer are those of its numbers, however they are stored.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/layer_figures.h"
#include "common/nn/params.h"
#include "tests/unit/cli/cli_fixture.h"

/* One layer of 2 inputs and 2 outputs. */
static const aq_net_spec spec = {
    .layer_count = 1,
    .layers =
        {{.kind = AQ_LAYER_LINEAR, .inputs = 2, .outputs = 2, .activation = AQ_ACTIVATION_NONE}},
};

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6)) {
        fail_msg("%g is not %g", value, expected);
    }
}

static void test_ranges_of_a_block_are_those_of_its_floats(void **state)
{
    static const float block[] = {1, -2, 3, 0, 0.5f, -0.25f};
    aq_layer_figures figures;
    (void)state;
    aq_layer_figures_of_block(&spec, block, 0, &figures);
    assert_near(figures.weights.min, -2);
    assert_near(figures.weights.max, 3);
    assert_near(figures.weights.rms, sqrt(14.0 / 4));
    assert_near(figures.bias.min, -0.25);
    assert_near(figures.bias.max, 0.5);
    assert_int_equal(figures.format, AQ_FORMAT_F32);
    assert_int_equal(figures.bytes, 6 * sizeof(float));
}

static void test_int8_weights_are_measured_in_their_own_unit(void **state)
{
    static const uint32_t format = AQ_FORMAT_INT8_CHANNEL;
    static const int8_t weights[] = {127, -127, 0, 64};
    aq_layer_figures figures;
    aq_snapshot *snapshot = NULL;
    aq_snapshot_layer_data data;
    (void)state;
    assert_int_equal(aq_snapshot_create(&spec, &format, &snapshot), 0);
    aq_snapshot_layer_edit(snapshot, 0, &data);
    memcpy(data.weights, weights, sizeof(weights));
    data.scale[0] = 0.01f;
    data.scale[1] = 0.5f;
    aq_layer_figures_of_snapshot(snapshot, 0, &figures);
    assert_near(figures.weights.min, -1.27);
    assert_near(figures.weights.max, 32);
    assert_near(figures.scale.min, 0.01);
    assert_near(figures.scale.max, 0.5);
    assert_int_equal(figures.bytes, 4 + 2 * (4 + 4 + 4));
    assert_int_equal(figures.bytes_fp32, 6 * 4);
    aq_snapshot_unref(snapshot);
}

static void test_layers_add_up_to_the_snapshot(void **state)
{
    (void)state;
    for (uint32_t format = AQ_FORMAT_F32; format <= AQ_FORMAT_INT8_CHANNEL; format++) {
        size_t bytes = 0, bytes_fp32 = 0;
        aq_snapshot *snapshot = cli_policy(format, 1);
        for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
            aq_layer_figures figures;
            aq_layer_figures_of_snapshot(snapshot, i, &figures);
            bytes += figures.bytes;
            bytes_fp32 += figures.bytes_fp32;
        }
        assert_int_equal(bytes, aq_snapshot_tensor_bytes(snapshot));
        assert_int_equal(bytes_fp32, aq_snapshot_tensor_bytes_f32(snapshot));
        aq_snapshot_unref(snapshot);
    }
}

static void test_int8_figures_are_within_a_scale_of_fp32(void **state)
{
    (void)state;
    aq_snapshot *exact = cli_policy(AQ_FORMAT_F32, 5);
    aq_snapshot *rounded = cli_policy(AQ_FORMAT_INT8_CHANNEL, 5);
    for (uint32_t i = 0; i < exact->spec.layer_count; i++) {
        aq_layer_figures a, b;
        aq_layer_figures_of_snapshot(exact, i, &a);
        aq_layer_figures_of_snapshot(rounded, i, &b);
        assert_true(fabs(a.weights.min - b.weights.min) <= b.scale.max);
        assert_true(fabs(a.weights.max - b.weights.max) <= b.scale.max);
        assert_true(a.bias.min == b.bias.min);
    }
    aq_snapshot_unref(exact);
    aq_snapshot_unref(rounded);
}

static void test_later_layers_of_a_block_are_found(void **state)
{
    aq_params params;
    (void)state;
    aq_snapshot *snapshot = cli_policy(AQ_FORMAT_F32, 5);
    assert_int_equal(aq_params_init(&snapshot->spec, &params), 0);
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        memcpy(params.weight[i], snapshot->layers[i].weights, snapshot->layers[i].weights_bytes);
        memcpy(params.bias[i], snapshot->layers[i].bias,
               snapshot->spec.layers[i].outputs * sizeof(float));
    }
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        aq_layer_figures a, b;
        aq_layer_figures_of_snapshot(snapshot, i, &a);
        aq_layer_figures_of_block(&snapshot->spec, params.block, i, &b);
        assert_true(a.weights.min == b.weights.min);
        assert_true(a.weights.rms == b.weights.rms);
        assert_true(a.bias.max == b.bias.max);
    }
    aq_params_fini(&params);
    aq_snapshot_unref(snapshot);
}

static void test_only_int8_layers_have_scales_in_json(void **state)
{
    aq_layer_figures figures[2];
    (void)state;
    aq_snapshot *exact = cli_policy(AQ_FORMAT_F32, 5);
    aq_snapshot *rounded = cli_policy(AQ_FORMAT_INT8_CHANNEL, 5);
    aq_layer_figures_of_snapshot(exact, 0, &figures[0]);
    aq_layer_figures_of_snapshot(rounded, 1, &figures[1]);
    json_t *layers = aq_layer_figures_json(figures, 2);
    assert_int_equal(json_array_size(layers), 2);
    const json_t *first = json_array_get(layers, 0);
    const json_t *second = json_array_get(layers, 1);
    assert_true(json_is_null(json_object_get(first, "scale")));
    assert_true(json_is_object(json_object_get(second, "scale")));
    assert_string_equal(json_string_value(json_object_get(second, "activation")), "tanh");
    assert_int_equal(json_integer_value(json_object_get(second, "inputs")), 16);
    json_decref(layers);
    aq_snapshot_unref(exact);
    aq_snapshot_unref(rounded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges_of_a_block_are_those_of_its_floats),
        cmocka_unit_test(test_int8_weights_are_measured_in_their_own_unit),
        cmocka_unit_test(test_layers_add_up_to_the_snapshot),
        cmocka_unit_test(test_int8_figures_are_within_a_scale_of_fp32),
        cmocka_unit_test(test_later_layers_of_a_block_are_found),
        cmocka_unit_test(test_only_int8_layers_have_scales_in_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
