/*
 * Noisy layers: what they give and their gradients, against the equation of factorized noise and
 * its central differences, in double.
 */
#include "common/policy/draw_source.h"
#include "learner/nn/hidden_layers.h"
#include "tests/support/test.h"
#include "tests/unit/learner/net_fixture.h"

enum { INPUTS = 3, WIDTH = 4, OUTPUTS = 6, GROUP = 3, ROWS = 5, NOISES = 3 + 4 + 4 + 2, KEY = 7 };

static float noise[NOISES]; /* of the last pass */

/* A hidden layer with an activation, and outputs of which each three have one number of noise. */
static net_fixture *make_net(uint64_t seed)
{
    const aq_layer_spec hidden = aq_layer_linear(INPUTS, WIDTH, AQ_ACTIVATION_TANH);
    const aq_layer_spec last = aq_layer_linear(WIDTH, OUTPUTS, AQ_ACTIVATION_NONE);
    aq_net_spec spec = {0};
    assert_succeeds(aq_noisy_layer_add(&hidden, 1, &spec, &refusal));
    assert_succeeds(aq_noisy_layer_add(&last, GROUP, &spec, &refusal));
    assert_succeeds(aq_net_spec_validate(&spec, &refusal));
    assert_int_equal(aq_net_spec_noise(&spec), NOISES);
    return net_fixture_of(&spec, (aq_fake_quant){0}, seed);
}

/* y = W x + b + e_out (D (e_in x) + d), of the layer whose mean is layer `l` of the network. */
static void noisy(const net_fixture *net, uint32_t l, const float *drawn, uint32_t group,
                  const double *x, double *y)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(&net->spec.layers[l]);
    for (uint32_t row = 0; row < matrix.rows; row++) {
        double added = (double)net->params.bias[l + 2][row];
        y[row] = (double)net->params.bias[l][row];
        for (uint32_t i = 0; i < matrix.columns; i++) {
            const size_t at = (size_t)row * matrix.columns + i;
            y[row] += (double)net->params.weight[l][at] * x[i];
            added += (double)net->params.weight[l + 2][at] * (double)drawn[i] * x[i];
        }
        y[row] += (double)drawn[matrix.columns + row / group] * added;
    }
}

/* The sum of d_out . out over all rows; `ret_out` may be NULL. */
static double loss_of(const net_fixture *net, double *ret_out)
{
    double sum = 0.0;
    for (uint32_t row = 0; row < ROWS; row++) {
        double x[INPUTS], h[WIDTH], out[OUTPUTS];
        for (uint32_t i = 0; i < INPUTS; i++) {
            x[i] = (double)net->input[row * INPUTS + i];
        }
        noisy(net, 0, noise, 1, x, h);
        for (uint32_t i = 0; i < WIDTH; i++) {
            h[i] = tanh(h[i]);
        }
        noisy(net, 4, noise + INPUTS + WIDTH, GROUP, h, out);
        for (uint32_t i = 0; i < OUTPUTS; i++) {
            sum += (double)net->d_out[row * OUTPUTS + i] * out[i];
            if (ret_out != NULL) {
                ret_out[row * OUTPUTS + i] = out[i];
            }
        }
    }
    return sum;
}

static double slope_of(const net_fixture *net, float *value)
{
    const float was = *value;
    *value = was + 1e-3f;
    const double above = loss_of(net, NULL), high = (double)*value;
    *value = was - 1e-3f;
    const double below = loss_of(net, NULL), low = (double)*value;
    *value = was;
    return (above - below) / (high - low);
}

static const float *forward(net_fixture *net, uint64_t draw)
{
    aq_net_train_draw(net->train, KEY, 1, draw);
    aq_draw_layer_noise(&(aq_draw_at){.key = KEY, .draw = draw, .lane = 1, .octaves = 1}, NOISES,
                        noise);
    return aq_net_forward(net->train, &net->params, net->input, ROWS);
}

TEST(noisy_layers_give_what_the_equation_says)
{
    net_fixture *net = make_net(1);
    double exact[2][ROWS * OUTPUTS];
    for (uint64_t draw = 0; draw < 2; draw++) {
        const float *out = forward(net, draw);
        (void)loss_of(net, exact[draw]);
        for (size_t i = 0; i < ROWS * OUTPUTS; i++) {
            assert_near(out[i], exact[draw][i], 1e-5);
        }
    }
    assert_memory_not_equal(exact[0], exact[1], sizeof(exact[0]));
}

TEST(gradients_of_means_and_deviations_agree_with_finite_differences)
{
    net_fixture *net = make_net(2);
    float d_out[ROWS * OUTPUTS], d_input[ROWS * INPUTS];
    memcpy(d_out, net->d_out, sizeof(d_out));
    (void)forward(net, 3);
    aq_net_backward_as(net->train, &(aq_net_backward_plan){.d_out = d_out,
                                                           .rows = ROWS,
                                                           .counted_rows = ROWS,
                                                           .gradient = &net->gradient,
                                                           .d_input = d_input});
    for (size_t i = 0; i < net->params.count; i++) {
        assert_near(net->gradient.block[i], slope_of(net, &net->params.block[i]), 1e-4);
    }
    for (size_t i = 0; i < ROWS * INPUTS; i++) {
        assert_near(d_input[i], slope_of(net, &net->input[i]), 1e-4);
    }
}

TEST(deviations_begin_with_a_share_of_the_root_of_the_inputs)
{
    net_fixture *net = make_net(3);
    const float mean = net->params.weight[0][0];
    aq_noisy_layers_reset(&net->spec, 0.5, &net->params);
    assert_near(net->params.weight[2][5], 0.5 / sqrt(INPUTS), 1e-7);
    assert_near(net->params.bias[6][1], 0.5 / sqrt(WIDTH), 1e-7);
    assert_true(net->params.weight[0][0] == mean);
}
