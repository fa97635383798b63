/*
 * Forward against the reference pass; backward against central finite differences, with each kind
 * of layer, each activation, in fp32 and quantized.
 */
#include "common/nn/forward.h"
#include "learner/nn/hidden_layers.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/learner/net_fixture.h"

static const aq_fake_quant off = {0};
static const enum aq_activation activations[] = {AQ_ACTIVATION_RELU, AQ_ACTIVATION_TANH,
                                                 AQ_ACTIVATION_ELU};

static net_fixture *shaped(const net_shape *shape, aq_fake_quant quant, uint64_t seed)
{
    const aq_net_spec spec = net_spec_of(shape);
    return net_fixture_of(&spec, quant, seed);
}

static void check_random_shapes(enum aq_activation activation)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const net_shape shape = net_random_shape(activation, seed);
        net_fixture *f = shaped(&shape, off, seed);
        net_fixture_check_gradient(f, NET_ROWS);
        net_fixture_check_gradient(f, 4);
        net_fixture_check_gradient(f, 1);
    }
}

TEST(gradients_through_relu_are_right)
{
    check_random_shapes(AQ_ACTIVATION_RELU);
}

TEST(gradients_through_tanh_are_right)
{
    check_random_shapes(AQ_ACTIVATION_TANH);
}

TEST(gradients_through_elu_are_right)
{
    check_random_shapes(AQ_ACTIVATION_ELU);
}

TEST(gradients_through_an_activation_at_the_end_are_right)
{
    const net_shape shape = {.inputs = 3,
                             .outputs = 4,
                             .hidden = {6},
                             .hidden_count = 1,
                             .activation = AQ_ACTIVATION_ELU};
    aq_net_spec spec = net_spec_of(&shape);
    spec.layers[1].activation = AQ_ACTIVATION_TANH;
    net_fixture *f = net_fixture_of(&spec, off, 21);
    net_fixture_check_gradient(f, NET_ROWS);
}

/* 5-17n-20n-3, every activation. */
static void check_kinds(bool has_norm, bool is_dueling, aq_fake_quant quant, uint64_t seed)
{
    for (size_t a = 0; a < 3; a++) {
        const net_shape shape = {.inputs = 5,
                                 .outputs = 3,
                                 .hidden = {17, 20},
                                 .hidden_count = 2,
                                 .activation = activations[a],
                                 .has_norm = has_norm,
                                 .is_dueling = is_dueling};
        net_fixture *f = shaped(&shape, quant, seed);
        net_fixture_check_gradient(f, NET_ROWS);
        net_fixture_check_gradient(f, 2);
    }
}

TEST(gradients_through_norms_are_right)
{
    check_kinds(true, false, off, 41);
}

TEST(gradients_through_a_dueling_head_are_right)
{
    check_kinds(false, true, off, 43);
}

TEST(gradients_through_both_are_right)
{
    check_kinds(true, true, off, 47);
}

/* 4-8-(1 + 3 choices of 5 atoms)-dueling. */
TEST(gradients_through_distributions_are_right)
{
    const aq_layer_spec layers[] = {aq_layer_linear(4, 8, AQ_ACTIVATION_TANH),
                                    aq_layer_linear(8, 20, AQ_ACTIVATION_NONE),
                                    aq_layer_dueling(3, 5)};
    aq_net_spec spec = net_of(layers);
    net_fixture *f = net_fixture_of(&spec, off, 59);
    net_fixture_check_gradient(f, NET_ROWS);
    net_fixture_check_gradient(f, 2);
}

/* 4-5, two blocks of 20, a norm, -3. */
static aq_net_spec simba(enum aq_activation activation)
{
    const aq_space obs = {.kind = AQ_SPACE_BOX, .rank = 1, .shape = {4}};
    const aq_hidden_layers hidden = {.shape = {.count = 1, .widths = {5}, .blocks = 2},
                                     .activation = activation,
                                     .torso = "",
                                     .obs = &obs};
    const aq_layer_spec last = aq_layer_linear(0, 3, AQ_ACTIVATION_NONE);
    aq_net_spec spec;
    assert_succeeds(aq_hidden_layers_network(&hidden, 0, &last, &spec, &refusal));
    return spec;
}

TEST(gradients_through_residual_blocks_are_right)
{
    for (size_t a = 0; a < 3; a++) {
        const aq_net_spec spec = simba(activations[a]);
        net_fixture *f = net_fixture_of(&spec, off, 101);
        net_fixture_check_gradient(f, NET_ROWS);
        net_fixture_check_gradient(f, 2);
        net_fixture_check_input_gradient(f, NET_ROWS, 4, 4, 3);
        f = net_fixture_of(&spec, (aq_fake_quant){.bits = 8, .format = AQ_FORMAT_INT8_CHANNEL}, 7);
        net_fixture_check_gradient(f, NET_ROWS);
    }
}

/* Of what a torso says, and an activation alone, which is tanh or ELU, too. */
TEST(gradients_through_blocks_of_convolutions_are_right)
{
    static const struct {
        const char *torso;
        uint32_t height, width;
    } rows[] = {{"residual:2x1", 4, 3}, {"residual:1x2,residual:2x1", 5, 4}, {"pool:2/1", 3, 5}};
    EACH_ROW(i, rows) {
        const aq_space obs = {
            .kind = AQ_SPACE_BOX, .rank = 2, .shape = {rows[i].height, rows[i].width}};
        const aq_hidden_layers hidden = {
            .activation = activations[i], .torso = rows[i].torso, .obs = &obs};
        const aq_layer_spec last = aq_layer_linear(0, 3, AQ_ACTIVATION_NONE);
        aq_net_spec spec;
        assert_succeeds(aq_hidden_layers_network(&hidden, 0, &last, &spec, &refusal));
        net_fixture *f = net_fixture_of(&spec, off, 103 + i);
        net_fixture_check_gradient(f, NET_ROWS);
        net_fixture_check_gradient(f, 2);
        net_fixture_check_input_gradient(f, NET_ROWS, 4, 4, 3);
        f = net_fixture_of(&spec, (aq_fake_quant){.bits = 8, .format = AQ_FORMAT_INT8_CHANNEL}, 9);
        net_fixture_check_gradient(f, NET_ROWS);
    }
}

TEST(rows_that_do_not_count_still_reach_the_input)
{
    for (size_t a = 0; a < 3; a++) {
        const net_shape shape = {.inputs = 5,
                                 .outputs = 3,
                                 .hidden = {17, 20},
                                 .hidden_count = 2,
                                 .activation = activations[a],
                                 .has_norm = a != 1};
        net_fixture *f = shaped(&shape, off, 61);
        net_fixture_check_input_gradient(f, NET_ROWS, 4, 4, 3);
        net_fixture_check_input_gradient(f, NET_ROWS, NET_ROWS, 0, 0);
        net_fixture_check_input_gradient(f, 6, 1, 5, 4);
    }
}

TEST(gradients_through_a_norm_in_front_are_right)
{
    const aq_layer_spec layers[] = {aq_layer_norm(6, AQ_ACTIVATION_TANH),
                                    aq_layer_linear(6, 2, AQ_ACTIVATION_NONE)};
    const aq_net_spec spec = net_of(layers);
    net_fixture *f = net_fixture_of(&spec, off, 53);
    net_fixture_check_gradient(f, NET_ROWS);
}

/* The gradient at the quantized point is taken as it is. */
TEST(gradients_pass_straight_through_quantization)
{
    for (uint32_t bits = 2; bits <= 8; bits++) {
        const aq_fake_quant quant = {.bits = bits, .format = AQ_FORMAT_INT8_CHANNEL};
        check_kinds(false, false, quant, 60 + bits);
        check_kinds(true, true, quant, 80 + bits);
    }
}

TEST(gradients_pass_straight_through_shared_scales)
{
    check_kinds(false, true, (aq_fake_quant){.bits = 5, .format = AQ_FORMAT_INT8_TENSOR}, 91);
    check_kinds(false, true, (aq_fake_quant){.bits = 4, .format = AQ_FORMAT_INT4}, 92);
    check_kinds(false, true, (aq_fake_quant){.bits = 2, .format = AQ_FORMAT_INT2}, 93);
}

TEST(a_layer_that_acts_in_fp32_is_trained_in_fp32)
{
    check_kinds(false, true,
                (aq_fake_quant){.bits = 4, .format = AQ_FORMAT_INT4, .is_exact = {true}}, 94);
}

TEST(forward_is_that_of_the_reference)
{
    float scratch[2 * NET_ROWS * NET_WIDTH_MAX], want[NET_ROWS * NET_WIDTH_MAX];
    for (size_t i = 0; i < 12; i++) {
        const net_shape shape = {.inputs = 7,
                                 .outputs = 5,
                                 .hidden = {24, 17},
                                 .hidden_count = 2,
                                 .activation = activations[i % 3],
                                 .has_norm = i / 3 % 2 == 1,
                                 .is_dueling = i / 6 == 1};
        net_fixture *f = shaped(&shape, off, 31);
        for (uint32_t rows = 1; rows <= NET_ROWS; rows++) {
            const float *out = aq_net_forward(f->train, &f->params, f->input, rows);
            aq_forward_reference(&f->spec, &f->params, f->input, rows, scratch, want);
            for (size_t k = 0; k < (size_t)rows * 5; k++) {
                assert_true(fabsf(out[k] - want[k]) <= 1e-5f);
            }
        }
    }
}

TEST(forward_through_residual_blocks_is_that_of_the_reference)
{
    const aq_net_spec spec = simba(AQ_ACTIVATION_RELU);
    float scratch[4 * NET_ROWS * NET_WIDTH_MAX], want[NET_ROWS * NET_WIDTH_MAX];
    net_fixture *f = net_fixture_of(&spec, off, 33);
    const float *out = aq_net_forward(f->train, &f->params, f->input, NET_ROWS);
    assert_true(aq_forward_scratch(&spec, NET_ROWS) <= sizeof(scratch) / sizeof(scratch[0]));
    aq_forward_reference(&f->spec, &f->params, f->input, NET_ROWS, scratch, want);
    for (size_t k = 0; k < (size_t)NET_ROWS * 3; k++) {
        assert_near((double)out[k], (double)want[k], 1e-5);
    }
}

static const net_shape small = {.inputs = 4,
                                .outputs = 2,
                                .hidden = {8, 8},
                                .hidden_count = 2,
                                .activation = AQ_ACTIVATION_TANH,
                                .has_norm = true,
                                .is_dueling = true};
static const aq_fake_quant four = {.bits = 4, .format = AQ_FORMAT_INT8_CHANNEL};

TEST(quantization_can_be_turned_off_and_on)
{
    float want[NET_ROWS * 2];
    const size_t count = (size_t)NET_ROWS * 2;
    net_fixture *plain = shaped(&small, off, 5);
    net_fixture *f = shaped(&small, four, 5);
    memcpy(want, aq_net_forward(plain->train, &plain->params, plain->input, NET_ROWS),
           sizeof(want));
    assert_memory_not_equal(aq_net_forward(f->train, &f->params, f->input, NET_ROWS), want,
                            count * sizeof(float));
    aq_net_train_quantize(f->train, false);
    assert_memory_equal(aq_net_forward(f->train, &f->params, f->input, NET_ROWS), want,
                        count * sizeof(float));
}

TEST(quantized_training_leaves_the_real_weights_alone)
{
    float before[NET_PARAMETERS_MAX];
    net_fixture *f = shaped(&small, four, 5);
    memcpy(before, f->params.block, f->params.count * sizeof(float));
    aq_net_forward(f->train, &f->params, f->input, NET_ROWS);
    aq_net_backward(f->train, f->d_out, NET_ROWS, &f->gradient);
    assert_memory_equal(f->params.block, before, f->params.count * sizeof(float));
}

TEST(a_step_allocates_nothing)
{
    net_fixture *f = shaped(&small, four, 1);
    const uint64_t before = aq_memory_allocation_count();
    for (int i = 0; i < 10; i++) {
        aq_net_forward(f->train, &f->params, f->input, NET_ROWS);
        aq_net_backward(f->train, f->d_out, NET_ROWS, &f->gradient);
    }
    assert_int_equal(aq_memory_allocation_count(), before);
}

TEST(create_without_memory_fails)
{
    const aq_net_spec spec = net_spec_of(&small);
    const aq_net_train_config config = {
        .spec = &spec, .rows_max = NET_ROWS, .backward_rows_max = NET_ROWS};
    aq_net_train *train = NULL;
    assert_fails_without_memory(aq_net_train_create(&config, &train, NULL));
    assert_null(train);
}
