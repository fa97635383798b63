/*
 * A gru through time: backward against central differences of a forward pass in double, over
 * sequences of several lengths that begin with states of their own.
 */
#include "learner/nn/net_train.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"

enum { INPUTS = 3, WIDTH = 4, OUTPUTS = 2, SEQUENCES = 3, STEPS = 5, ROWS = 3 + 3 + 2 + 1 + 1 };

static const uint32_t active[STEPS] = {3, 3, 2, 1, 1};

typedef struct memory_net {
    aq_net_spec spec;
    aq_params params, gradient;
    aq_net_train *train;
    float input[ROWS * INPUTS], d_out[ROWS * OUTPUTS], state[SEQUENCES * WIDTH];
    aq_net_sequences sequences;
} memory_net;

static void drop(void *user)
{
    memory_net *net = user;
    aq_net_train_destroy(net->train);
    aq_params_fini(&net->params);
    aq_params_fini(&net->gradient);
    aq_free(net);
}

static memory_net *make_net(uint64_t seed)
{
    const aq_layer_spec layers[] = {
        aq_layer_linear(INPUTS, AQ_GRU_GATES * WIDTH, AQ_ACTIVATION_NONE), aq_layer_gru(WIDTH),
        aq_layer_linear(WIDTH, OUTPUTS, AQ_ACTIVATION_NONE)};
    memory_net *net = aq_alloc(1, sizeof(*net));
    aq_rng rng = rng_of(seed, 1);
    assert_non_null(net);
    at_end(drop, net);
    net->spec = net_of(layers);
    assert_succeeds(aq_net_spec_validate(&net->spec, &refusal));
    assert_int_equal(aq_params_init(&net->spec, &net->params), 0);
    assert_int_equal(aq_params_init(&net->spec, &net->gradient), 0);
    assert_succeeds(aq_net_train_create(
        &(aq_net_train_config){.spec = &net->spec, .rows_max = ROWS, .backward_rows_max = ROWS},
        &net->train, &refusal));
    fill_range(net->params.block, net->params.count, -1, 1, &rng);
    fill_range(net->input, ROWS * INPUTS, -1, 1, &rng);
    fill_range(net->d_out, ROWS * OUTPUTS, -1, 1, &rng);
    fill_range(net->state, SEQUENCES * WIDTH, -1, 1, &rng);
    net->sequences = (aq_net_sequences){.steps = STEPS, .active = active, .state = net->state};
    return net;
}

/* y = W x + b */
static void multiply(const memory_net *net, uint32_t layer, const double *x, double *y)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(&net->spec.layers[layer]);
    for (uint32_t row = 0; row < matrix.rows; row++) {
        y[row] = (double)net->params.bias[layer][row];
        for (uint32_t i = 0; i < matrix.columns; i++) {
            y[row] += (double)net->params.weight[layer][row * matrix.columns + i] * x[i];
        }
    }
}

static double logistic(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

/* The sum of d_out . out over all rows; `ret_out` may be NULL. */
static double loss_of(const memory_net *net, double *ret_out)
{
    double state[SEQUENCES][WIDTH], sum = 0.0;
    for (uint32_t i = 0; i < SEQUENCES * WIDTH; i++) {
        state[i / WIDTH][i % WIDTH] = (double)net->state[i];
    }
    for (uint32_t step = 0, row = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < active[step]; i++, row++) {
            double x[INPUTS], in[3 * WIDTH], said[3 * WIDTH], out[OUTPUTS];
            for (uint32_t k = 0; k < INPUTS; k++) {
                x[k] = (double)net->input[row * INPUTS + k];
            }
            multiply(net, 0, x, in);
            multiply(net, 1, state[i], said);
            for (uint32_t k = 0; k < WIDTH; k++) {
                const double r = logistic(in[k] + said[k]);
                const double z = logistic(in[WIDTH + k] + said[WIDTH + k]);
                const double n = tanh(in[2 * WIDTH + k] + r * said[2 * WIDTH + k]);
                state[i][k] = (1.0 - z) * n + z * state[i][k];
            }
            multiply(net, 2, state[i], out);
            for (uint32_t k = 0; k < OUTPUTS; k++) {
                sum += (double)net->d_out[row * OUTPUTS + k] * out[k];
                if (ret_out != NULL) {
                    ret_out[row * OUTPUTS + k] = out[k];
                }
            }
        }
    }
    return sum;
}

TEST(sequences_of_several_lengths_go_forward_side_by_side)
{
    memory_net *net = make_net(1);
    double exact[ROWS * OUTPUTS];
    (void)loss_of(net, exact);
    const float *out =
        aq_net_forward_through(net->train, &net->params, net->input, &net->sequences);
    for (size_t i = 0; i < ROWS * OUTPUTS; i++) {
        assert_true(fabs((double)out[i] - exact[i]) < 1e-5);
    }
}

TEST(sequences_go_on_from_the_states_behind_them)
{
    enum { CUT = 2, BEFORE = 3 + 3 };
    memory_net *net = make_net(2);
    float whole[ROWS * OUTPUTS], behind[SEQUENCES * WIDTH];
    memcpy(whole, aq_net_forward_through(net->train, &net->params, net->input, &net->sequences),
           sizeof(whole));
    net->sequences.steps = CUT;
    (void)aq_net_forward_through(net->train, &net->params, net->input, &net->sequences);
    aq_net_states_behind(net->train, behind);
    net->sequences =
        (aq_net_sequences){.steps = STEPS - CUT, .active = active + CUT, .state = behind};
    const float *rest = aq_net_forward_through(net->train, &net->params,
                                               net->input + BEFORE * INPUTS, &net->sequences);
    for (size_t i = BEFORE * OUTPUTS; i < ROWS * OUTPUTS; i++) {
        assert_true(fabsf(whole[i] - rest[i - BEFORE * OUTPUTS]) < 1e-6f);
    }
    /* Of sequences that end on the way, too. */
    float again[SEQUENCES * WIDTH], last[SEQUENCES * WIDTH];
    aq_net_states_behind(net->train, again);
    net->sequences = (aq_net_sequences){.steps = STEPS, .active = active, .state = net->state};
    (void)aq_net_forward_through(net->train, &net->params, net->input, &net->sequences);
    aq_net_states_behind(net->train, last);
    for (size_t i = 0; i < SEQUENCES * WIDTH; i++) {
        const float should = i < 2 * WIDTH ? again[i] : behind[i]; /* the third has two steps */
        assert_true(fabsf(last[i] - should) < 1e-6f);
    }
}

TEST(gradients_through_time_are_right)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        memory_net *net = make_net(seed);
        double greatest = 0.0;
        (void)aq_net_forward_through(net->train, &net->params, net->input, &net->sequences);
        float d_out[ROWS * OUTPUTS];
        memcpy(d_out, net->d_out, sizeof(d_out));
        aq_net_backward(net->train, d_out, ROWS, &net->gradient);
        for (size_t i = 0; i < net->gradient.count; i++) {
            greatest = fmax(greatest, fabs((double)net->gradient.block[i]));
        }
        for (size_t i = 0; i < net->params.count; i++) {
            const float value = net->params.block[i];
            const float above = value + 1e-3f, below = value - 1e-3f;
            net->params.block[i] = above;
            const double higher = loss_of(net, NULL);
            net->params.block[i] = below;
            const double lower = loss_of(net, NULL);
            net->params.block[i] = value;
            const double slope = (higher - lower) / ((double)above - (double)below);
            assert_true(fabs((double)net->gradient.block[i] - slope) < 2e-5 * greatest);
        }
    }
}

TEST(a_gru_and_what_it_takes_begin_as_pytorchs)
{
    memory_net *net = make_net(1);
    aq_rng rng = rng_of(5, 1);
    float greatest[2] = {0};
    aq_params_randomize(&net->spec, &net->params, &rng);
    for (uint32_t layer = 0; layer < 2; layer++) {
        for (size_t i = 0; i < aq_layer_parameters(&net->spec.layers[layer]); i++) {
            greatest[layer] = fmaxf(greatest[layer], fabsf(net->params.weight[layer][i]));
        }
        assert_true(greatest[layer] <= 0.5f && greatest[layer] > 0.45f); /* 1 / sqrt(WIDTH) */
    }
}
