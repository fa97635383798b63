/*
 * Kinds of layers: what a shape makes of inputs, outputs and weights, and what cannot be.
 */
#include "common/policy/layer_spec.h"
#include "common/policy/netspec.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"

/* 84 x 84 x 4, as of a game's screen. */
static const aq_conv_shape screen = {
    .height = 84, .width = 84, .channels = 4, .filters = 32, .kernel = 8, .stride = 4};
static const aq_head_shape atoms = {.choices = 6, .atoms = 51, .low = -10.0f, .high = 10.0f};

static void accept(const aq_layer_spec *layer)
{
    assert_succeeds(aq_layer_spec_validate(layer, 3, &refusal));
}

static void refuse(const aq_layer_spec *layer, const char *words)
{
    assert_refused(aq_layer_spec_validate(layer, 3, &refusal), AQ_E_INVALID, words);
}

static void assert_matrix(const aq_layer_spec *layer, uint32_t rows, uint32_t columns)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer);
    assert_int_equal(matrix.rows, rows);
    assert_int_equal(matrix.columns, columns);
    assert_int_equal(aq_layer_parameters(layer), (size_t)rows * (columns + 1));
}

TEST(a_linear_layer_has_a_row_an_output)
{
    const aq_layer_spec layer = aq_layer_linear(17, 5, AQ_ACTIVATION_TANH);
    accept(&layer);
    assert_matrix(&layer, 5, 17);
    assert_true(aq_layer_is_quantizable(&layer));
}

TEST(a_convolution_has_a_row_a_filter)
{
    const aq_layer_spec layer = aq_layer_conv2d(&screen, AQ_ACTIVATION_RELU);
    accept(&layer);
    assert_int_equal(layer.inputs, 84 * 84 * 4);
    assert_int_equal(layer.outputs, 20 * 20 * 32);
    assert_int_equal(aq_conv_out_height(&layer.conv) * aq_conv_out_width(&layer.conv), 400);
    assert_matrix(&layer, 32, 8 * 8 * 4);
    assert_true(aq_layer_is_quantizable(&layer));
}

TEST(padding_makes_the_image_larger_on_every_side)
{
    aq_conv_shape shape = {
        .height = 5, .width = 7, .channels = 2, .filters = 3, .kernel = 3, .stride = 1};
    shape.padding = 1;
    assert_int_equal(aq_conv_out_height(&shape), 5);
    assert_int_equal(aq_conv_out_width(&shape), 7);
    shape.padding = 2;
    assert_int_equal(aq_conv_out_height(&shape), 7);
    shape.stride = 2;
    assert_int_equal(aq_conv_out_height(&shape), 4);
    assert_int_equal(aq_conv_out_width(&shape), 5);
}

TEST(a_norm_has_a_weight_and_a_bias_a_value)
{
    const aq_layer_spec layer = aq_layer_norm(9, AQ_ACTIVATION_ELU);
    accept(&layer);
    assert_matrix(&layer, 9, 1);
    assert_false(aq_layer_is_quantizable(&layer));
}

TEST(heads_have_no_parameters)
{
    const aq_layer_spec dueling = aq_layer_dueling(6, 51);
    const aq_layer_spec categorical = aq_layer_categorical(&atoms);
    accept(&dueling);
    accept(&categorical);
    assert_int_equal(dueling.inputs, 7 * 51);
    assert_int_equal(dueling.outputs, 6 * 51);
    assert_int_equal(categorical.inputs, 6 * 51);
    assert_int_equal(categorical.outputs, 6);
    assert_matrix(&dueling, 0, 0);
    assert_matrix(&categorical, 0, 0);
    assert_false(aq_layer_is_quantizable(&dueling));
}

TEST(an_add_layer_takes_two_values_as_wide_as_its_own)
{
    aq_layer_spec layer = aq_layer_add(9);
    aq_net_spec spec = {.layer_count = 2, .layers = {aq_layer_norm(9, AQ_ACTIVATION_NONE), layer}};
    accept(&layer);
    assert_int_equal(layer.inputs, 18);
    assert_matrix(&layer, 0, 0);
    assert_false(aq_layer_is_quantizable(&layer));
    layer.activation = AQ_ACTIVATION_TANH;
    refuse(&layer, "layer 3: nothing can follow an add layer");
    layer = aq_layer_add(UINT32_MAX / 2 + 2);
    refuse(&layer, "layer 3: its input is 4294967295");

    spec.layers[1].sources = (aq_layer_sources){.count = 2, .values = {0, 1}};
    assert_succeeds(aq_net_spec_validate(&spec, &refusal));
    spec.layers[1].sources.count = 1;
    assert_refused(aq_net_spec_validate(&spec, &refusal), AQ_E_INVALID,
                   "layer 1 takes 18 values, but is given 9");
    spec.layers[0] = aq_layer_linear(9, 8, AQ_ACTIVATION_NONE);
    spec.layers[1] = aq_layer_add(9);
    spec.layers[1].inputs = 17;
    spec.layers[1].sources = (aq_layer_sources){.count = 2, .values = {0, 1}};
    assert_refused(aq_net_spec_validate(&spec, &refusal), AQ_E_INVALID, "its shape makes");
    spec.layers[0] = aq_layer_linear(10, 8, AQ_ACTIVATION_NONE);
    spec.layers[1].inputs = 18;
    assert_refused(aq_net_spec_validate(&spec, &refusal), AQ_E_INVALID,
                   "layer 1: an add layer takes two values of width 9");
}

TEST(a_pool_gives_as_many_channels_as_it_takes)
{
    aq_conv_shape shape = {.height = 7,
                           .width = 5,
                           .channels = 3,
                           .filters = 3,
                           .kernel = 3,
                           .stride = 2,
                           .padding = 1};
    aq_layer_spec layer = aq_layer_pool(&shape, AQ_ACTIVATION_TANH);
    accept(&layer);
    assert_int_equal(layer.outputs, 4 * 3 * 3);
    assert_matrix(&layer, 0, 0);
    assert_false(aq_layer_is_quantizable(&layer));
    shape.filters = 4;
    layer = aq_layer_pool(&shape, AQ_ACTIVATION_NONE);
    refuse(&layer, "layer 3: a pool of 3 channels gives 4");
    shape.filters = 3;
    shape.padding = 3;
    layer = aq_layer_pool(&shape, AQ_ACTIVATION_NONE);
    refuse(&layer, "layer 3: a padding of 3 for a kernel of 3");
}

TEST(an_unknown_kind_is_refused)
{
    aq_layer_spec layer = aq_layer_norm(9, AQ_ACTIVATION_NONE);
    layer.kind = 99;
    refuse(&layer, "layer 3: unknown kind 99");
    assert_false(aq_layer_is_quantizable(&layer));
    assert_string_equal(aq_layer_kind_name(AQ_LAYER_KINDS_END), "unknown");
    layer.kind = 0;
    refuse(&layer, "layer 3: unknown kind 0");
}

TEST(a_convolution_that_cannot_be_is_refused)
{
    static const struct {
        aq_conv_shape shape;
        const char *words;
    } rows[] = {
        {{84, 84, 4, .filters = 32, .kernel = 0, .stride = 4}, "its output is 0"},
        {{84, 84, 4, .filters = 32, .kernel = 85, .stride = 4}, "its output is 0"},
        {{84, 84, 4, .filters = 32, .kernel = 8, .stride = 0}, "its output is 0"},
        {{84, 84, 4, .filters = 32, .kernel = 8, .stride = 4, .padding = 8},
         "a padding of 8 for a kernel of 8"},
        {{20, 20, 300, .filters = 32, .kernel = 8, .stride = 4}, "its patch is 19200; 1 to 16384"},
    };
    EACH_ROW(i, rows) {
        const aq_layer_spec layer = aq_layer_conv2d(&rows[i].shape, AQ_ACTIVATION_NONE);
        refuse(&layer, rows[i].words);
    }
    aq_layer_spec layer = aq_layer_conv2d(&screen, AQ_ACTIVATION_NONE);
    layer.outputs--;
    refuse(&layer, "its shape makes that 28224 and 12800");
}

TEST(a_shape_past_32_bits_is_refused)
{
    const aq_conv_shape huge = {.height = 1U << 20,
                                .width = 1U << 20,
                                .channels = 1U << 20,
                                .filters = UINT32_MAX,
                                .kernel = 1,
                                .stride = 1};
    aq_layer_spec layer = aq_layer_conv2d(&huge, AQ_ACTIVATION_NONE);
    refuse(&layer, "its input is 4294967295");
    layer = aq_layer_dueling(UINT32_MAX, UINT32_MAX);
    refuse(&layer, "number of choices is 4294967295; 1 to 4096");
}

TEST(a_head_that_cannot_be_is_refused)
{
    const float bounds[][2] = {{1.0f, 1.0f}, {2.0f, 1.0f},      {NAN, 1.0f},
                               {0.0f, NAN},  {-INFINITY, 0.0f}, {0.0f, INFINITY}};
    for (int i = 0; i < 6; i++) {
        aq_head_shape shape = atoms;
        shape.low = bounds[i][0];
        shape.high = bounds[i][1];
        const aq_layer_spec layer = aq_layer_categorical(&shape);
        refuse(&layer, "layer 3: atoms from");
    }
    aq_head_shape shape = atoms;
    shape.atoms = 1;
    aq_layer_spec layer = aq_layer_categorical(&shape);
    refuse(&layer, "1 atoms are no distribution");
    layer = aq_layer_dueling(6, 1);
    accept(&layer);
    layer.activation = AQ_ACTIVATION_RELU;
    refuse(&layer, "nothing can follow a head");
    layer = aq_layer_dueling(6, 1025);
    refuse(&layer, "number of atoms is 1025; 1 to 1024");
}

/* ---- as a network --------------------------------------------------------------------------- */

static aq_net_spec game_net(void)
{
    const aq_layer_spec layers[] = {aq_layer_conv2d(&screen, AQ_ACTIVATION_RELU),
                                    aq_layer_linear(12800, 64, AQ_ACTIVATION_NONE),
                                    aq_layer_norm(64, AQ_ACTIVATION_TANH),
                                    aq_layer_linear(64, 357, AQ_ACTIVATION_NONE),
                                    aq_layer_dueling(6, 51),
                                    aq_layer_categorical(&atoms)};
    return net_of(layers);
}

TEST(layers_of_all_kinds_chain)
{
    aq_net_spec spec = game_net();
    char text[128];
    assert_int_equal(aq_net_spec_validate(&spec, NULL), 0);
    assert_int_equal(aq_net_spec_outputs(&spec), 6);
    assert_int_equal(aq_net_spec_width_max(&spec), 84 * 84 * 4);
    assert_string_equal(aq_net_spec_text(&spec, text, sizeof(text)),
                        "84x84x4-conv8/4x32r-64-normt-357-dueling6-atoms51");
    spec.layers[4] = aq_layer_dueling(7, 51);
    assert_int_equal(aq_net_spec_validate(&spec, NULL), AQ_E_INVALID);
}

TEST(a_full_network_takes_no_layer)
{
    const aq_layer_spec layer = aq_layer_norm(4, AQ_ACTIVATION_NONE);
    aq_net_spec spec = {0};
    for (int i = 0; i < AQ_NET_LAYERS_MAX; i++) {
        assert_succeeds(aq_net_spec_add(&spec, &layer, &refusal));
    }
    assert_int_equal(aq_net_spec_validate(&spec, NULL), 0);
    assert_refused(aq_net_spec_add(&spec, &layer, &refusal), AQ_E_INVALID, "more than 48 layers");
    assert_int_equal(spec.layer_count, AQ_NET_LAYERS_MAX);
}

TEST(the_hash_tells_shapes_of_equal_sizes_apart)
{
    const aq_net_spec spec = game_net();
    const uint64_t hash = aq_net_spec_hash(&spec);
    aq_net_spec other = game_net();
    other.layers[0].conv.padding = 1;
    assert_true(aq_net_spec_hash(&other) != hash);
    other = game_net();
    other.layers[5].head.high = 11.0f;
    assert_true(aq_net_spec_hash(&other) != hash);
    other = game_net();
    other.layers[4].head.atoms = 357;
    assert_true(aq_net_spec_hash(&other) != hash);
    other = game_net();
    assert_true(aq_net_spec_hash(&other) == hash);
}
