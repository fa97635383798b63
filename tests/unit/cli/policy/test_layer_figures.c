/*
 * The figures of a layer are those of its numbers, however they are stored.
 */
#include "cli/policy/layer_figures.h"
#include "common/nn/params.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

/* One layer of 2 inputs and 2 outputs. */
static const aq_net_spec spec = {
    .layer_count = 1,
    .layers =
        {{.kind = AQ_LAYER_LINEAR, .inputs = 2, .outputs = 2, .activation = AQ_ACTIVATION_NONE}},
};

static void near(double value, double expected)
{
    assert_near(value, expected, 1e-6);
}

TEST(ranges_of_a_block_are_those_of_its_floats)
{
    static const float block[] = {1, -2, 3, 0, 0.5f, -0.25f};
    aq_layer_figures figures;
    aq_layer_figures_of_block(&spec, block, 0, &figures);
    near(figures.weights.min, -2);
    near(figures.weights.max, 3);
    near(figures.weights.rms, sqrt(14.0 / 4));
    near(figures.bias.min, -0.25);
    near(figures.bias.max, 0.5);
    assert_int_equal(figures.format, AQ_FORMAT_F32);
    assert_int_equal(figures.bytes, 6 * sizeof(float));
}

TEST(int8_weights_are_measured_in_their_own_unit)
{
    static const uint32_t format = AQ_FORMAT_INT8_CHANNEL;
    static const int8_t weights[] = {127, -127, 0, 64};
    aq_layer_figures figures;
    aq_snapshot *snapshot = NULL;
    aq_snapshot_layer_data data;
    assert_int_equal(aq_snapshot_create(&spec, &format, NULL, &snapshot), 0);
    aq_snapshot_layer_edit(snapshot, 0, &data);
    memcpy(data.weights, weights, sizeof(weights));
    data.scale[0] = 0.01f;
    data.scale[1] = 0.5f;
    assert_int_equal(aq_layer_figures_of_snapshot(snapshot, 0, &figures), 0);
    near(figures.weights.min, -1.27);
    near(figures.weights.max, 32);
    near(figures.scale.min, 0.01);
    near(figures.scale.max, 0.5);
    assert_int_equal(figures.bytes, 4 + 2 * (4 + 4 + 4));
    assert_int_equal(figures.bytes_fp32, 6 * 4);
    aq_snapshot_unref(snapshot);
}

TEST(layers_add_up_to_the_snapshot)
{
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        size_t bytes = 0, bytes_fp32 = 0;
        aq_snapshot *snapshot = cli_policy(format, 1);
        for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
            aq_layer_figures figures;
            assert_int_equal(aq_layer_figures_of_snapshot(snapshot, i, &figures), 0);
            bytes += figures.bytes;
            bytes_fp32 += figures.bytes_fp32;
        }
        assert_int_equal(bytes, aq_snapshot_tensor_bytes(snapshot));
        assert_int_equal(bytes_fp32, aq_snapshot_tensor_bytes_f32(snapshot));
    }
}

TEST(int8_figures_are_within_a_scale_of_fp32)
{
    aq_snapshot *exact = cli_policy(AQ_FORMAT_F32, 5);
    aq_snapshot *rounded = cli_policy(AQ_FORMAT_INT8_CHANNEL, 5);
    for (uint32_t i = 0; i < exact->spec.layer_count; i++) {
        aq_layer_figures a, b;
        assert_int_equal(aq_layer_figures_of_snapshot(exact, i, &a), 0);
        assert_int_equal(aq_layer_figures_of_snapshot(rounded, i, &b), 0);
        assert_true(fabs(a.weights.min - b.weights.min) <= b.scale.max);
        assert_true(fabs(a.weights.max - b.weights.max) <= b.scale.max);
        assert_true(a.bias.min == b.bias.min);
    }
}

TEST(layers_without_parameters_have_no_ranges)
{
    aq_layer_figures figures[3];
    aq_snapshot *snapshot = NULL;
    static const float block[2 * 18 + 18] = {0.5f, -1.5f};
    const aq_head_shape head = {.choices = 5, .atoms = 3, .low = -1, .high = 1};
    const aq_layer_spec layers[] = {aq_layer_linear(2, 18, AQ_ACTIVATION_NONE),
                                    aq_layer_dueling(5, 3), aq_layer_categorical(&head)};
    const aq_net_spec chain = net_of(layers);
    assert_int_equal(aq_net_spec_validate(&chain, NULL), 0);
    const uint32_t formats[] = {AQ_FORMAT_INT4, AQ_FORMAT_F32, AQ_FORMAT_F32};
    assert_int_equal(aq_snapshot_create(&chain, formats, NULL, &snapshot), 0);
    for (uint32_t i = 0; i < 3; i++) {
        aq_layer_figures of_block;
        assert_int_equal(aq_layer_figures_of_snapshot(snapshot, i, &figures[i]), 0);
        aq_layer_figures_of_block(&chain, block, i, &of_block);
        assert_int_equal(of_block.bytes_fp32, figures[i].bytes_fp32);
        assert_int_equal(of_block.weights.count, figures[i].weights.count);
    }
    assert_int_equal(figures[0].weights.count, 36);
    assert_int_equal(figures[1].weights.count, 0);
    assert_int_equal(figures[2].bytes, 0);

    json_t *shown = cli_json(aq_layer_figures_json(figures, 3));
    const json_t *last = json_array_get(shown, 2);
    assert_string_equal(json_string_value(json_object_get(last, "kind")), "categorical");
    assert_true(json_is_null(json_object_get(last, "weights")));
    assert_true(json_is_null(json_object_get(last, "bias")));
    FILE *nowhere = fopen("/dev/null", "w");
    assert_non_null(nowhere);
    assert_int_equal(aq_layer_figures_print(nowhere, figures, 3), 0);
    assert_int_equal(fclose(nowhere), 0);
    aq_snapshot_unref(snapshot);
}

TEST(inputs_are_dynamic_static_or_floats)
{
    double low, high;
    aq_layer_figures figures[3];
    aq_snapshot *exact = cli_policy(AQ_FORMAT_F32, 5);
    aq_snapshot *rounded = cli_policy(AQ_FORMAT_INT8_CHANNEL, 5);
    rounded->layers[1].input_scale = 0.5f;
    rounded->layers[1].input_zero = 55;
    assert_int_equal(aq_layer_figures_of_snapshot(exact, 0, &figures[0]), 0);
    assert_int_equal(aq_layer_figures_of_snapshot(rounded, 0, &figures[1]), 0);
    assert_int_equal(aq_layer_figures_of_snapshot(rounded, 1, &figures[2]), 0);
    json_t *layers = cli_json(aq_layer_figures_json(figures, 3));
    assert_true(json_is_null(json_object_get(json_array_get(layers, 0), "input")));
    const json_t *dynamic = json_object_get(json_array_get(layers, 1), "input");
    assert_string_equal(json_string_value(json_object_get(dynamic, "activations")), "dynamic");
    json_t *fixed = json_object_get(json_array_get(layers, 2), "input");
    assert_string_equal(json_string_value(json_object_get(fixed, "activations")), "static");
    assert_int_equal(json_unpack(fixed, "{s:F, s:F}", "low", &low, "high", &high), 0);
    near(low, -27.5);
    near(high, 100);
}

TEST(sparsity_is_told)
{
    aq_layer_figures figures;
    aq_snapshot *sparse = cli_policy(AQ_FORMAT_INT8_SPARSE, 5);
    assert_int_equal(aq_layer_figures_of_snapshot(sparse, 1, &figures), 0);
    assert_int_equal(figures.blocks_all, 4); /* 8 x 16 in blocks of 16 x 4 */
    assert_int_equal(figures.blocks, 2);
    assert_true(figures.weights.zero_share >= 0.5);
    json_t *layers = cli_json(aq_layer_figures_json(&figures, 1));
    const json_t *blocks = json_object_get(json_array_get(layers, 0), "blocks");
    assert_int_equal(json_integer_value(json_object_get(blocks, "stored")), 2);
    assert_int_equal(json_integer_value(json_object_get(blocks, "all")), 4);
}

TEST(without_memory_there_are_no_figures)
{
    aq_layer_figures figures;
    aq_snapshot *snapshot = cli_policy(AQ_FORMAT_INT2, 5);
    assert_fails_without_memory(aq_layer_figures_of_snapshot(snapshot, 0, &figures));
}

TEST(later_layers_of_a_block_are_found)
{
    aq_params params;
    aq_snapshot *snapshot = cli_policy(AQ_FORMAT_F32, 5);
    assert_int_equal(aq_params_init(&snapshot->spec, &params), 0);
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        memcpy(params.weight[i], snapshot->layers[i].weights,
               snapshot->layers[i].sizes.weights_bytes);
        memcpy(params.bias[i], snapshot->layers[i].bias,
               snapshot->spec.layers[i].outputs * sizeof(float));
    }
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        aq_layer_figures a, b;
        assert_int_equal(aq_layer_figures_of_snapshot(snapshot, i, &a), 0);
        aq_layer_figures_of_block(&snapshot->spec, params.block, i, &b);
        assert_true(a.weights.min == b.weights.min);
        assert_true(a.weights.rms == b.weights.rms);
        assert_true(a.bias.max == b.bias.max);
    }
    aq_params_fini(&params);
}

TEST(only_int8_layers_have_scales_in_json)
{
    aq_layer_figures figures[2];
    aq_snapshot *exact = cli_policy(AQ_FORMAT_F32, 5);
    aq_snapshot *rounded = cli_policy(AQ_FORMAT_INT8_CHANNEL, 5);
    assert_int_equal(aq_layer_figures_of_snapshot(exact, 0, &figures[0]), 0);
    assert_int_equal(aq_layer_figures_of_snapshot(rounded, 1, &figures[1]), 0);
    json_t *layers = cli_json(aq_layer_figures_json(figures, 2));
    assert_int_equal(json_array_size(layers), 2);
    const json_t *first = json_array_get(layers, 0);
    const json_t *second = json_array_get(layers, 1);
    assert_true(json_is_null(json_object_get(first, "scale")));
    assert_true(json_is_object(json_object_get(second, "scale")));
    assert_string_equal(json_string_value(json_object_get(second, "activation")), "tanh");
    assert_int_equal(json_integer_value(json_object_get(second, "inputs")), 16);
}
