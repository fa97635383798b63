/*
 * Models of others as networks: which operators are layers, and what is refused.
 */
#include "interchange/import/onnx_read.h"
#include "interchange/onnx/onnx_graph.h"
#include "tests/support/test.h"

enum { MODEL_BYTES_MAX = 1 << 20 };

static const float ramp[] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f};

/* A model, node by node; `x` is the value that the next one takes. */
typedef struct model_kit {
    aq_onnx_graph *graph;
    const char *x;
    aq_buffer file;
    aq_foreign_net net;
} model_kit;

static void model_kit_setup(model_kit *kit)
{
    kit->graph = aq_onnx_graph_create(0);
    kit->x = "obs";
    aq_buffer_init(&kit->file, MODEL_BYTES_MAX);
    aq_onnx_takes(kit->graph, &(aq_onnx_end){"obs", "", AQ_ONNX_FLOAT, 4});
}

static void model_kit_teardown(model_kit *kit)
{
    aq_onnx_graph_destroy(kit->graph);
    aq_buffer_fini(&kit->file);
    aq_foreign_net_fini(&kit->net);
}

static const char *constant(model_kit *kit, const char *name, int64_t rows, int64_t columns)
{
    return aq_onnx_constant(kit->graph, name,
                            &(aq_onnx_tensor){AQ_ONNX_FLOAT, {rows, columns}, ramp});
}

static void node(model_kit *kit, const char *op, const char *name, const char *with)
{
    kit->x = aq_onnx_node(kit->graph, op, name, AQ_ONNX_OF(kit->x, with));
}

static int read_model(model_kit *kit, const char *output)
{
    const aq_onnx_about about = {.name = "m", .says = "", .version = 1};
    aq_onnx_figures figures;
    aq_onnx_ends(kit->graph, &(aq_onnx_end){kit->x, "", AQ_ONNX_FLOAT, 2});
    assert_int_equal(aq_onnx_pack(kit->graph, &about, &kit->file, &figures), 0);
    return aq_onnx_read(kit->file.data, kit->file.size, output, &kit->net, &refusal);
}

static void assert_net(const model_kit *kit, const char *expected)
{
    char text[256];
    assert_string_equal(aq_net_spec_text(&kit->net.spec, text, sizeof(text)), expected);
}

TEST_IN(model_kit, kit, products_and_activations_are_layers)
{
    node(kit, "Flatten", "flat", NULL);
    node(kit, "MatMul", "first", constant(kit, "w1", 4, 2));
    node(kit, "Add", "first_sum", constant(kit, "b1", 1, 2));
    node(kit, "Elu", "elu", NULL);
    kit->x = aq_onnx_node(kit->graph, "Gemm", "second",
                          AQ_ONNX_OF(kit->x, constant(kit, "w2", 2, 2), constant(kit, "b2", 2, 0)));
    aq_onnx_set_int(kit->graph, "transB", 1);
    node(kit, "Identity", "same", NULL);
    assert_succeeds(read_model(kit, NULL));
    assert_net(kit, "4-2e-2");
    assert_float_equal(kit->net.weight[0][1], 0.3f, 0.0f); /* turned */
    assert_float_equal(kit->net.bias[0][1], 0.2f, 0.0f);
    assert_float_equal(kit->net.weight[1][1], 0.2f, 0.0f); /* as it lies */
    assert_float_equal(kit->net.bias[1][1], 0.2f, 0.0f);
}

/* ((obs - c) / d) W + b, times a number: one layer. */
TEST_IN(model_kit, kit, scales_become_part_of_the_layer)
{
    const float *w = ramp;
    node(kit, "Sub", "centred", constant(kit, "c", 4, 0));
    node(kit, "Div", "scaled", constant(kit, "d", 1, 4));
    node(kit, "MatMul", "product", constant(kit, "w", 4, 2));
    node(kit, "Mul", "twice", aq_onnx_scalar(kit->graph, "two", 2.0f));
    assert_succeeds(read_model(kit, NULL));
    assert_net(kit, "4-2");
    assert_float_equal(kit->net.weight[0][0], 2.0f * w[0] / ramp[0], 1e-6f);
    assert_float_equal(kit->net.weight[0][4], 2.0f * w[1] / ramp[0], 1e-6f);
    assert_float_equal(kit->net.bias[0][0], -2.0f * (w[0] + w[2] + w[4] + w[6]), 1e-6f);
}

TEST_IN(model_kit, kit, a_norm_is_a_layer)
{
    kit->x = aq_onnx_node(kit->graph, "LayerNormalization", "norm",
                          AQ_ONNX_OF(kit->x, constant(kit, "gain", 4, 0)));
    node(kit, "Tanh", "tanh", NULL);
    assert_succeeds(read_model(kit, NULL));
    assert_net(kit, "4-normt");
    assert_float_equal(kit->net.weight[0][3], 0.4f, 0.0f);
    assert_float_equal(kit->net.bias[0][3], 0.0f, 0.0f);
}

/* As PyTorch writes two biases that are equal. */
TEST_IN(model_kit, kit, constants_are_found_behind_identities_and_as_numbers)
{
    const char *bias = constant(kit, "b1", 2, 0);
    const char *same = aq_onnx_node(kit->graph, "Identity", "b2", AQ_ONNX_OF(bias));
    const char *twice = aq_onnx_node(kit->graph, "Constant", "two", (const char *const[]){NULL});
    aq_onnx_set_float(kit->graph, "value_float", 2.0f);
    kit->x = aq_onnx_node(kit->graph, "Gemm", "first",
                          AQ_ONNX_OF(kit->x, constant(kit, "w1", 4, 2), bias));
    node(kit, "Relu", "relu", NULL);
    kit->x = aq_onnx_node(kit->graph, "Gemm", "second",
                          AQ_ONNX_OF(kit->x, constant(kit, "w2", 2, 2), same));
    node(kit, "Mul", "scaled", twice);
    assert_succeeds(read_model(kit, NULL));
    assert_net(kit, "4-2r-2");
    assert_float_equal(kit->net.bias[0][1], 0.2f, 0.0f);
    assert_float_equal(kit->net.bias[1][1], 0.4f, 0.0f);
    assert_float_equal(kit->net.weight[1][0], 0.2f, 0.0f);
}

TEST_IN(model_kit, kit, identities_that_go_in_a_circle_end)
{
    const char *round = aq_onnx_node(kit->graph, "Identity", "round", AQ_ONNX_OF("again"));
    (void)aq_onnx_node(kit->graph, "Identity", "again", AQ_ONNX_OF(round));
    node(kit, "Add", "sum", round);
    assert_int_equal(read_model(kit, NULL), AQ_E_UNSUPPORTED);
}

/* The first half of a network must not get lost behind another part of what it gives. */
TEST_IN(model_kit, kit, a_second_output_is_refused)
{
    node(kit, "MatMul", "front", constant(kit, "w1", 4, 2));
    (void)aq_onnx_node(kit->graph, "Split", "half", AQ_ONNX_OF(kit->x));
    kit->x = aq_onnx_gives(kit->graph, "other_half");
    node(kit, "MatMul", "back", constant(kit, "w2", 4, 2));
    assert_int_equal(read_model(kit, NULL), AQ_E_UNSUPPORTED);
    assert_says(refusal.text, "operator Split ('half') gives several values, and not the first");
}

TEST_IN(model_kit, kit, a_chain_from_no_input_is_refused)
{
    kit->x = "nobody's";
    node(kit, "MatMul", "layer", constant(kit, "w", 4, 2));
    assert_int_equal(read_model(kit, NULL), AQ_E_UNSUPPORTED);
    assert_says(refusal.text, "the output comes from 'nobody's', which is no input of the model");
}

TEST_IN(model_kit, kit, observations_that_are_no_floats_are_refused)
{
    aq_onnx_takes(kit->graph, &(aq_onnx_end){"bytes", "", AQ_ONNX_UINT8, 4});
    kit->x = "bytes";
    node(kit, "Cast", "floats", NULL);
    aq_onnx_set_int(kit->graph, "to", AQ_ONNX_FLOAT);
    node(kit, "MatMul", "layer", constant(kit, "w", 4, 2));
    assert_int_equal(read_model(kit, NULL), AQ_E_UNSUPPORTED);
    assert_says(refusal.text, "the model takes values of type 2");
}

TEST_IN(model_kit, kit, a_cast_of_floats_changes_nothing)
{
    node(kit, "Cast", "wide", NULL);
    aq_onnx_set_int(kit->graph, "to", AQ_ONNX_DOUBLE);
    node(kit, "MatMul", "layer", constant(kit, "w", 4, 2));
    node(kit, "Cast", "narrow", NULL);
    aq_onnx_set_int(kit->graph, "to", AQ_ONNX_FLOAT);
    assert_succeeds(read_model(kit, NULL));
    assert_net(kit, "4-2");
}

/* Operators behind the layer, and what the net keeps of them. */
TEST(what_heads_do_may_stand_at_the_end)
{
    static const struct {
        const char *op;
        int64_t axis;
        enum aq_foreign_ending ending;
        const char *net;
    } rows[] = {
        {"Softmax", -1, AQ_FOREIGN_SHARES, "4-2"},    {"LogSoftmax", 1, AQ_FOREIGN_SHARES, "4-2"},
        {"ArgMax", 1, AQ_FOREIGN_CHOICE, "4-2"},      {"Clip", 2, AQ_FOREIGN_CLIPPED, "4-2"},
        {"Clip", INT64_MAX, AQ_FOREIGN_OPEN, "4-2r"}, /* from 0 on */
    };
    EACH_ROW(i, rows) {
        const bool is_clip = strcmp(rows[i].op, "Clip") == 0;
        model_kit kit = {0};
        model_kit_setup(&kit);
        node(&kit, "MatMul", "layer", constant(&kit, "w", 4, 2));
        const char *low = aq_onnx_scalar(kit.graph, "low", rows[i].axis == 2 ? -2.0f : 0.0f);
        const char *high = rows[i].axis == 2 ? aq_onnx_scalar(kit.graph, "high", 3.0f) : NULL;
        kit.x = aq_onnx_node(kit.graph, rows[i].op, "it",
                             AQ_ONNX_OF(kit.x, is_clip ? low : NULL, high));
        if (!is_clip) {
            aq_onnx_set_int(kit.graph, "axis", rows[i].axis);
        }
        assert_succeeds(read_model(&kit, NULL));
        assert_net(&kit, rows[i].net);
        assert_int_equal(kit.net.ending, rows[i].ending);
        assert_float_equal(kit.net.high, rows[i].ending == AQ_FOREIGN_CLIPPED ? 3.0f : 0.0f, 0.0f);
        model_kit_teardown(&kit);
    }
}

/* As VecNormalize of Stable-Baselines3 holds what it normalized; and more behind an end. */
TEST_IN(model_kit, kit, nothing_follows_what_only_heads_do)
{
    const char *low = aq_onnx_scalar(kit->graph, "low", -10.0f);
    const char *high = aq_onnx_scalar(kit->graph, "high", 10.0f);
    const char *obs = kit->x;
    kit->x = aq_onnx_node(kit->graph, "Clip", "clip", AQ_ONNX_OF(kit->x, low, high));
    node(kit, "MatMul", "layer", constant(kit, "w", 4, 2));
    assert_int_equal(read_model(kit, "layer"), AQ_E_UNSUPPORTED);
    assert_says(refusal.text, "values are held between -10 and 10 before a linear layer");
    kit->x = obs;
    aq_foreign_net_fini(&kit->net);
    node(kit, "MatMul", "one", constant(kit, "v", 4, 2));
    node(kit, "Softmax", "shares", NULL);
    node(kit, "Tanh", "more", NULL);
    assert_int_equal(read_model(kit, "more"), AQ_E_UNSUPPORTED);
    assert_says(refusal.text, "tanh behind Softmax, with which a network ends");
}

/* By the operators that they are made of. */
TEST(activations_in_pieces_are_named)
{
    static const char *const rows[][2] = {
        {"Sigmoid", "one of them through Sigmoid, as in SiLU or a gate, which is not known"},
        {"Erf", "one of them through Erf, as in GELU, which is not known"},
        {"ReduceMean",
         "as in a norm in pieces (of a layer norm, opset 17 and later make one operator)"},
    };
    EACH_ROW(i, rows) {
        model_kit kit = {0};
        model_kit_setup(&kit);
        node(&kit, "MatMul", "layer", constant(&kit, "w", 4, 2));
        const char *x = kit.x;
        node(&kit, rows[i][0], "part", NULL);
        node(&kit, "Add", "sum", aq_onnx_scalar(kit.graph, "one", 1.0f));
        node(&kit, "Mul", "it", x);
        assert_int_equal(read_model(&kit, NULL), AQ_E_UNSUPPORTED);
        assert_says(refusal.text, "operator Mul ('it') takes several values, ");
        assert_says(refusal.text, rows[i][1]);
        model_kit_teardown(&kit);
    }
}

TEST_IN(model_kit, kit, an_output_is_chosen_by_name)
{
    node(kit, "MatMul", "outputs", constant(kit, "w", 4, 2));
    aq_onnx_ends(kit->graph, &(aq_onnx_end){"outputs", "", AQ_ONNX_FLOAT, 2});
    node(kit, "Softmax", "p", NULL);
    assert_succeeds(read_model(kit, NULL));
    assert_net(kit, "4-2");
}

TEST_IN(model_kit, kit, an_output_that_is_not_there_is_refused)
{
    node(kit, "Tanh", "t", NULL);
    assert_int_equal(read_model(kit, "q"), AQ_E_NOT_FOUND);
    assert_says(refusal.text, "1 outputs, the first is 't'");
}

/* Operators by name, that follow a layer; what they take beside it, as scalars. */
TEST(what_no_policy_has_is_refused)
{
    static const struct {
        const char *op, *attribute, *words;
        int64_t value;
        int code;
    } rows[] = {
        {"Sigmoid", NULL, "operator Sigmoid ('it') is not known", 0, AQ_E_UNSUPPORTED},
        {"Softmax", "axis", "over the last axis", 0, AQ_E_UNSUPPORTED},
        {"ArgMax", NULL, "over the last axis", 0, AQ_E_UNSUPPORTED},
        {"Cast", "to", "is known to float", AQ_ONNX_INT64, AQ_E_UNSUPPORTED},
        {"Re\x1blu", NULL, "operator Re?lu", 0, AQ_E_UNSUPPORTED},
        {"Gemm", "transA", "without transA", 1, AQ_E_UNSUPPORTED},
        {"Gemm", NULL, "no constant matrix", 0, AQ_E_UNSUPPORTED},
        {"Flatten", "axis", "axis 1", 2, AQ_E_UNSUPPORTED},
        {"LayerNormalization", "axis", "last axis", 0, AQ_E_UNSUPPORTED},
        {"Relu", NULL, "relu right behind tanh", 0, AQ_E_UNSUPPORTED},
        {"Add", NULL, "takes several values", 0, AQ_E_UNSUPPORTED},
    };
    EACH_ROW(i, rows) {
        model_kit kit = {0};
        model_kit_setup(&kit);
        node(&kit, "MatMul", "layer", constant(&kit, "w", 4, 2));
        node(&kit, "Tanh", "tanh", NULL);
        node(&kit, rows[i].op, "it", strcmp(rows[i].op, "Add") == 0 ? kit.x : NULL);
        if (rows[i].attribute != NULL) {
            aq_onnx_set_int(kit.graph, rows[i].attribute, rows[i].value);
        }
        assert_int_equal(read_model(&kit, NULL), rows[i].code);
        assert_says(refusal.text, rows[i].words);
        model_kit_teardown(&kit);
    }
}

/* Constants of other sizes and types, in a product. */
TEST(constants_that_do_not_fit_are_refused)
{
    static const struct {
        enum aq_onnx_type type;
        int64_t rows, columns;
        const char *words;
    } rows[] = {
        {AQ_ONNX_INT64, 2, 2, "values of type 7"},
        {AQ_ONNX_FLOAT, 1, 8, "takes 1 values, and the layer before it gives 2"},
        {AQ_ONNX_FLOAT, 4, 0, "no constant matrix"},
    };
    EACH_ROW(i, rows) {
        model_kit kit = {0};
        model_kit_setup(&kit);
        node(&kit, "MatMul", "layer", constant(&kit, "w", 4, 2));
        node(&kit, "MatMul", "next",
             aq_onnx_constant(
                 kit.graph, "v",
                 &(aq_onnx_tensor){rows[i].type, {rows[i].rows, rows[i].columns}, ramp}));
        assert_true(read_model(&kit, NULL) != 0);
        assert_says(refusal.text, rows[i].words);
        model_kit_teardown(&kit);
    }
}

TEST_IN(model_kit, kit, nodes_that_go_in_a_circle_end)
{
    const char *round = aq_onnx_node(kit->graph, "Relu", "round", AQ_ONNX_OF("again"));
    kit->x = aq_onnx_node(kit->graph, "Relu", "again", AQ_ONNX_OF(round));
    assert_int_equal(read_model(kit, NULL), AQ_E_TOO_BIG);
}

TEST_IN(model_kit, kit, a_failed_allocation_is_said)
{
    int rc;
    node(kit, "Mul", "scaled", constant(kit, "c", 4, 0));
    node(kit, "MatMul", "layer", constant(kit, "w", 4, 2));
    node(kit, "Add", "sum", constant(kit, "b", 2, 0));
    assert_succeeds(read_model(kit, NULL));
    EACH_ALLOCATION_FAILS(rc) {
        aq_foreign_net_fini(&kit->net);
        rc = aq_onnx_read(kit->file.data, kit->file.size, NULL, &kit->net, &refusal);
    }
}

TEST(what_is_no_model_is_refused)
{
    aq_foreign_net net = {0};
    assert_int_equal(aq_onnx_read((const uint8_t *)"hello", 5, NULL, &net, &refusal), AQ_E_FOREIGN);
    assert_int_equal(aq_onnx_read((const uint8_t *)"", 0, NULL, &net, &refusal), AQ_E_FOREIGN);
}
